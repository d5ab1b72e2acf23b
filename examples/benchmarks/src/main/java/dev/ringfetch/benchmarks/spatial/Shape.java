package dev.ringfetch.benchmarks.spatial;

/** The shapes of entries. */
public enum Shape {
  /** Points. */
  points,
  /** Boxes whose edges are at most as long as the distance of neighbours in a grid. */
  boxes
}
