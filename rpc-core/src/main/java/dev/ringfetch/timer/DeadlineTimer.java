package dev.ringfetch.timer;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The timer of the process for times that no session watches, on one daemon thread: the deadlines
 * of offers and of calls that have not half-closed, the next attempt of calls that wait for a ring
 * or for a thread, the checks whether a channel is idle. Cancelled tasks are removed at once, since
 * most deadlines never come. The thread ends some seconds after the last task, so that it keeps no
 * class loader.
 */
public final class DeadlineTimer {
  private static final long LINGER_S = 3;
  private static final ScheduledThreadPoolExecutor TIMER = newTimer();

  private DeadlineTimer() {}

  private static ScheduledThreadPoolExecutor newTimer() {
    final ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1, task -> DaemonThreads.create(task, "ringfetch-deadlines"));
    timer.setKeepAliveTime(LINGER_S, TimeUnit.SECONDS);
    timer.allowCoreThreadTimeOut(true);
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  /** Runs a task after a time, unless the future is cancelled before. The task must not block. */
  public static Future<?> schedule(Runnable task, long delayNs) {
    return TIMER.schedule(task, delayNs, TimeUnit.NANOSECONDS);
  }
}
