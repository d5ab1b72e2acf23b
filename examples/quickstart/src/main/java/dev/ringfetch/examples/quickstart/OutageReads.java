package dev.ringfetch.examples.quickstart;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectReader;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A thread that reads one class after the other while the server is killed and replaced, and judges
 * every answer: what the killed server had stored is right until the first answer of its successor,
 * which begins without entries, and wrong from then on.
 *
 * <p>Counters may be read by any thread.
 */
final class OutageReads extends Thread {
  private static final long PAUSE_MS = 5;

  private final List<ClassImage.Location> classes;
  private final DemoClient client;
  private volatile boolean successorMayAnswer;
  private volatile boolean stopped;
  private final AtomicLong right = new AtomicLong();
  private volatile long direct;
  private final AtomicLong unavailable = new AtomicLong();
  private volatile long turns;
  private final AtomicLong wrong = new AtomicLong();
  private volatile Throwable failure;

  OutageReads(List<ClassImage.Location> classes, DemoClient client) {
    super("outage-reads");
    setDaemon(true);
    this.classes = classes;
    this.client = client;
  }

  @Override
  public void run() {
    try (DirectReader reader = client.openReader()) {
      read(reader);
    } catch (RuntimeException | Error e) {
      failure = e;
    }
  }

  private void read(DirectReader reader) {
    final DirectLookup lookup = new DirectLookup(reader);
    boolean successorAnswered = false;
    for (int next = 0; !stopped; next = (next + 1) % classes.size()) {
      final ClassImage.Location location = classes.get(next);
      final boolean mayBeAbsent = successorMayAnswer; // before the read
      final ByteString value;
      try {
        value = lookup.read(location.key());
      } catch (StatusRuntimeException e) {
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
      if (value == null ? mayBeAbsent : !successorAnswered && value.equals(location.value())) {
        right.incrementAndGet();
      } else {
        wrong.incrementAndGet();
      }
      successorAnswered |= value == null;
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

  /** Reads so far that needed no server. */
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
