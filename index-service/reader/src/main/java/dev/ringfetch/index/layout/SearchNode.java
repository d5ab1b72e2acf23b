package dev.ringfetch.index.layout;

/**
 * A node of a spatial index that a search has still to visit.
 *
 * @param priority the node with the least one is visited first, where they differ
 * @param address of the node
 * @param birth the lower half of its birth
 * @param number the sequence of the image in which the reader saw it: later splits count
 * @param level of the node; negative if it may be any
 * @param partition that it belongs to
 * @param reads how often it was read in vain
 */
record SearchNode(
    double priority, long address, int birth, long number, int level, int partition, int reads)
    implements Comparable<SearchNode> {
  /** A node that was not read yet. */
  SearchNode(double priority, long address, int birth, long number, int level, int partition) {
    this(priority, address, birth, number, level, partition, 0);
  }

  /** The same node, which is to be read again. */
  SearchNode again() {
    return new SearchNode(priority, address, birth, number, level, partition, reads + 1);
  }

  @Override
  public int compareTo(SearchNode other) {
    return Double.compare(priority, other.priority);
  }
}
