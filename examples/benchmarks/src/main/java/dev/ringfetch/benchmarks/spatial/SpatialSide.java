package dev.ringfetch.benchmarks.spatial;

/** The sides of the benchmark of spatial stores. */
public enum SpatialSide {
  /** The index by calls over a ring. */
  ringfetch("ringfetch"),
  /** The memory of the index, searched by the client. */
  direct("ringfetch-direct"),
  /** JTS's packed R-tree in the client's process. */
  strtree("jts-strtree"),
  /** Lucene's BKD trees in the client's process. */
  bkd("lucene-bkd"),
  /** Redis at a Unix socket. */
  redis("redis-geo");

  private final String text;

  SpatialSide(String text) {
    this.text = text;
  }

  /** For tables and scripts. */
  public String text() {
    return text;
  }

  /** Whether it has entries of its own. */
  public boolean isLoaded() {
    return this != direct;
  }

  /** Whether it has entries of this shape. */
  public boolean has(Shape shape) {
    return this != redis || shape == Shape.points;
  }

  /** Whether it finds the nearest entries. */
  public boolean hasNearest() {
    return this != bkd;
  }

  /** Whether entries move while others search. */
  public boolean hasMoves() {
    return this == ringfetch || this == direct || this == redis;
  }
}
