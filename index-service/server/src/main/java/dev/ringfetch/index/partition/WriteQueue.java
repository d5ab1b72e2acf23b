package dev.ringfetch.index.partition;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The queue of a partition's submissions, in their order; an element is the first of a chain of
 * them. Any thread adds; the owner takes all elements at once, and from them one submission after
 * the other. Intrusive, so it allocates nothing.
 */
final class WriteQueue {
  private final AtomicReference<Submission> latest = new AtomicReference<>();
  private final int capacity;

  // The owner's.
  private @Nullable Submission elements; // taken from the queue; null if there are none
  private @Nullable Submission chain; // the rest of such an element; null if there is none

  /**
   * Creates the queue.
   *
   * @param capacity limit of the elements.
   */
  WriteQueue(int capacity) {
    this.capacity = capacity;
  }

  /** Adds an element that is not in the queue; false if the queue is full. */
  boolean offer(Submission submission) {
    Submission before;
    do {
      before = latest.get();
      // If the owner took that element meanwhile, the number may be wrong. Then the exchange fails,
      // or the element is in the queue again and the bound is off by few.
      final int size = before == null ? 0 : before.queued;
      if (size >= capacity) {
        return false;
      }
      submission.queued = size + 1;
      submission.following = before;
    } while (!latest.compareAndSet(before, submission));
    return true;
  }

  boolean isEmpty() {
    return latest.get() == null;
  }

  /** Takes the oldest submission; null if there is none. */
  @Nullable Submission take() {
    if (chain == null) {
      if (elements == null) {
        elements = takeAll();
      }
      chain = elements;
      if (chain == null) {
        return null;
      }
      elements = chain.following;
      chain.following = null;
    }
    final Submission taken = chain;
    chain = taken.next;
    taken.next = null;
    return taken;
  }

  /** Gives the submission back that was taken last: it is the oldest again. */
  void giveBack(Submission taken) {
    taken.next = chain;
    chain = taken;
  }

  /** Whether the owner has taken elements of which submissions are left. */
  boolean hasTaken() {
    return chain != null || elements != null;
  }

  /** Takes all elements: returns the first, linked by {@code following} to the later ones. */
  private @Nullable Submission takeAll() {
    if (isEmpty()) {
      return null;
    }
    Submission later = null;
    Submission submission = latest.getAndSet(null);
    while (submission != null) {
      final Submission earlier = submission.following;
      submission.following = later;
      later = submission;
      submission = earlier;
    }
    return later;
  }
}
