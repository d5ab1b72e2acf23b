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

  // The limits of the boxes that may have an entry, except near a point; the last two negated.
  private final float mostMinX;
  private final float mostMinY;
  private final float leastMaxX;
  private final float leastMaxY;

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
    final boolean encloses = relation == Relation.CONTAINS;
    mostMinX = floor(encloses ? minX : maxX);
    mostMinY = floor(encloses ? minY : maxY);
    leastMaxX = floor(-(encloses ? maxX : minX));
    leastMaxY = floor(-(encloses ? maxY : minY));
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

  /** The greatest 32-bit float that is not above a number; never the negative zero. */
  private static float floor(double number) {
    final float near = (float) number;
    return (near > number ? Math.nextDown(near) : near) + 0f;
  }

  /**
   * Whether a node with this box, of bounds that are 32-bit floats, may have an entry of the
   * answer. Compares by the signs of differences, as branches would be guessed wrong.
   */
  boolean mayHave(float lowX, float lowY, float highX, float highY) {
    return relation == Relation.NEAR
        ? square(lowX, lowY, highX, highY) <= bound
        : (Float.floatToRawIntBits(mostMinX - lowX)
                | Float.floatToRawIntBits(mostMinY - lowY)
                | Float.floatToRawIntBits(highX + leastMaxX)
                | Float.floatToRawIntBits(highY + leastMaxY))
            >= 0;
  }

  /** The entries of a node's image that may belong to the answer, a bit of each. */
  long mayHave(byte[] image) {
    long some = 0;
    for (int i = SpatialNodeDescriptor.count(image) - 1; i >= 0; i--) {
      final long low = SpatialNodeDescriptor.bounds(image, i, 0);
      final long high = SpatialNodeDescriptor.bounds(image, i, 1);
      final boolean mayHave =
          mayHave(
              Float.intBitsToFloat((int) low),
              Float.intBitsToFloat((int) (low >>> Integer.SIZE)),
              Float.intBitsToFloat((int) high),
              Float.intBitsToFloat((int) (high >>> Integer.SIZE)));
      some = (some << 1) | (mayHave ? 1 : 0);
    }
    return some;
  }

  /** Whether an entry with this box belongs to the answer. */
  public boolean accepts(double lowX, double lowY, double highX, double highY) {
    return switch (relation) {
      case INTERSECTS -> lowX <= maxX && highX >= minX && lowY <= maxY && highY >= minY;
      case WITHIN -> lowX >= minX && lowY >= minY && highX <= maxX && highY <= maxY;
      case CONTAINS -> lowX <= minX && lowY <= minY && highX >= maxX && highY >= maxY;
      case NEAR -> square(lowX, lowY, highX, highY) <= bound;
    };
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

  /** The square of the least distance of a box from the point; 0 if the point is in it. */
  public double square(double lowX, double lowY, double highX, double highY) {
    final double x = weightX * (positive(lowX - minX) + positive(minX - highX));
    final double y = weightY * (positive(lowY - minY) + positive(minY - highY));
    return x * x + y * y;
  }

  /** A number if it is positive, else 0. Faster than {@link Math#max}, and as exact. */
  private static double positive(double number) {
    return (number + Math.abs(number)) / 2;
  }
}
