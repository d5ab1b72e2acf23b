package dev.ringfetch.session.poller;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.jspecify.annotations.Nullable;

/**
 * The clock of a thread's processor time, which tells a task that computes from one that had no
 * processor. A reading is a system call, of 0.2 us or more, where the clock of a poller takes a
 * tenth of that.
 */
public final class ProcessorTime {
  /** The time of a task that was not measured. */
  public static final long UNKNOWN = -1;

  private static final @Nullable ThreadMXBean THREADS = threads();

  private ProcessorTime() {}

  /** Loads the clock's classes, so that no poller has to, in the midst of its calls. */
  public static void load() {
    nowNs();
  }

  private static @Nullable ThreadMXBean threads() {
    try {
      final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      return threads.isCurrentThreadCpuTimeSupported() && threads.isThreadCpuTimeEnabled()
          ? threads
          : null;
    } catch (RuntimeException | LinkageError e) { // no module java.management, or no permission
      return null;
    }
  }

  /** The processor time that the calling thread has used, in nanoseconds; 0 where none says it. */
  public static long nowNs() {
    return THREADS == null ? 0 : THREADS.getCurrentThreadCpuTime();
  }

  /**
   * Returns the processor time that the calling thread has used since a reading, in nanoseconds.
   *
   * @param startNs the reading, or {@link #UNKNOWN}, which then is the result.
   * @param elapsedNs result where there is no such clock.
   */
  public static long sinceNs(long startNs, long elapsedNs) {
    if (startNs == UNKNOWN) {
      return UNKNOWN;
    }
    return THREADS == null ? elapsedNs : THREADS.getCurrentThreadCpuTime() - startNs;
  }
}
