package dev.ringfetch.index.partition;

import java.util.concurrent.atomic.AtomicReference;

/**
 * The queue of submitted writes, in the order of their submission; an element is the first of a
 * chain of writes. Any thread adds; the owner takes all at once. Intrusive, so it allocates
 * nothing.
 */
final class WriteQueue {
  private final AtomicReference<Write> latest = new AtomicReference<>();
  private final int capacity;

  /**
   * Creates the queue.
   *
   * @param capacity limit of the elements.
   */
  WriteQueue(int capacity) {
    this.capacity = capacity;
  }

  /** Adds an element that is not in the queue; false if the queue is full. */
  boolean offer(Write write) {
    Write before;
    do {
      before = latest.get();
      // If the owner took that element meanwhile, the number may be wrong. Then the exchange fails,
      // or the element is in the queue again and the bound is off by few.
      final int size = before == null ? 0 : before.queued;
      if (size >= capacity) {
        return false;
      }
      write.queued = size + 1;
      write.following = before;
    } while (!latest.compareAndSet(before, write));
    return true;
  }

  boolean isEmpty() {
    return latest.get() == null;
  }

  /** Takes all elements: returns the first, linked by {@code following} to the later ones. */
  Write takeAll() {
    if (isEmpty()) {
      return null;
    }
    Write later = null;
    Write write = latest.getAndSet(null);
    while (write != null) {
      final Write earlier = write.following;
      write.following = later;
      later = write;
      write = earlier;
    }
    return later;
  }
}
