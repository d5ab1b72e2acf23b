package dev.ringfetch.index.layout;

/** A leaf of a spatial index whose image a search has, and blocks of whose entries it reads. */
final class SearchLeaf {
  final SearchNode node;

  /** Time of the clock before the leaf was read; 0 if it was not loaded. */
  final long clock;

  private final long sequence;

  /** Whether the leaf is to be read again. */
  boolean isStale;

  /**
   * Creates it.
   *
   * @param sequence of the image
   */
  SearchLeaf(SearchNode node, long sequence, long clock) {
    this.node = node;
    this.sequence = sequence;
    this.clock = clock;
  }

  /**
   * The leaf as the node to be read again. What a later split takes out of it is found by the image
   * that was read.
   */
  SearchNode again() {
    return new SearchNode(
        node.priority(),
        node.address(),
        node.birth(),
        sequence,
        -1,
        node.partition(),
        node.reads() + 1);
  }
}
