package dev.ringfetch.index.partition;

import java.util.ArrayDeque;
import org.agrona.ErrorHandler;

/**
 * The delivery of answers on one thread. What a listener submits is carried out after the answers
 * that the thread is delivering. Otherwise a listener that submits again would be called
 * recursively without bound.
 */
final class Delivery {
  private static final ThreadLocal<Delivery> OF_THREAD = ThreadLocal.withInitial(Delivery::new);

  private final ArrayDeque<Runnable> postponed = new ArrayDeque<>();
  private boolean delivering;

  /** Number of cycles that the thread's present call may still do. */
  private int left;

  private Delivery() {}

  static Delivery ofThread() {
    return OF_THREAD.get();
  }

  /**
   * Runs a partition's cycles, and those that listeners cause; later if called by a listener.
   *
   * @param limit of the cycles of all these partitions together.
   */
  void run(Runnable cycles, int limit) {
    if (delivering) {
      if (!postponed.contains(cycles)) {
        postponed.add(cycles);
      }
      return;
    }
    final int leftBefore = left; // above 0 in a cycle, as when a log commits in append
    left = limit;
    Runnable next = cycles;
    while (next != null) {
      next.run();
      next = postponed.poll();
    }
    left = leftBefore;
  }

  /** Whether the thread may do one more cycle. */
  boolean mayGoOn() {
    return left-- > 0;
  }

  /** Calls the listeners of a chain of submissions with their answers. */
  void deliver(Submission first, ErrorHandler errors) {
    delivering = true;
    try {
      Submission submission = first;
      while (submission != null) {
        final Submission next = submission.next; // the listener may submit it again
        submission.next = null;
        try {
          submission.tell();
        } catch (Throwable t) { // the next listener is called all the same
          errors.onError(t);
        }
        submission = next;
      }
    } finally {
      delivering = false;
    }
  }
}
