package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.partition.WriteKind;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.DeleteRangeResponse;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The call that removes the entries of a range: reads some keys, lets the owner delete each, and
 * goes on when all of these deletes are answered.
 *
 * <p>Where the request has a number, the owner counts what is removed under it, and takes down the
 * end: a request that comes again goes on, or is answered with that.
 */
final class DeleteRangeCall extends SteppedCall<DeleteRangeResponse> {
  /** The most entries that one call removes. */
  static final int MAX_ENTRIES = 10_000;

  /** Entries of a step. */
  private static final int STEP = 256;

  private final List<ByteString> keys = new ArrayList<>(STEP);

  /** Deletes that are not answered, and one for the thread that submits them. */
  private final AtomicInteger open = new AtomicInteger();

  private final AtomicLong removed = new AtomicLong();
  private final AtomicReference<Status> failure = new AtomicReference<>();

  /** Null: the request has no number. */
  private final NumberedClient client;

  private final long number;

  /** The most entries to remove. */
  private final int limit;

  /** The owner's answer about the end of the removal, by this call or an earlier one. */
  private final AtomicReference<Write> end = new AtomicReference<>();

  /** Keys still to be read. */
  private int left;

  private boolean hasBegun;
  private boolean rangeEnds;

  /**
   * Creates the call.
   *
   * @param client null if the request has no number
   */
  DeleteRangeCall(
      RangeReading range,
      NumberedClient client,
      DeleteRangeRequest request,
      CallSignals<DeleteRangeResponse> signals,
      RangeCalls calls) {
    super(range, signals, calls);
    this.client = client;
    number = request.getNumber().getNumber();
    final long most = request.getLimit(); // unsigned; 0: as many as one call may
    limit = most == 0 || Long.compareUnsigned(most, MAX_ENTRIES) > 0 ? MAX_ENTRIES : (int) most;
    left = limit;
    hasBegun = client == null;
  }

  @Override
  Next ready() {
    if (open.get() != 0) {
      return Next.WAIT;
    }
    if (failure.get() != null) {
      return fail(failure.get());
    }
    final Write ended = end.get();
    if (ended != null) {
      return answer(ended.removed(), ended.mayBeMore());
    }
    if (!hasBegun) {
      hasBegun = true;
      return submit(new Write(this::begun).rangeBegin());
    }
    if (!rangeEnds && left > 0) {
      return Next.STEP;
    }
    return client == null
        ? answer(removed.get(), !rangeEnds)
        : submit(new Write(this::answered).rangeEnd(!rangeEnds));
  }

  private Next answer(long count, boolean more) {
    WriteCall.answer(
        responses,
        DeleteRangeResponse.newBuilder()
            .setRemoved(count)
            .setMore(more)
            .setIncarnation(index.incarnation())
            .build());
    return Next.END;
  }

  /** Lets the owner say how far the number has come, or that this is its end. */
  private Next submit(Write write) {
    open.set(1);
    final int refused = index.partition(ByteString.EMPTY).submit(write.numbered(client, number));
    if (refused == 0) {
      return Next.WAIT;
    }
    open.set(0);
    return fail(calls.outcomes().status(index, refused));
  }

  private void begun(Write write) {
    left = (int) Math.max(0, limit - write.removed());
    answered(write);
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
      final int refused = index.partition(key).submit(delete(key));
      if (refused != 0) {
        failure.compareAndSet(null, calls.outcomes().status(index, refused));
        open.decrementAndGet(); // not to 0: this thread is counted
      }
    }
    keys.clear();
    return open.decrementAndGet() == 0 ? ready() : Next.WAIT;
  }

  private Write delete(ByteString key) {
    final Write write = new Write(this::answered);
    return client == null
        ? write.delete(key)
        : write.rangeDelete(key, limit).numbered(client, number);
  }

  private void answered(Write write) {
    if (write.outcome() == Write.OUTCOME_GONE && write.kind() != WriteKind.RANGE_BEGIN) {
      failure.compareAndSet(null, Outcomes.unknown()); // it was carried out in part
    } else if (write.outcome() != Write.DONE) {
      failure.compareAndSet(null, calls.outcomes().status(index, write));
    } else if (write.hasRangeEnded()) {
      end.set(write);
    } else if (write.existed()) {
      removed.incrementAndGet();
    }
    if (open.decrementAndGet() == 0) {
      driveLater(); // not here: other answers wait
    }
  }
}
