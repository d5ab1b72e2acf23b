package dev.ringfetch.index.store;

import java.util.Arrays;

/**
 * The deadlines of a partition's entries, the earliest first, in a heap with four children per
 * node. Each takes {@value #BYTES} bytes of the Java heap, in arrays of {@value #CHUNK} deadlines,
 * so that no addition copies more than references.
 *
 * <p>The deadline of a replaced or removed entry stays until its time comes or {@link Expiry#sweep}
 * finds it. Used by the partition's owner alone.
 */
final class Deadlines {
  /** The value of an empty heap: later than every deadline. */
  static final long NONE = Long.MAX_VALUE;

  /** Bytes of a deadline. */
  static final int BYTES = 3 * Long.BYTES;

  /** Number of deadlines of an array. */
  static final int CHUNK = 1024;

  private static final int WORDS = 3;

  /**
   * Arrays with three words per deadline: the deadline, the entry's version, and the place of its
   * block.
   */
  private long[][] chunks = {};

  private int size;

  /** Number of deadlines. */
  int size() {
    return size;
  }

  /** The earliest deadline; {@link #NONE} if there is none. */
  long first() {
    return size == 0 ? NONE : deadline(0);
  }

  private long deadline(int number) {
    return chunks[number / CHUNK][number % CHUNK * WORDS];
  }

  /**
   * Version of a deadline's entry.
   *
   * @param number from 0, the earliest, up to the size
   */
  long version(int number) {
    return chunks[number / CHUNK][number % CHUNK * WORDS + 1];
  }

  /** Place of the entry's block: a slot, as in a bucket or a leaf. */
  long place(int number) {
    return chunks[number / CHUNK][number % CHUNK * WORDS + 2];
  }

  /** Adds the deadline of an entry. */
  void add(long deadline, long version, long place) {
    final int chunk = size / CHUNK;
    if (chunk == chunks.length) {
      chunks = Arrays.copyOf(chunks, chunk + 1 + chunk / 2);
    }
    if (chunks[chunk] == null) {
      chunks[chunk] = new long[CHUNK * WORDS];
    }
    size++;
    rise(size - 1, deadline, version, place);
  }

  /** Removes the deadline with this number. */
  void remove(int number) {
    size--;
    final long deadline = deadline(size);
    final long version = version(size);
    final long place = place(size);
    if (number < size) {
      if (number > 0 && deadline((number - 1) / 4) > deadline) {
        rise(number, deadline, version, place);
      } else {
        sink(number, deadline, version, place);
      }
    }
    final int unused = size / CHUNK + 2; // one array in reserve
    if (size % CHUNK == 0 && unused < chunks.length) {
      chunks[unused] = null;
    }
  }

  private void rise(int from, long deadline, long version, long place) {
    int number = from;
    while (number > 0 && deadline((number - 1) / 4) > deadline) {
      move((number - 1) / 4, number);
      number = (number - 1) / 4;
    }
    set(number, deadline, version, place);
  }

  private void sink(int from, long deadline, long version, long place) {
    int number = from;
    while (true) {
      final int firstChild = 4 * number + 1;
      int least = -1;
      long leastDeadline = deadline;
      for (int child = firstChild; child < Math.min(firstChild + 4, size); child++) {
        if (deadline(child) < leastDeadline) {
          least = child;
          leastDeadline = deadline(child);
        }
      }
      if (least < 0) {
        break;
      }
      move(least, number);
      number = least;
    }
    set(number, deadline, version, place);
  }

  private void move(int from, int to) {
    set(to, deadline(from), version(from), place(from));
  }

  private void set(int number, long deadline, long version, long place) {
    final long[] chunk = chunks[number / CHUNK];
    final int at = number % CHUNK * WORDS;
    chunk[at] = deadline;
    chunk[at + 1] = version;
    chunk[at + 2] = place;
  }
}
