package dev.ringfetch.index.partition;

import java.util.concurrent.Executor;

/**
 * The bound of the work that one thread does for others: after a number of cycles, a task of the
 * executor continues.
 *
 * @param executor runs the rest; if it rejects the task, the thread continues.
 * @param cycles limit of the cycles, of all partitions together, that a thread does within one call
 *     of a partition; each carries out at most 32 writes.
 */
public record Handover(Executor executor, int cycles) {
  /**
   * Cycles after which a server's threads hand over: at most 512 writes of other threads, about
   * half a millisecond.
   */
  public static final int CYCLES_DEFAULT = 16;

  /**
   * Creates the bound.
   *
   * @throws IllegalArgumentException if the number of cycles is less than 1.
   */
  public Handover {
    if (cycles < 1) {
      throw new IllegalArgumentException("cycles=" + cycles);
    }
  }

  /** No bound: a thread that submits may have to serve other threads as long as they submit. */
  public static Handover never() {
    return new Handover(
        task -> {
          throw new IllegalStateException("nothing is handed over");
        },
        Integer.MAX_VALUE);
  }
}
