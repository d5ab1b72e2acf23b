package dev.ringfetch.call;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Watches deadlines of calls that no session knows yet, in one daemon thread for the process. What
 * is cancelled is forgotten at once: most calls end long before their deadline.
 */
final class DeadlineTimer {
  private static final ScheduledThreadPoolExecutor TIMER = newTimer();

  private DeadlineTimer() {}

  private static ScheduledThreadPoolExecutor newTimer() {
    final ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              final Thread thread = new Thread(task, "ringfetch-deadlines");
              thread.setDaemon(true);
              return thread;
            });
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  /** Runs a task after a time, unless the future is cancelled before. The task must not block. */
  static Future<?> schedule(Runnable task, long delayNs) {
    return TIMER.schedule(task, delayNs, TimeUnit.NANOSECONDS);
  }
}
