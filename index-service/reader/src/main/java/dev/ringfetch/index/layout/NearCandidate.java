package dev.ringfetch.index.layout;

/**
 * An entry of a leaf that may be among the nearest ones, and whose block was not read.
 *
 * @param priority the square of the distance of its box as the leaf has it, which may be a little
 *     less than that of the entry
 * @param leaf that it is in
 * @param slot of the entry
 * @param version the lower half of that of its block
 */
record NearCandidate(double priority, SearchLeaf leaf, long slot, int version)
    implements Comparable<NearCandidate> {
  @Override
  public int compareTo(NearCandidate other) {
    return Double.compare(priority, other.priority);
  }
}
