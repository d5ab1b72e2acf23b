package dev.ringfetch.index.client;

import dev.ringfetch.index.layout.BoxDescriptor;

/**
 * A closed rectangle, which may be a point: its edges belong to it.
 *
 * <p>Coordinates are any numbers, for example degrees of longitude (x) and latitude (y). A box does
 * not wrap around: one that crosses the meridian of 180 degrees is two boxes, one to 180 and one
 * from -180.
 */
public record Box(double minX, double minY, double maxX, double maxY) {
  /**
   * Creates a box.
   *
   * @throws IllegalArgumentException if a coordinate is NaN or beyond 1e30, or min is above max.
   */
  public Box {
    if (!BoxDescriptor.isLegal(minX, minY, maxX, maxY)) {
      throw new IllegalArgumentException(
          "not a box: min=(" + minX + ", " + minY + ") max=(" + maxX + ", " + maxY + ")");
    }
  }

  /** The box of a point. */
  public static Box of(double x, double y) {
    return new Box(x, y, x, y);
  }

  /** The box around a point whose edges have this distance from it. */
  public static Box around(Point point, double distance) {
    return new Box(
        point.x() - distance, point.y() - distance, point.x() + distance, point.y() + distance);
  }

  /** Whether the boxes have a point in common. */
  public boolean intersects(Box other) {
    return minX <= other.maxX && maxX >= other.minX && minY <= other.maxY && maxY >= other.minY;
  }

  /** Whether a box is within this one. */
  public boolean encloses(Box other) {
    return minX <= other.minX && minY <= other.minY && maxX >= other.maxX && maxY >= other.maxY;
  }

  /** Whether a point is within this box. */
  public boolean contains(Point point) {
    return encloses(of(point.x(), point.y()));
  }

  dev.ringfetch.index.v1.Box message() {
    return dev.ringfetch.index.v1.Box.newBuilder()
        .setMinX(minX)
        .setMinY(minY)
        .setMaxX(maxX)
        .setMaxY(maxY)
        .build();
  }
}
