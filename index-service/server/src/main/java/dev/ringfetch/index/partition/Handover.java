package dev.ringfetch.index.partition;

import java.util.concurrent.Executor;

/**
 * The bound on what one thread does for others, and what goes on instead: after so many cycles, a
 * task of the executor.
 *
 * @param executor runs the rest. A task that it rejects stays with the thread.
 * @param cycles the most cycles, of all partitions together, that a thread does within one call of
 *     a partition; each carries out at most 32 writes.
 */
public record Handover(Executor executor, int cycles) {
  /**
   * Cycles after which a server's threads hand over: at most 512 writes of others, about half a
   * millisecond.
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

  /** No bound: a thread that submits may have to serve others as long as these submit. */
  public static Handover never() {
    return new Handover(
        task -> {
          throw new IllegalStateException("nothing is handed over");
        },
        Integer.MAX_VALUE);
  }
}
