package dev.ringfetch.index.call;

import dev.ringfetch.index.layout.NearestEntries;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.v1.NearestResponse;

/** The call of the nearest entries: reads until no node can have a better one. */
final class NearestCall extends SteppedCall<NearestResponse> {
  private final int limit;
  private final NearestEntries nearest;

  NearestCall(
      BoxReading reading,
      SpatialQuery query,
      int limit,
      CallSignals<NearestResponse> signals,
      RangeCalls calls) {
    super(reading, signals, calls);
    this.limit = limit;
    nearest = new NearestEntries(query, limit, ReadCall.MAX_ANSWER_BYTES);
  }

  @Override
  public boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
    nearest.add(array, keyOffset, keyLength, valueLength, version, deadline);
    return true;
  }

  @Override
  Next stepped(boolean isEnd) {
    if (!isEnd) {
      return Next.STEP;
    }
    if (nearest.isTooLong()) {
      return fail(ReadCall.answerTooLong(nearest.count(), limit).getStatus());
    }
    WriteCall.answer(responses, nearest.response(index.incarnation()));
    return Next.END;
  }
}
