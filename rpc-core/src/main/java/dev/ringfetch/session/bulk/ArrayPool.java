package dev.ringfetch.session.bulk;

import java.util.ArrayDeque;
import java.util.Iterator;

/**
 * Long arrays of units that came in, kept for the next ones, of whatever session: to allocate one,
 * which zeroes it, costs about as much as to fill it. Any thread.
 */
public final class ArrayPool {
  /** What is kept at the most, in bytes. */
  static final int MAX_LENGTH =
      (int) Math.min(16 * 1024 * 1024, Runtime.getRuntime().maxMemory() / 16);

  /** How many are kept at the most: they are looked through. */
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

  /** Keeps an array that nobody uses any more, if there is room for it. */
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
