package dev.ringfetch.examples.quickstart;

import dev.ringfetch.index.direct.DirectReader;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A thread that reads again and again while the server is killed and replaced, and judges every
 * answer: what the killed server had stored is right until the first answer of its successor, which
 * begins without entries, and wrong from then on.
 *
 * <p>Counters may be read by any thread.
 */
final class OutageReads extends Thread {
  private static final long PAUSE_MS = 5;

  /** What a read has found. */
  enum Answer {
    /** What the killed server had stored. */
    RIGHT,
    /** Nothing. */
    ABSENT,
    /** Something else. */
    WRONG
  }

  private final Supplier<DirectReader> readers;
  private final Function<DirectReader, Answer> read;
  private volatile boolean successorMayAnswer;
  private volatile boolean stopped;
  private final AtomicLong right = new AtomicLong();
  private volatile long direct;
  private final AtomicLong unavailable = new AtomicLong();
  private volatile long turns;
  private final AtomicLong wrong = new AtomicLong();
  private volatile Throwable failure;

  /**
   * Creates it.
   *
   * @param readers opens the reader of the thread, which closes it.
   * @param read makes one read.
   */
  OutageReads(String name, Supplier<DirectReader> readers, Function<DirectReader, Answer> read) {
    super(name);
    setDaemon(true);
    this.readers = readers;
    this.read = read;
  }

  @Override
  public void run() {
    try (DirectReader reader = readers.get()) {
      read(reader);
    } catch (RuntimeException | Error e) {
      failure = e;
    }
  }

  private void read(DirectReader reader) {
    boolean successorAnswered = false;
    while (!stopped) {
      final boolean mayBeAbsent = successorMayAnswer; // before the read
      final Answer answer;
      try {
        answer = read.apply(reader);
      } catch (StatusRuntimeException e) {
        if (e.getStatus().getCode() == Status.Code.ABORTED && mayBeAbsent) {
          continue; // a scan that both servers would have answered
        }
        if (e.getStatus().getCode() != Status.Code.UNAVAILABLE) {
          throw e;
        }
        unavailable.incrementAndGet();
        pause();
        continue;
      } finally {
        direct = reader.directReads();
        turns = reader.turns();
      }
      if (answer == Answer.ABSENT ? mayBeAbsent : answer == Answer.RIGHT && !successorAnswered) {
        right.incrementAndGet();
      } else {
        wrong.incrementAndGet();
      }
      successorAnswered |= answer == Answer.ABSENT;
    }
  }

  /** Leaves a processor to the successor, which has two of them at the most. */
  private static void pause() {
    try {
      Thread.sleep(PAUSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Called before a successor of the killed server is started. */
  void allowAbsence() {
    successorMayAnswer = true;
  }

  /** Ends the thread; rethrows what ended it before. */
  void end() throws InterruptedException {
    stopped = true;
    join();
    check();
  }

  /** Throws if a read has failed. */
  void check() {
    if (failure != null) {
      throw new IllegalStateException("a read has failed: " + failure, failure);
    }
  }

  /** Answers that were right so far. */
  long right() {
    return right.get();
  }

  /** Entries so far that were read without a server. */
  long direct() {
    return direct;
  }

  /** Answers that were wrong so far. */
  long wrong() {
    return wrong.get();
  }

  /** Reads so far that found no server to ask. */
  long unavailable() {
    return unavailable.get();
  }

  /** Grants of which the reader has turned away so far, because the memory was closed. */
  long turns() {
    return turns;
  }
}
