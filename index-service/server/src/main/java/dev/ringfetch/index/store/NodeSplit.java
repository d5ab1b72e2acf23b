package dev.ringfetch.index.store;

import dev.ringfetch.index.layout.SpatialNodeDescriptor;
import java.util.Arrays;
import java.util.Comparator;

/**
 * The division of the entries of a full node and a new one between two nodes, as the RR*-tree makes
 * it (Beckmann and Seeger, SIGMOD 2009): along an axis, without overlap where that is possible, and
 * rather even, but in favour of the side away from which the node has grown. Used by the
 * partition's owner alone.
 */
final class NodeSplit {
  /** Number of the entries that are divided. */
  static final int ENTRIES = SpatialNodeDescriptor.CAPACITY + 1;

  /** The least entries of a half: a fifth of a node's, as in the paper. */
  private static final int MIN = SpatialNodeDescriptor.CAPACITY / 5;

  /** The width of the weight of sizes, s in the paper. */
  private static final double WIDTH = 0.5;

  private static final double EDGE = Math.exp(-1 / (WIDTH * WIDTH));

  /** The boxes of the entries, which the caller sets. */
  final float[][] boxes = new float[ENTRIES][4];

  /** Numbers of the entries: first those of the left half, then those of the right one. */
  final int[] order = new int[ENTRIES];

  private final Integer[] sorted = new Integer[ENTRIES];
  private final float[][] lefts = new float[ENTRIES][4];
  private final float[][] rights = new float[ENTRIES][4];
  private final float[] whole = new float[4];
  private double best;
  private boolean isFree;
  private int size;

  /** Divides the entries; returns the size of the left half. */
  int divide(SpatialNode node) {
    Boxes.clear(whole);
    for (final float[] box : boxes) {
      Boxes.enlarge(whole, box);
    }
    size = 0;
    isFree = false;
    final double marginX = node.level == 0 ? margins(0) : 0;
    final double marginY = node.level == 0 ? margins(1) : 0;
    for (int axis = 0; axis < 2; axis++) {
      final boolean isChosen = node.level > 0 || (axis == 0) == (marginX <= marginY);
      for (int bound = 0; isChosen && bound <= 2; bound += 2) {
        sort(axis + bound);
        compare(center(axis, axis == 0 ? node.originX : node.originY));
      }
    }
    return size;
  }

  /** The sum of the margins of all divisions along an axis. */
  private double margins(int axis) {
    double sum = 0;
    for (int bound = 0; bound <= 2; bound += 2) {
      sort(axis + bound);
      for (int k = MIN; k <= ENTRIES - MIN; k++) {
        sum += Boxes.margin(lefts[k - 1]) + Boxes.margin(rights[k]);
      }
    }
    return sum;
  }

  /** Sorts the entries by a bound, and sets the boxes of the first and of the last ones. */
  private void sort(int bound) {
    Arrays.setAll(sorted, i -> i);
    Arrays.sort(sorted, Comparator.comparingDouble(i -> boxes[i][bound]));
    for (int i = 0; i < ENTRIES; i++) {
      extend(lefts, i, i == 0 ? -1 : i - 1, boxes[sorted[i]]);
      final int j = ENTRIES - 1 - i;
      extend(rights, j, i == 0 ? -1 : j + 1, boxes[sorted[j]]);
    }
  }

  private static void extend(float[][] all, int to, int from, float[] by) {
    if (from < 0) {
      Boxes.clear(all[to]);
    } else {
      System.arraycopy(all[from], 0, all[to], 0, 4);
    }
    Boxes.enlarge(all[to], by);
  }

  /** The center of the weight of sizes along an axis, from -1 to 1: mu in the paper. */
  private double center(int axis, float origin) {
    final double extent = (double) whole[axis + 2] - whole[axis];
    final double middle = whole[axis] + extent / 2;
    final double asymmetry = extent == 0 ? 0 : 2 * (middle - origin) / extent;
    return (1 - 2.0 * MIN / ENTRIES) * Math.max(-1, Math.min(1, asymmetry));
  }

  /** Compares the divisions of the sorted entries with the best one so far. */
  private void compare(double center) {
    final double x = (double) whole[2] - whole[0];
    final double y = (double) whole[3] - whole[1];
    final double greatestMargin = 2 * (x + y) - Math.min(x, y);
    boolean byMargin = false;
    for (int k = MIN; k <= ENTRIES - MIN; k++) {
      byMargin |= Boxes.area(lefts[k - 1]) == 0 || Boxes.area(rights[k]) == 0;
    }
    for (int k = MIN; k <= ENTRIES - MIN; k++) {
      final float[] left = lefts[k - 1];
      final float[] right = rights[k];
      final double overlap = Boxes.overlap(left, right, byMargin);
      final double weight = weight(k, center);
      if (overlap == 0) {
        final double gain = (Boxes.margin(left) + Boxes.margin(right) - greatestMargin) * weight;
        note(k, gain, true);
      } else if (!isFree) {
        note(k, overlap / weight, false);
      }
    }
  }

  private double weight(int size, double center) {
    final double place = 2.0 * size / ENTRIES - 1;
    final double width = WIDTH * (1 + Math.abs(center));
    final double distance = (place - center) / width;
    return Math.max(1e-9, (Math.exp(-distance * distance) - EDGE) / (1 - EDGE));
  }

  private void note(int k, double value, boolean free) {
    if (size == 0 || (free && !isFree) || value < best) {
      size = k;
      best = value;
      isFree = free;
      for (int i = 0; i < ENTRIES; i++) {
        order[i] = sorted[i];
      }
    }
  }
}
