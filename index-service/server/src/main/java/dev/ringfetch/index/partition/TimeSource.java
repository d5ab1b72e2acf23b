package dev.ringfetch.index.partition;

/**
 * Where partitions have the time from, and what makes them look at it when nobody writes. Shared by
 * all partitions of a server: none has a thread of its own for that.
 *
 * <p>Safe for use by many threads.
 */
public interface TimeSource {
  /** Milliseconds since 1970; never less than in an earlier call. */
  long nowMs();

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
   * The time of the system, without wake-ups: deadlines are looked at when something is written.
   */
  static TimeSource ofSystem() {
    return new TimeSource() {
      @Override
      public long nowMs() {
        return System.currentTimeMillis();
      }

      @Override
      public WakeUp wakeUp(Runnable task) {
        return delayMs -> {};
      }
    };
  }
}
