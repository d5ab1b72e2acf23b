package dev.ringfetch.benchmarks.stores;

import java.util.SplittableRandom;

/**
 * A generator of entry numbers of which a few are drawn often, wherever they are: Zipf's
 * distribution with exponent 0.99 over scrambled ranks.
 *
 * <p>It is the ScrambledZipfianGenerator of YCSB (Cooper and others, SoCC 2010), with its
 * constants: ranks of ten thousand million items by the method of Gray and others (Quickly
 * Generating Billion-Record Synthetic Databases, SIGMOD 1994), scrambled by the 64-bit hash of
 * Fowler, Noll and Vo. Used by one thread.
 */
final class ScrambledZipf {
  private static final double EXPONENT = 0.99;
  private static final long RANKS = 10_000_000_000L;

  /** The sum of 1 / rank^exponent over all ranks. */
  private static final double ZETA = 26.46902820178302;

  private static final double ALPHA = 1 / (1 - EXPONENT);
  private static final double SECOND = 1 + Math.pow(0.5, EXPONENT);
  private static final double ETA = (1 - Math.pow(2.0 / RANKS, 1 - EXPONENT)) / (1 - SECOND / ZETA);

  private static final long FNV_OFFSET = 0xCBF29CE484222325L;
  private static final long FNV_PRIME = 1_099_511_628_211L;
  private static final int BYTE_BITS = 8;
  private static final int BYTE_MASK = 0xFF;

  private final int items;
  private final SplittableRandom random;

  ScrambledZipf(int items, long seed) {
    this.items = items;
    this.random = new SplittableRandom(seed);
  }

  /** A number from 0 to the number of items, exclusive. */
  int next() {
    return (int) (hash(rank(random.nextDouble())) % items);
  }

  /** Several numbers. */
  static int[] sequence(int items, int count, long seed) {
    final ScrambledZipf zipf = new ScrambledZipf(items, seed);
    final int[] sequence = new int[count];
    for (int i = 0; i < count; i++) {
      sequence[i] = zipf.next();
    }
    return sequence;
  }

  /** The rank for a uniform number from 0 to 1, exclusive. */
  static long rank(double uniform) {
    final double scaled = uniform * ZETA;
    if (scaled < 1) {
      return 0;
    }
    if (scaled < SECOND) {
      return 1;
    }
    return (long) (RANKS * Math.pow(ETA * uniform - ETA + 1, ALPHA));
  }

  /** YCSB's fnvhash64: never negative. */
  static long hash(long value) {
    long hash = FNV_OFFSET;
    for (int i = 0; i < Long.BYTES; i++) {
      hash ^= (value >>> (i * BYTE_BITS)) & BYTE_MASK;
      hash *= FNV_PRIME;
    }
    return Math.abs(hash);
  }
}
