package dev.ringfetch.index.partition;

/**
 * The clocks of the host, as partitions read them, and the wake-ups that make partitions read them
 * when nobody writes. Shared by all partitions of a server: none has a thread of its own for that.
 *
 * <p>Safe for use by many threads.
 */
public interface TimeSource {
  /** The wall clock, in milliseconds since 1970: somebody may set it, forward and back. */
  long wallMs();

  /** The running time, in nanoseconds since any moment: nobody sets it, and it never goes back. */
  long runningNs();

  /**
   * Creates a wake-up that runs a task, on any thread. Not set yet; where the source has ended, or
   * runs no tasks, it never comes.
   */
  WakeUp wakeUp(Runnable task);

  /** A task that runs some time after it was set, once for the last time that it was set. */
  @FunctionalInterface
  interface WakeUp {
    /** Sets it to run after so many milliseconds, instead of when it was set to before. */
    void after(long delayMs);
  }

  /**
   * The clocks of the system, without wake-ups: partitions look at deadlines when somebody writes.
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
