package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;

/**
 * The condition of a search in a spatial index, by the boxes of entries and of nodes. That of the
 * nearest entries has a bound that shrinks while better ones are found.
 *
 * <p>Used by one thread at a time.
 */
public final class SpatialQuery {
  private enum Relation {
    INTERSECTS,
    WITHIN,
    CONTAINS,
    NEAR
  }

  private final Relation relation;
  private final double minX;
  private final double minY;
  private final double maxX;
  private final double maxY;

  /** Factors of the differences of coordinates in a distance. */
  private final double weightX;

  private final double weightY;

  /** The square of the greatest distance. */
  private double bound;

  private SpatialQuery(
      Relation relation, double[] box, double weightX, double weightY, double greatestDistance) {
    this.relation = relation;
    minX = box[0];
    minY = box[1];
    maxX = box[2];
    maxY = box[3];
    this.weightX = weightX;
    this.weightY = weightY;
    bound = greatestDistance * greatestDistance;
  }

  /** Entries whose boxes have a point in common with a box: min x, min y, max x, max y. */
  public static SpatialQuery intersecting(double[] box) {
    return new SpatialQuery(Relation.INTERSECTS, box, 0, 0, 0);
  }

  /** Entries whose boxes are within a box. */
  public static SpatialQuery within(double[] box) {
    return new SpatialQuery(Relation.WITHIN, box, 0, 0, 0);
  }

  /** Entries whose boxes enclose a box, which may be a point. */
  public static SpatialQuery containing(double[] box) {
    return new SpatialQuery(Relation.CONTAINS, box, 0, 0, 0);
  }

  /**
   * Entries near a point, the nearer ones first.
   *
   * @param weightX factor of differences of x in a distance
   * @param weightY factor of differences of y
   * @param greatestDistance limit of the distance; may be infinite
   */
  public static SpatialQuery near(
      double x, double y, double weightX, double weightY, double greatestDistance) {
    return new SpatialQuery(
        Relation.NEAR, new double[] {x, y, x, y}, weightX, weightY, greatestDistance);
  }

  /** Sets the greatest distance, by its square. */
  public void bound(double square) {
    bound = square;
  }

  /** Whether nearer nodes are to be visited first. */
  boolean isNear() {
    return relation == Relation.NEAR;
  }

  /** Whether nodes of this priority, and all later ones, have no entry of the answer. */
  boolean isBeyond(double priority) {
    return relation == Relation.NEAR && priority > bound;
  }

  /** Whether a node with this box may have an entry of the answer. */
  boolean mayHave(double lowX, double lowY, double highX, double highY) {
    return switch (relation) {
      case INTERSECTS, WITHIN -> intersects(lowX, lowY, highX, highY);
      case CONTAINS -> encloses(lowX, lowY, highX, highY);
      case NEAR -> square(lowX, lowY, highX, highY) <= bound;
    };
  }

  /** Whether an entry with this box belongs to the answer. */
  public boolean accepts(double lowX, double lowY, double highX, double highY) {
    return relation == Relation.WITHIN
        ? lowX >= minX && lowY >= minY && highX <= maxX && highY <= maxY
        : mayHave(lowX, lowY, highX, highY);
  }

  /** Whether an entry whose value begins with this box belongs to the answer. */
  public boolean accepts(ByteString value) {
    final byte[] box = value.substring(0, BoxDescriptor.LENGTH).toByteArray();
    return accepts(
        BoxDescriptor.bound(box, 0, 0),
        BoxDescriptor.bound(box, 0, 1),
        BoxDescriptor.bound(box, 0, 2),
        BoxDescriptor.bound(box, 0, 3));
  }

  private boolean intersects(double lowX, double lowY, double highX, double highY) {
    return lowX <= maxX && highX >= minX && lowY <= maxY && highY >= minY;
  }

  private boolean encloses(double lowX, double lowY, double highX, double highY) {
    return lowX <= minX && lowY <= minY && highX >= maxX && highY >= maxY;
  }

  /** The square of the least distance of a box from the point; 0 if the point is in it. */
  public double square(double lowX, double lowY, double highX, double highY) {
    final double x = weightX * Math.max(0, Math.max(lowX - minX, minX - highX));
    final double y = weightY * Math.max(0, Math.max(lowY - minY, minY - highY));
    return x * x + y * y;
  }
}
