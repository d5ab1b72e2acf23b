package dev.ringfetch.index.layout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import org.agrona.collections.Hashing;
import org.agrona.collections.LongHashSet;

/**
 * The set of the ids that a search has given, by their hashes: values of a polynomial modulo 2^61 -
 * 1 at a random point, which this process alone knows. Two ids with the same hash would hide each
 * other; nobody can choose such ids, as for {@link KeyHash}, whatever its seed. By chance a million
 * ids have two with the same hash in one of some 4 million searches.
 *
 * <p>Takes 13 to 25 bytes of heap for an id, and half as much again while it grows. Used by one
 * thread at a time.
 */
final class GivenIds {
  /** Ids for which there is room at first. */
  private static final int ROOM = 100;

  private static final long PRIME = (1L << 61) - 1;

  /** Bytes of a coefficient, so that sums stay below 2^62. */
  private static final int COEFFICIENT = 7;

  private static final long POINT = 1 + new SecureRandom().nextLong(PRIME - 1);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private LongHashSet hashes = new LongHashSet(ROOM);

  /** Makes room for the first ids. */
  void expect(int ids) {
    if (hashes.isEmpty() && ids > ROOM) {
      hashes = new LongHashSet((int) Math.ceil(ids / Hashing.DEFAULT_LOAD_FACTOR));
    }
  }

  /** Adds an id; false if it is in the set. */
  boolean add(byte[] bytes, int offset, int length) {
    return hashes.add(hash(bytes, offset, length));
  }

  int size() {
    return hashes.size();
  }

  boolean contains(byte[] id) {
    return hashes.contains(hash(id, 0, id.length));
  }

  void clear() {
    hashes.clear();
  }

  private static long hash(byte[] bytes, int offset, int length) {
    final int end = offset + length;
    long hash = 0;
    int at = offset;
    for (; end - at >= Long.BYTES; at += COEFFICIENT) {
      hash = timesPoint(hash + ((long) LONG.get(bytes, at) & ((1L << 56) - 1)));
    }
    long rest = 0;
    for (int i = end - 1; i >= at; i--) {
      rest = (rest << Byte.SIZE) | (bytes[i] & 0xFF);
    }
    return timesPoint(hash + rest) + length;
  }

  /** A number below 2^62 times the point, modulo the prime. */
  private static long timesPoint(long number) {
    final long low = number * POINT;
    final long high = Math.multiplyHigh(number, POINT);
    final long sum = (low & PRIME) + ((low >>> 61) | (high << 3));
    final long reduced = (sum & PRIME) + (sum >>> 61);
    return reduced >= PRIME ? reduced - PRIME : reduced;
  }
}
