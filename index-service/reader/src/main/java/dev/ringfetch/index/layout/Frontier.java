package dev.ringfetch.index.layout;

import java.util.Arrays;

/**
 * The nodes of a spatial index that a search has still to visit: a heap by priority, the least
 * first. Used by one thread at a time.
 */
final class Frontier {
  private double[] priorities = new double[64];
  private long[] addresses = new long[64];
  private int[] births = new int[64];
  private long[] numbers = new long[64];
  private int[] levels = new int[64];
  private int count;

  void clear() {
    count = 0;
  }

  boolean isEmpty() {
    return count == 0;
  }

  /** Priority of the first node. */
  double priority() {
    return priorities[0];
  }

  long address() {
    return addresses[0];
  }

  /** The lower half of the first node's birth. */
  int birth() {
    return births[0];
  }

  /** The sequence of the image in which the reader saw the first node: later splits count. */
  long number() {
    return numbers[0];
  }

  /** Level of the first node; negative if it may be any. */
  int level() {
    return levels[0];
  }

  /** Adds a node. */
  void add(double priority, long address, int birth, long number, int level) {
    if (count == addresses.length) {
      priorities = Arrays.copyOf(priorities, 2 * count);
      addresses = Arrays.copyOf(addresses, 2 * count);
      births = Arrays.copyOf(births, 2 * count);
      numbers = Arrays.copyOf(numbers, 2 * count);
      levels = Arrays.copyOf(levels, 2 * count);
    }
    int at = count++;
    while (at > 0 && priorities[(at - 1) >>> 1] > priority) {
      move((at - 1) >>> 1, at);
      at = (at - 1) >>> 1;
    }
    set(at, priority, address, birth, number, level);
  }

  /** Removes the first node. */
  void remove() {
    final int last = --count;
    int at = 0;
    while (2 * at + 1 < last) {
      int child = 2 * at + 1;
      if (child + 1 < last && priorities[child + 1] < priorities[child]) {
        child++;
      }
      if (priorities[child] >= priorities[last]) {
        break;
      }
      move(child, at);
      at = child;
    }
    move(last, at);
  }

  private void move(int from, int to) {
    set(to, priorities[from], addresses[from], births[from], numbers[from], levels[from]);
  }

  private void set(int at, double priority, long address, int birth, long number, int level) {
    priorities[at] = priority;
    addresses[at] = address;
    births[at] = birth;
    numbers[at] = number;
    levels[at] = level;
  }
}
