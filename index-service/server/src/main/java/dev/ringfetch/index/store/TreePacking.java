package dev.ringfetch.index.store;

import dev.ringfetch.index.layout.SpatialNodeDescriptor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The entries of a spatial tree that is built at once, and their division into nodes by tiles:
 * slices along x, each cut along y (sort-tile-recursive, Leutenegger and others, ICDE 1997). Used
 * by the partition's owner alone.
 */
final class TreePacking {
  /** Entries of a packed node, which has room for a few more. */
  static final int FILL = SpatialNodeDescriptor.CAPACITY * 4 / 5;

  private float[] boxes;
  private long[] slots;
  private int[] versions;
  private int count;

  /** Creates it with room for a number of entries; it grows. */
  TreePacking(int expected) {
    final int room = Math.max(16, expected);
    boxes = new float[4 * room];
    slots = new long[room];
    versions = new int[room];
  }

  /** Adds an entry. */
  void add(float[] box, long slot, int version) {
    if (count == slots.length) {
      boxes = Arrays.copyOf(boxes, 2 * boxes.length);
      slots = Arrays.copyOf(slots, 2 * count);
      versions = Arrays.copyOf(versions, 2 * count);
    }
    System.arraycopy(box, 0, boxes, 4 * count, 4);
    slots[count] = slot;
    versions[count++] = version;
  }

  int count() {
    return count;
  }

  float[] boxes() {
    return boxes;
  }

  /** Puts all entries into the image of a leaf; returns their number. */
  int putAll(byte[] image) {
    final int[] all = new int[count];
    Arrays.setAll(all, i -> i);
    return put(all, image, new float[4]);
  }

  /** Puts entries into the image of a leaf, and sets the bounds to theirs; returns their number. */
  int put(int[] entries, byte[] image, float[] bounds) {
    final float[] box = new float[4];
    Boxes.clear(bounds);
    for (int i = 0; i < entries.length; i++) {
      final int entry = entries[i];
      System.arraycopy(boxes, 4 * entry, box, 0, 4);
      Boxes.enlarge(bounds, box);
      SpatialNodeDescriptor.putEntry(image, i, box, slots[entry], versions[entry]);
    }
    return entries.length;
  }

  /** The numbers of the boxes of each node that is to be. */
  static List<int[]> groups(float[] boxes, int count) {
    final long[] keys = new long[count];
    final int nodes = (count + FILL - 1) / FILL;
    final int slices = (int) Math.ceil(Math.sqrt(nodes));
    final int slice = (count + slices - 1) / slices;
    for (int i = 0; i < count; i++) {
      keys[i] = key(boxes, 0, i);
    }
    Arrays.sort(keys);
    final List<int[]> groups = new ArrayList<>(nodes + slices);
    for (int from = 0; from < count; from += slice) {
      final int to = Math.min(count, from + slice);
      for (int i = from; i < to; i++) {
        keys[i] = key(boxes, 1, (int) keys[i]);
      }
      Arrays.sort(keys, from, to);
      cut(keys, from, to, groups);
    }
    return groups;
  }

  /** Cuts a slice into nodes with about the same number of entries. */
  private static void cut(long[] keys, int from, int to, List<int[]> groups) {
    final int parts = (to - from + FILL - 1) / FILL;
    for (int part = 0; part < parts; part++) {
      final int begin = from + (int) ((long) (to - from) * part / parts);
      final int end = from + (int) ((long) (to - from) * (part + 1) / parts);
      final int[] group = new int[end - begin];
      for (int i = begin; i < end; i++) {
        group[i - begin] = (int) keys[i];
      }
      groups.add(group);
    }
  }

  /**
   * The middle of a box along an axis, in the order of numbers; and in the lower half its number.
   */
  private static long key(float[] boxes, int axis, int number) {
    final double middle = ((double) boxes[4 * number + axis] + boxes[4 * number + axis + 2]) / 2;
    final int bits = Float.floatToIntBits((float) middle);
    return ((long) (bits ^ ((bits >> 31) & Integer.MAX_VALUE)) << Integer.SIZE) | number;
  }
}
