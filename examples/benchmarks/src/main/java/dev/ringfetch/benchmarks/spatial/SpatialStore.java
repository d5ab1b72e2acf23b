package dev.ringfetch.benchmarks.spatial;

/** A spatial store as one thread of a client's process uses it. */
interface SpatialStore extends AutoCloseable {
  /** Receives what was found. */
  @FunctionalInterface
  interface Finds {
    /** Receives the number of an entry. */
    void take(int number);
  }

  /** Writes all entries in the fastest way that the store has, and makes them ready. */
  void load(Places places);

  /** Bytes that the store has taken for its entries since it was empty. */
  long usedBytes();

  /** Finds the entries that have a point in common with an area. */
  void search(Area area, Finds finds);

  /**
   * Finds the entries nearest to a point, in the order of their distances.
   *
   * @param radius within which there are more than the limit, almost always.
   */
  default void nearest(double x, double y, int limit, double radius, Finds finds) {
    throw new UnsupportedOperationException("no nearest");
  }

  /** Writes an entry elsewhere. */
  default void move(int number, Area area) {
    throw new UnsupportedOperationException("no moves");
  }

  /** How far from an edge an entry may be found, or not, wrongly: its coordinates are rounded. */
  default double tolerance() {
    return 0;
  }

  /** The reason why figures are worthless, such as calls that left the ring; or empty. */
  default String obstacle() {
    return "";
  }

  @Override
  void close();
}
