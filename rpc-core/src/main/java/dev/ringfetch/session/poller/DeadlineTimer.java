package dev.ringfetch.session.poller;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs what is due at a time that no session watches, in one daemon thread for the process: the
 * deadlines of offers and of calls that have not half-closed, the next attempt of calls that wait
 * for a ring or for a thread, the looks at whether a channel is idle. What is cancelled is
 * forgotten at once: most deadlines never come.
 */
public final class DeadlineTimer {
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
  public static Future<?> schedule(Runnable task, long delayNs) {
    return TIMER.schedule(task, delayNs, TimeUnit.NANOSECONDS);
  }
}
