package dev.ringfetch.index.store;

/**
 * The geometry of boxes of 32-bit floats: min x, min y, max x, max y. Computes in 64 bits, so that
 * no area or margin overflows.
 */
final class Boxes {
  private Boxes() {}

  /** A box that {@link #enlarge} makes the first one that it is enlarged by. */
  static void clear(float[] box) {
    box[0] = Float.POSITIVE_INFINITY;
    box[1] = Float.POSITIVE_INFINITY;
    box[2] = Float.NEGATIVE_INFINITY;
    box[3] = Float.NEGATIVE_INFINITY;
  }

  /** Enlarges a box by another; returns whether it has changed. */
  static boolean enlarge(float[] box, float[] by) {
    if (encloses(box, by)) {
      return false;
    }
    box[0] = Math.min(box[0], by[0]);
    box[1] = Math.min(box[1], by[1]);
    box[2] = Math.max(box[2], by[2]);
    box[3] = Math.max(box[3], by[3]);
    return true;
  }

  static boolean encloses(float[] box, float[] other) {
    return box[0] <= other[0] && box[1] <= other[1] && box[2] >= other[2] && box[3] >= other[3];
  }

  static double area(float[] box) {
    return ((double) box[2] - box[0]) * ((double) box[3] - box[1]);
  }

  /** Half of the perimeter. */
  static double margin(float[] box) {
    return ((double) box[2] - box[0]) + ((double) box[3] - box[1]);
  }

  /** The measure of what two boxes have in common: its area, or its margin; 0 if there is none. */
  static double overlap(float[] box, float[] other, boolean byMargin) {
    final double x = (double) Math.min(box[2], other[2]) - Math.max(box[0], other[0]);
    final double y = (double) Math.min(box[3], other[3]) - Math.max(box[1], other[1]);
    if (x < 0 || y < 0) {
      return 0;
    }
    return byMargin ? x + y : x * y;
  }
}
