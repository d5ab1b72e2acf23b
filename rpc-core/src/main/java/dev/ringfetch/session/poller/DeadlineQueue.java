package dev.ringfetch.session.poller;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A priority queue by deadline, of a session's streams or a poller's sessions: a binary heap with
 * elements that know their place. So the many that end in time are removed without search or
 * allocation, and the earliest deadline is exact: a sleeper needs no tick. Used by one thread at a
 * time: the owner of the session, or the poller's.
 */
public final class DeadlineQueue<T extends Dated> {
  /** Place of an element that is not in the queue. */
  static final int ABSENT = -1;

  private Dated[] heap = new Dated[16];
  private int size;

  /** The earliest deadline, or {@link Dated#NO_DEADLINE}. */
  public long earliestNs() {
    return size == 0 ? Dated.NO_DEADLINE : heap[0].deadlineNs;
  }

  /** Makes room for so many elements, so that {@link #add} does not allocate. */
  void reserve(int capacity) {
    if (capacity > heap.length) {
      heap = Arrays.copyOf(heap, Math.max(capacity, 2 * heap.length));
    }
  }

  /** The element with the earliest deadline. */
  @SuppressWarnings("unchecked") // only elements of this type are added
  @Nullable T first() {
    return (T) heap[0];
  }

  /** Adds an element that is not in the queue. */
  public void add(T dated) {
    reserve(size + 1);
    place(dated, size++);
    siftUp(dated.deadlineIndex);
  }

  /** Removes an element, if it is in the queue. */
  public void remove(T dated) {
    final int index = dated.deadlineIndex;
    if (index == ABSENT) {
      return;
    }
    dated.deadlineIndex = ABSENT;
    final Dated last = heap[--size];
    heap[size] = null;
    if (last != dated) {
      place(last, index);
      siftDown(index);
      siftUp(last.deadlineIndex);
    }
  }

  /** Removes the first element with a deadline that is not after now, or returns null. */
  public T expire(long nowNs) {
    if (size == 0 || heap[0].deadlineNs - nowNs > 0) {
      return null;
    }
    final T first = first();
    remove(first);
    return first;
  }

  private void place(Dated dated, int index) {
    heap[index] = dated;
    dated.deadlineIndex = index;
  }

  private void siftUp(int from) {
    int index = from;
    final Dated dated = heap[index];
    while (index > 0) {
      final int parent = (index - 1) >>> 1;
      if (heap[parent].deadlineNs - dated.deadlineNs <= 0) {
        break;
      }
      place(heap[parent], index);
      index = parent;
    }
    place(dated, index);
  }

  private void siftDown(int from) {
    int index = from;
    final Dated dated = heap[index];
    while (2 * index + 1 < size) {
      int child = 2 * index + 1;
      if (child + 1 < size && heap[child + 1].deadlineNs - heap[child].deadlineNs < 0) {
        child++;
      }
      if (dated.deadlineNs - heap[child].deadlineNs <= 0) {
        break;
      }
      place(heap[child], index);
      index = child;
    }
    place(dated, index);
  }
}
