package dev.ringfetch.index.client;

/** A point: x and y, for example degrees of longitude and latitude. */
public record Point(double x, double y) {
  /**
   * Creates a point.
   *
   * @throws IllegalArgumentException if a coordinate is NaN or beyond 1e30.
   */
  public Point {
    Box.of(x, y);
  }

  dev.ringfetch.index.v1.Point message() {
    return dev.ringfetch.index.v1.Point.newBuilder().setX(x).setY(y).build();
  }
}
