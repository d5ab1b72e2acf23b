package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.NearestResponse;
import dev.ringfetch.index.v1.Neighbor;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * The nearest entries among those that a search has met: keeps the best ones, and has the search
 * look for better ones alone. Used by one thread at a time.
 *
 * <p>Their bytes are bounded: with more, the farthest goes, and so does whatever is as far away. If
 * the answer needed it, {@link #isTooLong} says so at the end.
 */
public final class NearestEntries {
  private static final Comparator<Candidate> FARTHEST_FIRST =
      Comparator.comparingDouble(Candidate::square).reversed();

  private final SpatialQuery query;
  private final int limit;
  private final long maxBytes;
  private final PriorityQueue<Candidate> best = new PriorityQueue<>(FARTHEST_FIRST);
  private long bytes;

  /** The square of the distance from which on there is no room; infinite while there is. */
  private double cut = Double.POSITIVE_INFINITY;

  /** An entry with the square of its distance. */
  private record Candidate(double square, Entry entry) {}

  /**
   * Creates it, without an entry.
   *
   * @param query of the search, whose greatest distance shrinks
   * @param limit the most entries
   * @param maxBytes the most bytes of all of them, of which a single entry has fewer
   */
  public NearestEntries(SpatialQuery query, int limit, long maxBytes) {
    this.query = query;
    this.limit = limit;
    this.maxBytes = maxBytes;
  }

  /** Adds an entry if it is among the nearest ones so far. */
  public void add(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
    final int value = keyOffset + keyLength;
    final double square =
        query.square(
            BoxDescriptor.bound(array, value, 0),
            BoxDescriptor.bound(array, value, 1),
            BoxDescriptor.bound(array, value, 2),
            BoxDescriptor.bound(array, value, 3));
    if (square >= cut || (best.size() == limit && square >= best.peek().square())) {
      return;
    }
    final Entry entry =
        Entry.newBuilder()
            .setKey(ByteString.copyFrom(array, keyOffset, keyLength))
            .setValue(ByteString.copyFrom(array, value, valueLength))
            .setVersion(version)
            .setDeadlineMs(deadline)
            .build();
    if (best.size() == limit) {
      removeFarthest();
    }
    best.add(new Candidate(square, entry));
    bytes += entry.getSerializedSize();
    while (bytes > maxBytes) {
      cut = removeFarthest();
    }
    if (best.size() == limit) {
      query.bound(best.peek().square());
    } else if (cut < Double.POSITIVE_INFINITY) {
      query.bound(cut);
    }
  }

  private double removeFarthest() {
    final Candidate farthest = best.remove();
    bytes -= farthest.entry().getSerializedSize();
    return farthest.square();
  }

  /** Number of the entries. */
  public int count() {
    return best.size();
  }

  /** Whether an entry that the answer needs is missing, because all would be too long. */
  public boolean isTooLong() {
    return cut < Double.POSITIVE_INFINITY && best.size() < limit;
  }

  /** The answer, in the order of the distances. */
  public NearestResponse response(long incarnation) {
    final NearestResponse.Builder response =
        NearestResponse.newBuilder().setIncarnation(incarnation);
    best.stream()
        .sorted(FARTHEST_FIRST.reversed())
        .forEach(
            candidate ->
                response.addNeighbors(
                    Neighbor.newBuilder()
                        .setEntry(candidate.entry())
                        .setDistance(Math.sqrt(candidate.square()))));
    return response.build();
  }
}
