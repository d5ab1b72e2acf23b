package dev.ringfetch.index.store;

import dev.ringfetch.index.layout.SpatialNodeDescriptor;

/**
 * The choice of the child into which an entry goes, as the RR*-tree makes it (Beckmann and Seeger,
 * SIGMOD 2009): a child that encloses it; else one that grows without new overlap; else the one
 * with the least new overlap. Used by the partition's owner alone.
 */
final class SubtreeChoice {
  private static final int NONE = -1;

  private final SpatialNode[] children = new SpatialNode[SpatialNodeDescriptor.CAPACITY];
  private final double[] growth = new double[SpatialNodeDescriptor.CAPACITY];
  private final double[] added = new double[SpatialNodeDescriptor.CAPACITY];
  private final boolean[] isCandidate = new boolean[SpatialNodeDescriptor.CAPACITY];
  private final float[] grown = new float[4];
  private float[] box;
  private int last;
  private boolean byMargin;

  /** The child of an inner node for a box. */
  SpatialNode choose(SpatialNode node, float[] newBox) {
    box = newBox;
    final SpatialNode enclosing = enclosing(node);
    if (enclosing != null) {
      return enclosing;
    }
    sortByGrowth(node);
    last = lastOverlapped(node.count);
    if (last == 0) {
      return children[0];
    }
    byMargin = false;
    for (int i = 0; i <= last; i++) {
      grow(i);
      byMargin |= Boxes.area(grown) == 0;
      isCandidate[i] = false;
    }
    final int free = check(0);
    return children[free == NONE ? leastAdded() : free];
  }

  /** The least child that encloses the box, by area, or by margin if one has no area; or null. */
  private SpatialNode enclosing(SpatialNode node) {
    SpatialNode byArea = null;
    SpatialNode byPerimeter = null;
    for (int i = 0; i < node.count; i++) {
      final SpatialNode child = node.children[i];
      if (Boxes.encloses(child.box, box)) {
        if (byArea == null || Boxes.area(child.box) < Boxes.area(byArea.box)) {
          byArea = child;
        }
        if (byPerimeter == null || Boxes.margin(child.box) < Boxes.margin(byPerimeter.box)) {
          byPerimeter = child;
        }
      }
    }
    return byArea != null && Boxes.area(byArea.box) == 0 ? byPerimeter : byArea;
  }

  private void sortByGrowth(SpatialNode node) {
    for (int i = 0; i < node.count; i++) {
      final SpatialNode child = node.children[i];
      System.arraycopy(child.box, 0, grown, 0, 4);
      Boxes.enlarge(grown, box);
      final double more = Boxes.margin(grown) - Boxes.margin(child.box);
      int place = i;
      for (; place > 0 && growth[place - 1] > more; place--) {
        growth[place] = growth[place - 1];
        children[place] = children[place - 1];
      }
      growth[place] = more;
      children[place] = child;
    }
  }

  /** The last child with which the first one would overlap more than now; 0 if there is none. */
  private int lastOverlapped(int count) {
    byMargin = true;
    for (int i = count - 1; i > 0; i--) {
      if (added(0, i) > 0) {
        return i;
      }
    }
    return 0;
  }

  private void grow(int child) {
    System.arraycopy(children[child].box, 0, grown, 0, 4);
    Boxes.enlarge(grown, box);
  }

  /** The overlap with another child that a child gains if it takes the box. */
  private double added(int child, int other) {
    grow(child);
    return Boxes.overlap(grown, children[other].box, byMargin)
        - Boxes.overlap(children[child].box, children[other].box, byMargin);
  }

  /** A child that gains no overlap, from this one on to those that it would overlap; or NONE. */
  private int check(int child) {
    isCandidate[child] = true;
    double sum = 0;
    for (int other = 0; other <= last; other++) {
      if (other == child) {
        continue;
      }
      final double more = added(child, other);
      sum += more;
      if (more != 0 && !isCandidate[other]) {
        final int free = check(other);
        if (free != NONE) {
          return free;
        }
      }
    }
    added[child] = sum;
    return sum == 0 ? child : NONE;
  }

  private int leastAdded() {
    int least = 0;
    for (int i = 1; i <= last; i++) {
      if (isCandidate[i] && added[i] < added[least]) {
        least = i;
      }
    }
    return least;
  }
}
