package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.partition.Write;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.Arrays;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A call that reads a range of an ordered index, in steps: each reads entries until the call has
 * enough for the moment. The first step is the caller's thread's, later ones are a thread's for all
 * such calls, in turn, so that none holds a transport's thread for long, or keeps another waiting.
 *
 * <p>Where a reader cannot decide, because the owner is at the same place, the owner reads, and the
 * call goes on after that.
 *
 * <p>One thread at a time takes a step. A call that was cancelled takes none any more.
 *
 * @param <T> type of the response.
 */
abstract class RangeCall<T> implements EntrySink {
  /** How often the owner is asked without an entry in between. */
  private static final int MAX_ASKED = 100;

  private static final ByteString LAST_KEY = lastKey();

  /** What follows a step. */
  enum Next {
    /** Another step, soon. */
    STEP,
    /** Another step, when {@link #drive} is called. */
    WAIT,
    /** The call was answered. */
    END
  }

  final ServedIndex index;
  final ScanCursor cursor;
  final ServerCallStreamObserver<T> responses;
  private final Outcomes outcomes;
  private final Executor executor;

  /** Calls of drive that the thread which takes steps has not looked at. */
  private final AtomicInteger driven = new AtomicInteger();

  private Next next = Next.STEP;
  private volatile boolean cancelled;

  /** Whether the owner was asked and has not answered. */
  private boolean asking;

  private volatile Write answer;
  private int asked;

  /**
   * Creates a call, which {@link #start} begins.
   *
   * @param executor takes the steps after the first
   */
  RangeCall(
      ServedIndex index,
      ScanCursor cursor,
      StreamObserver<T> responses,
      Outcomes outcomes,
      Executor executor) {
    this.index = index;
    this.cursor = cursor;
    this.responses = (ServerCallStreamObserver<T>) responses;
    this.outcomes = outcomes;
    this.executor = executor;
  }

  private static ByteString lastKey() {
    final byte[] key = new byte[BlockDescriptor.MAX_KEY_LENGTH];
    Arrays.fill(key, (byte) 0xFF);
    return ByteString.copyFrom(key);
  }

  /** Begins, within the method that serves the call. */
  final void start() {
    responses.setOnCancelHandler(this::cancel);
    drive();
  }

  private void cancel() {
    cancelled = true;
    drive();
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

  /** Goes on, unless another thread is at it. Any thread, any time. */
  final void drive() {
    if (driven.getAndIncrement() != 0) {
      return;
    }
    int seen;
    do {
      seen = driven.get();
      run();
    } while (!driven.compareAndSet(seen, 0));
  }

  private void run() {
    if (asking && answer != null) {
      asking = false;
      if (answer.outcome() != Write.DONE && next != Next.END) {
        fail(outcomes.status(index, answer));
      }
    }
    if (next == Next.END || asking) {
      return;
    }
    if (cancelled) {
      next = Next.END;
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

  /** Goes on, on the thread for such calls. */
  final void driveLater() {
    try {
      executor.execute(this::drive);
    } catch (RejectedExecutionException | OutOfMemoryError e) { // the server ends, or has no thread
      drive();
    }
  }

  private Next step() {
    final ReadResult result = index.reader().scan(cursor, this);
    return switch (result) {
      case FOUND, ABSENT -> {
        asked = 0;
        yield stepped(result == ReadResult.ABSENT || cursor.isDone());
      }
      case CLOSED -> fail(Outcomes.closed(index));
      default -> ask();
    };
  }

  /** Lets the owner read where the reader could not. */
  private Next ask() {
    if (++asked > MAX_ASKED) {
      return fail(
          Status.UNAVAILABLE.withDescription(
              "the range kept changing while it was read: index=" + index.name()));
    }
    final ByteString place = cursor.place();
    final ByteString key = place.isEmpty() && cursor.isReverse() ? LAST_KEY : place;
    asking = true;
    answer = null;
    final int refused = index.partition(key).submit(new Write(this::answered).read(key));
    if (refused != 0) {
      asking = false;
      return fail(outcomes.status(index, refused));
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
