package dev.ringfetch.index.call;

import dev.ringfetch.index.filter.StepSink;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.partition.Write;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A call that reads many entries of an index, in steps: each reads entries until the call has
 * enough for the moment. The caller's thread takes the first step; a few threads for all such calls
 * take the later ones, in turn, so that no call holds a transport's thread for long, or keeps
 * another waiting.
 *
 * <p>Where a reader cannot decide, because the owner is at the same place, the owner reads, and the
 * call goes on after that.
 *
 * <p>One thread at a time takes a step. A call that was cancelled takes none any more.
 *
 * @param <T> type of the response.
 */
abstract class SteppedCall<T> implements EntrySink {
  /** How often the owner is asked while the reading does not advance. */
  private static final int MAX_ASKED = 100;

  /** Entries that a step passes by: their deadlines have come, or they are not of the filter. */
  private static final int PASSED = 1000;

  private static final System.Logger LOGGER = System.getLogger(SteppedCall.class.getName());

  /** The continuation after a step. */
  enum Next {
    /** Another step, soon. */
    STEP,
    /** Another step, when {@link #drive} is called. */
    WAIT,
    /** The call was answered. */
    END
  }

  private final EntryReading reading;
  private final StepSink sink; // in front of this
  final ServedIndex index;
  final ServerCallStreamObserver<T> responses;
  private final CallSignals<T> signals;
  final RangeCalls calls;

  /** Calls of drive that the thread which takes steps has not looked at. */
  private final AtomicInteger driven = new AtomicInteger();

  private Next next = Next.STEP;
  private boolean hasEnded;

  /** Whether the call waits until it is known that this node leads the index. */
  private volatile boolean unconfirmed;

  private volatile boolean deposed; // it does not

  /** Whether the owner was asked and has not answered. */
  private boolean asking;

  private volatile Write answer;
  private int asked;
  private int passed; // in this step

  /** Creates a call, which {@link #start} begins. */
  SteppedCall(EntryReading reading, CallSignals<T> signals, RangeCalls calls) {
    this.reading = reading;
    this.sink = new StepSink(reading.filter(), this);
    this.index = reading.index();
    this.signals = signals;
    this.responses = signals.responses();
    this.calls = calls;
  }

  /** Begins. */
  final void start() {
    signals.handler(this::drive);
    if (!index.needsBarrier()) {
      drive();
    } else {
      unconfirmed = true;
      index.leadership().barrier().confirm(this::confirmed);
    }
  }

  private void confirmed(boolean leads) {
    deposed = !leads;
    unconfirmed = false;
    driveLater(); // not here: others wait for the same answer
  }

  /** Called before each step: whether to take it, to wait for {@link #drive}, or to end. */
  Next ready() {
    return Next.STEP;
  }

  /**
   * Called when the call has taken all that it wanted of a step.
   *
   * @param isEnd whether no entry is left
   */
  abstract Next stepped(boolean isEnd);

  /** Called once, at the end: the call was answered, or cancelled. */
  void ended() {}

  /** Goes on, unless another thread is at it. Any thread, any time. */
  final void drive() {
    if (driven.getAndIncrement() != 0) {
      return;
    }
    int seen;
    do {
      seen = driven.get();
      runSafely();
      if (next == Next.END && !hasEnded) {
        hasEnded = true;
        ended();
      }
    } while (!driven.compareAndSet(seen, 0));
  }

  private void runSafely() {
    try {
      run();
    } catch (RuntimeException e) { // the client is to learn of it, whichever thread this is
      LOGGER.log(System.Logger.Level.ERROR, "a call for many entries has failed", e);
      fail(Status.INTERNAL.withDescription("the call failed").withCause(e));
    }
  }

  private void run() {
    if (asking && answer != null) {
      asking = false;
      if (answer.outcome() != Write.DONE && next != Next.END) {
        fail(calls.outcomes().status(index, answer));
      }
    }
    if (next == Next.END || asking) {
      return;
    }
    if (signals.isCancelled()) {
      next = Next.END;
      return;
    }
    if (unconfirmed) {
      return;
    }
    if (deposed) {
      fail(Outcomes.dropped(index));
      return;
    }
    next = ready();
    if (next == Next.STEP) {
      next = step();
    }
    if (next == Next.STEP) {
      driveLater();
    }
  }

  /** Goes on, on one of the threads for such calls. */
  final void driveLater() {
    try {
      calls.executor().execute(this::drive);
    } catch (RejectedExecutionException | OutOfMemoryError e) { // the server ends, or has no thread
      drive();
    }
  }

  @Override
  public final boolean passes() {
    return ++passed < PASSED;
  }

  /** Reads until the call has enough for the moment. */
  Next step() {
    passed = 0;
    sink.begin();
    final ReadResult result = read();
    return switch (result) {
      case FOUND, ABSENT -> {
        asked = reading.isAdvancing() ? 0 : asked;
        yield stepped(result == ReadResult.ABSENT);
      }
      case CLOSED -> fail(Outcomes.closed(index));
      default -> ask();
    };
  }

  private ReadResult read() {
    try {
      return reading.read(index.reader(), sink);
    } catch (InternalError e) { // late, see MemoryRegion.verify(): the owner finds it, too
      return ReadResult.LOST;
    }
  }

  /** Lets the owner read where the reader could not. */
  private Next ask() {
    if (++asked > MAX_ASKED) {
      return fail(
          Status.UNAVAILABLE.withDescription(
              "the index kept changing while it was read: index=" + index.name()));
    }
    asking = true;
    answer = null;
    final int refused =
        reading.doubtful(asked).submit(new Write(this::answered).read(reading.doubtfulKey(asked)));
    if (refused != 0) {
      asking = false;
      return fail(calls.outcomes().status(index, refused));
    }
    return Next.WAIT;
  }

  private void answered(Write read) {
    answer = read;
    driveLater(); // not here: other answers wait
  }

  /** Ends the call with a status. */
  final Next fail(Status status) {
    next = Next.END;
    responses.onError(status.asException());
    return Next.END;
  }
}
