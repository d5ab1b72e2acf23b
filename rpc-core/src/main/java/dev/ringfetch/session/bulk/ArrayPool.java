package dev.ringfetch.session.bulk;

import java.util.ArrayDeque;
import java.util.Iterator;

/**
 * A pool of long arrays for inbound units, shared by all sessions: allocating one, which zeroes it,
 * costs about as much as filling it. Any thread.
 */
public final class ArrayPool {
  /** Limit of the kept arrays, in bytes. */
  static final int MAX_LENGTH =
      (int) Math.min(16 * 1024 * 1024, Runtime.getRuntime().maxMemory() / 16);

  /** Limit of the number of kept arrays, since they are searched linearly. */
  static final int MAX_ARRAYS = 128;

  /** Of a length that never grows: it might be left half changed for want of memory. */
  private final ArrayDeque<byte[]> arrays = new ArrayDeque<>(MAX_ARRAYS + 1);

  private int length;

  /** An array of at least this length, and at most twice as long; its content is anything. */
  public byte[] take(int wanted) {
    synchronized (this) {
      for (final Iterator<byte[]> all = arrays.iterator(); all.hasNext(); ) {
        final byte[] array = all.next();
        if (array.length >= wanted && array.length / 2 <= wanted) {
          all.remove();
          length -= array.length;
          return array;
        }
      }
    }
    return new byte[wanted];
  }

  /** Keeps an unused array, if there is room for it. */
  public synchronized void give(byte[] array) {
    if (array.length > MAX_LENGTH) {
      return;
    }
    while (length + array.length > MAX_LENGTH || arrays.size() == MAX_ARRAYS) {
      length -= arrays.removeLast().length;
    }
    arrays.addFirst(array); // what was used a moment ago is in the cache
    length += array.length;
  }
}
