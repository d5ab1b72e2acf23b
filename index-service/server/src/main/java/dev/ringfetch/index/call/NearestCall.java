package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.NearestResponse;
import dev.ringfetch.index.v1.Neighbor;
import java.util.Comparator;
import java.util.PriorityQueue;

/** The call of the nearest entries: keeps the best ones until no node can have a better one. */
final class NearestCall extends SteppedCall<NearestResponse> {
  private static final Comparator<Candidate> FARTHEST_FIRST =
      Comparator.comparingDouble(Candidate::square).reversed();

  private final SpatialQuery query;
  private final int limit;
  private final PriorityQueue<Candidate> best = new PriorityQueue<>(FARTHEST_FIRST);
  private long bytes;

  /** An entry with the square of its distance. */
  private record Candidate(double square, Entry entry) {}

  NearestCall(
      ServedIndex index,
      SpatialQuery query,
      int limit,
      CallSignals<NearestResponse> signals,
      RangeCalls calls) {
    super(new BoxReading(index, query), signals, calls);
    this.query = query;
    this.limit = limit;
  }

  @Override
  public boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
    final int value = keyOffset + keyLength;
    final double square =
        query.square(
            BoxDescriptor.bound(array, value, 0),
            BoxDescriptor.bound(array, value, 1),
            BoxDescriptor.bound(array, value, 2),
            BoxDescriptor.bound(array, value, 3));
    if (best.size() == limit && square >= best.peek().square()) {
      return true;
    }
    final Entry entry =
        Entry.newBuilder()
            .setKey(ByteString.copyFrom(array, keyOffset, keyLength))
            .setValue(ByteString.copyFrom(array, value, valueLength))
            .setVersion(version)
            .setDeadlineMs(deadline)
            .build();
    if (best.size() == limit) {
      bytes -= best.remove().entry().getSerializedSize();
    }
    best.add(new Candidate(square, entry));
    bytes += entry.getSerializedSize();
    if (best.size() == limit) {
      query.bound(best.peek().square());
    }
    return bytes <= ReadCall.MAX_ANSWER_BYTES;
  }

  @Override
  Next stepped(boolean isEnd) {
    if (bytes > ReadCall.MAX_ANSWER_BYTES) {
      return fail(ReadCall.answerTooLong(best.size() - 1, limit).getStatus());
    }
    if (!isEnd) {
      return Next.STEP;
    }
    final NearestResponse.Builder response =
        NearestResponse.newBuilder().setIncarnation(index.incarnation());
    best.stream()
        .sorted(FARTHEST_FIRST.reversed())
        .forEach(
            candidate ->
                response.addNeighbors(
                    Neighbor.newBuilder()
                        .setEntry(candidate.entry())
                        .setDistance(Math.sqrt(candidate.square()))));
    WriteCall.answer(responses, response.build());
    return Next.END;
  }
}
