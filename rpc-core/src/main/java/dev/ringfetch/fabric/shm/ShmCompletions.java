package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.QueuePair;

/**
 * The completion queue of shm, in posting order. Every work request is done when it was posted, so
 * those of a queue pair are all {@link QueuePair#SUCCESS}, also when they are polled after the end.
 */
final class ShmCompletions implements CompletionQueue {
  /** A power of two. */
  static final int CAPACITY = 256;

  private static final int MASK = CAPACITY - 1;

  private final long[] ids = new long[CAPACITY];
  private final long[] values = new long[CAPACITY];
  private final int[] statuses = new int[CAPACITY];
  private int head;
  private int count;

  boolean isFull() {
    return count == CAPACITY;
  }

  void add(long workRequestId, long value) {
    add(workRequestId, QueuePair.SUCCESS, value);
  }

  void add(long workRequestId, int status, long value) {
    final int index = (head + count) & MASK;
    ids[index] = workRequestId;
    values[index] = value;
    statuses[index] = status;
    count++;
  }

  @Override
  public int poll(Handler handler, int limit) {
    int handed = 0;
    while (handed < limit && count > 0) {
      final int index = head;
      // Taken off before the handler runs, which may post, poll or throw.
      head = (index + 1) & MASK;
      count--;
      handed++;
      handler.onCompletion(ids[index], statuses[index], values[index]);
    }
    return handed;
  }
}
