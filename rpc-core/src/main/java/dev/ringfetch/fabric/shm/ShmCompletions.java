package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.QueuePair;

/**
 * The completion queue of shm, in posting order. Every work request is done when it was posted, so
 * all completions are {@link QueuePair#SUCCESS}, also those that are polled after the end.
 */
final class ShmCompletions implements CompletionQueue {
  /** A power of two. */
  static final int CAPACITY = 256;

  private static final int MASK = CAPACITY - 1;

  private final long[] ids = new long[CAPACITY];
  private final long[] values = new long[CAPACITY];
  private int head;
  private int count;

  boolean isFull() {
    return count == CAPACITY;
  }

  void add(long workRequestId, long value) {
    int index = (head + count) & MASK;
    ids[index] = workRequestId;
    values[index] = value;
    count++;
  }

  @Override
  public int poll(Handler handler, int limit) {
    int handed = 0;
    while (handed < limit && count > 0) {
      int index = head;
      // Taken off before the handler runs, which may post, poll or throw.
      head = (index + 1) & MASK;
      count--;
      handed++;
      handler.onCompletion(ids[index], QueuePair.SUCCESS, values[index]);
    }
    return handed;
  }
}
