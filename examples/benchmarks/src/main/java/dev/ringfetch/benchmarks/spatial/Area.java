package dev.ringfetch.benchmarks.spatial;

/** A closed rectangle, which may be a point. */
record Area(double minX, double minY, double maxX, double maxY) {
  /** Whether the areas have a point in common. */
  boolean intersects(Area other) {
    return minX <= other.maxX && maxX >= other.minX && minY <= other.maxY && maxY >= other.minY;
  }

  /** The area whose edges are this much further out; within it if that is negative. */
  Area grown(double by) {
    return new Area(minX - by, minY - by, maxX + by, maxY + by);
  }

  /** The distance of its nearest point. */
  double distance(double x, double y) {
    return Math.hypot(
        Math.max(0, Math.max(minX - x, x - maxX)), Math.max(0, Math.max(minY - y, y - maxY)));
  }
}
