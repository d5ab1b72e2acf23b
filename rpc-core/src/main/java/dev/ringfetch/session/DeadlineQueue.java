package dev.ringfetch.session;

import java.util.Arrays;

/**
 * Streams by deadline: a binary heap in which each stream knows its place, so that the many calls
 * that end in time are taken out without search or allocation, and the earliest deadline is known
 * to the nanosecond: a sleeper needs no tick. Belongs to the owner of the session.
 */
final class DeadlineQueue {
  /** Place of a stream that is not in the queue. */
  static final int ABSENT = -1;

  private Stream[] heap = new Stream[16];
  private int size;

  /** The earliest deadline, or {@link Stream#NO_DEADLINE}. */
  long earliestNs() {
    return size == 0 ? Stream.NO_DEADLINE : heap[0].deadlineNs;
  }

  /** Adds a stream that is not in the queue. */
  void add(Stream stream) {
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, 2 * size);
    }
    place(stream, size++);
    siftUp(stream.deadlineIndex);
  }

  /** Takes a stream out, if it is in. */
  void remove(Stream stream) {
    final int index = stream.deadlineIndex;
    if (index == ABSENT) {
      return;
    }
    stream.deadlineIndex = ABSENT;
    final Stream last = heap[--size];
    heap[size] = null;
    if (last != stream) {
      place(last, index);
      siftDown(index);
      siftUp(last.deadlineIndex);
    }
  }

  /** Takes out a stream whose deadline is not after now, or returns null. */
  Stream expire(long nowNs) {
    if (size == 0 || heap[0].deadlineNs - nowNs > 0) {
      return null;
    }
    final Stream stream = heap[0];
    remove(stream);
    return stream;
  }

  private void place(Stream stream, int index) {
    heap[index] = stream;
    stream.deadlineIndex = index;
  }

  private void siftUp(int from) {
    int index = from;
    final Stream stream = heap[index];
    while (index > 0) {
      final int parent = (index - 1) >>> 1;
      if (heap[parent].deadlineNs - stream.deadlineNs <= 0) {
        break;
      }
      place(heap[parent], index);
      index = parent;
    }
    place(stream, index);
  }

  private void siftDown(int from) {
    int index = from;
    final Stream stream = heap[index];
    while (2 * index + 1 < size) {
      int child = 2 * index + 1;
      if (child + 1 < size && heap[child + 1].deadlineNs - heap[child].deadlineNs < 0) {
        child++;
      }
      if (stream.deadlineNs - heap[child].deadlineNs <= 0) {
        break;
      }
      place(heap[child], index);
      index = child;
    }
    place(stream, index);
  }
}
