package dev.ringfetch.index.partition;

import java.util.ArrayDeque;
import org.agrona.ErrorHandler;

/**
 * One thread's delivery of answers. What a listener submits is carried out after the answers that
 * the thread is delivering: otherwise a listener that submits again would be called within itself,
 * without bound.
 */
final class Delivery {
  private static final ThreadLocal<Delivery> OF_THREAD = ThreadLocal.withInitial(Delivery::new);

  private final ArrayDeque<Runnable> postponed = new ArrayDeque<>();
  private boolean delivering;

  /** Cycles that are left to the thread's present call. */
  private int left;

  private Delivery() {}

  static Delivery ofThread() {
    return OF_THREAD.get();
  }

  /**
   * Does a partition's cycles, and those that listeners caused; later if in a listener.
   *
   * @param limit the most cycles, of all these partitions together.
   */
  void run(Runnable cycles, int limit) {
    if (delivering) {
      if (!postponed.contains(cycles)) {
        postponed.add(cycles);
      }
      return;
    }
    final int leftBefore = left; // of a cycle on this thread, as where a log commits within append
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

  /** Tells the listeners of a chain of writes their answers. */
  void deliver(Write first, ErrorHandler errors) {
    delivering = true;
    try {
      Write write = first;
      while (write != null) {
        final Write next = write.next; // the listener may submit the write again
        write.next = null;
        try {
          write.tell();
        } catch (Throwable t) { // the next one is told all the same
          errors.onError(t);
        }
        write = next;
      }
    } finally {
      delivering = false;
    }
  }
}
