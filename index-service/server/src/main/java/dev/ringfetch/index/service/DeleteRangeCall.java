package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.DeleteRangeResponse;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The call that removes the entries of a range: reads some keys, lets the owner delete each, and
 * goes on when all of these deletes are answered.
 */
final class DeleteRangeCall extends RangeCall<DeleteRangeResponse> {
  /** The most entries that one call removes. */
  static final int MAX_ENTRIES = 10_000;

  /** Entries of a step. */
  private static final int STEP = 256;

  private final List<ByteString> keys = new ArrayList<>(STEP);

  /** Deletes that are not answered, and one for the thread that submits them. */
  private final AtomicInteger open = new AtomicInteger();

  private final AtomicLong removed = new AtomicLong();
  private final AtomicReference<Status> failure = new AtomicReference<>();

  /** Keys still to be read. */
  private int left;

  private boolean rangeEnds;

  /**
   * Creates the call.
   *
   * @param limit the most entries to remove, as an unsigned number; 0: as many as one call may
   */
  DeleteRangeCall(
      RangeCalls.Range range,
      long limit,
      StreamObserver<DeleteRangeResponse> responses,
      RangeCalls calls) {
    super(range, responses, calls);
    left = limit == 0 || Long.compareUnsigned(limit, MAX_ENTRIES) > 0 ? MAX_ENTRIES : (int) limit;
  }

  @Override
  Next ready() {
    if (open.get() != 0) {
      return Next.WAIT;
    }
    if (failure.get() != null) {
      return fail(failure.get());
    }
    if (!rangeEnds && left > 0) {
      return Next.STEP;
    }
    WriteCall.answer(
        responses,
        DeleteRangeResponse.newBuilder()
            .setRemoved(removed.get())
            .setMore(!rangeEnds)
            .setIncarnation(index.incarnation())
            .build());
    return Next.END;
  }

  @Override
  public boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
    keys.add(ByteString.copyFrom(array, keyOffset, keyLength));
    return --left > 0 && keys.size() < STEP;
  }

  @Override
  Next stepped(boolean isEnd) {
    rangeEnds = isEnd;
    open.set(1);
    for (final ByteString key : keys) {
      open.incrementAndGet();
      final int refused = index.partition(key).submit(new Write(this::answered).delete(key));
      if (refused != 0) {
        failure.compareAndSet(null, calls.outcomes().status(index, refused));
        open.decrementAndGet(); // not to 0: this thread is counted
      }
    }
    keys.clear();
    return open.decrementAndGet() == 0 ? ready() : Next.WAIT;
  }

  private void answered(Write write) {
    if (write.outcome() != Write.DONE) {
      failure.compareAndSet(null, calls.outcomes().status(index, write));
    } else if (write.existed()) {
      removed.incrementAndGet();
    }
    if (open.decrementAndGet() == 0) {
      driveLater(); // not here: other answers wait
    }
  }
}
