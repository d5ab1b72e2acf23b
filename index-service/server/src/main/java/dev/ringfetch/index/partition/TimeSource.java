package dev.ringfetch.index.partition;

/**
 * The clocks of the host, and the wake-ups that make partitions read them while there are no
 * writes. Shared by all partitions of a server, so that they need no threads of their own.
 *
 * <p>Safe for use by many threads.
 */
public interface TimeSource {
  /** The wall clock, in milliseconds since 1970: it may be set, forward and back. */
  long wallMs();

  /**
   * The running time, in nanoseconds since an arbitrary moment: it cannot be set, and never goes
   * back.
   */
  long runningNs();

  /**
   * Creates a wake-up that runs a task, on any thread. It is not set yet. It never runs if the
   * source has ended, or does not run tasks.
   */
  WakeUp wakeUp(Runnable task);

  /** A task that runs once, some time after it was last set. */
  @FunctionalInterface
  interface WakeUp {
    /** Sets it to run after this delay, which replaces the former time. */
    void after(long delayMs);
  }

  /**
   * The clocks of the system, without wake-ups: partitions check deadlines only when there are
   * writes.
   */
  static TimeSource ofSystem() {
    return new TimeSource() {
      @Override
      public long wallMs() {
        return System.currentTimeMillis();
      }

      @Override
      public long runningNs() {
        return System.nanoTime();
      }

      @Override
      public WakeUp wakeUp(Runnable task) {
        return delayMs -> {};
      }
    };
  }
}
