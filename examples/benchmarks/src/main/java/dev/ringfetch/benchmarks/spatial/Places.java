package dev.ringfetch.benchmarks.spatial;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/**
 * The entries that all stores have: numbers with areas in the unit square, evenly spread, and the
 * searches among them. The square is a degree wide at the equator, where a rectangle of degrees and
 * one of metres, as Redis has it, are the same to 1 in 6,500. All processes of a run draw the same.
 */
final class Places {
  /** Length of a key in bytes. */
  static final int KEY_LENGTH = 16;

  /** Length of the value behind an entry's box, in bytes. */
  static final int VALUE_LENGTH = 32;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final long KEY_HEAD = 0x706C616365000000L;

  private final Shape shape;
  private final int count;
  private final double edge; // the longest of an entry
  private final Area[] areas;

  Places(Shape shape, int count, long seed) {
    this.shape = shape;
    this.count = count;
    this.edge = shape == Shape.points ? 0 : 1 / Math.sqrt(count);
    this.areas = new Area[count];
    final SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < count; i++) {
      areas[i] = draw(random);
    }
  }

  /** An area of an entry. */
  Area draw(SplittableRandom random) {
    final double x = random.nextDouble();
    final double y = random.nextDouble();
    return shape == Shape.points
        ? new Area(x, y, x, y)
        : new Area(x, y, x + edge * random.nextDouble(), y + edge * random.nextDouble());
  }

  /** A square that has so many entries in common, as a mean. */
  Area search(SplittableRandom random, int found) {
    final double side = Math.max(0, Math.sqrt((double) found / count) - edge / 2);
    final double x = random.nextDouble() * (1 - side);
    final double y = random.nextDouble() * (1 - side);
    return new Area(x, y, x + side, y + side);
  }

  int count() {
    return count;
  }

  Area area(int number) {
    return areas[number];
  }

  /** Within this distance of a point there are so many entries, as a mean. */
  double radius(double found) {
    return Math.sqrt(found / count / Math.PI);
  }

  /** Writes the key of an entry. */
  static byte[] key(long number) {
    final byte[] key = new byte[KEY_LENGTH];
    LONGS.set(key, 0, KEY_HEAD);
    LONGS.set(key, Long.BYTES, number);
    return key;
  }

  /** The number in a key. */
  static int number(byte[] bytes, int offset) {
    return (int) (long) LONGS.get(bytes, offset + Long.BYTES);
  }

  /** Writes the value of an entry, behind its box where it has one. */
  static void putValue(byte[] bytes, int offset, long number) {
    for (int i = 0; i < VALUE_LENGTH; i += Long.BYTES) {
      LONGS.set(bytes, offset + i, number);
    }
  }
}
