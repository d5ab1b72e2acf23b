package dev.ringfetch.index.host;

import dev.ringfetch.index.partition.TimeSource;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The clocks of a server's host, and its wake-ups: one daemon thread runs the tasks of all; it ends
 * when there was none for a while.
 *
 * <p>Safe for use by many threads.
 */
public final class ServerTime implements TimeSource, AutoCloseable {
  private static final int IDLE_SECONDS = 10;

  private final LongSupplier wallMs;
  private final LongSupplier runningNs;

  private final ScheduledThreadPoolExecutor thread;

  /** Creates the time of the system. */
  public ServerTime() {
    this(System::currentTimeMillis, System::nanoTime);
  }

  /**
   * Creates the time of these clocks.
   *
   * @param wallMs milliseconds since 1970; may go back.
   * @param runningNs nanoseconds since any moment; never go back.
   */
  public ServerTime(LongSupplier wallMs, LongSupplier runningNs) {
    this.wallMs = wallMs;
    this.runningNs = runningNs;
    thread =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              final Thread created = new Thread(task, "index-clock");
              created.setDaemon(true);
              return created;
            });
    thread.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    thread.allowCoreThreadTimeOut(true);
    thread.setRemoveOnCancelPolicy(true);
    thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public long wallMs() {
    return wallMs.getAsLong();
  }

  @Override
  public long runningNs() {
    return runningNs.getAsLong();
  }

  @Override
  public WakeUp wakeUp(Runnable task) {
    return new WakeUp() {
      private ScheduledFuture<?> set;

      @Override
      public void after(long delayMs) {
        if (set != null) {
          set.cancel(false);
        }
        try {
          set = thread.schedule(task, delayMs, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) { // the server ends
          set = null;
        }
      }
    };
  }

  /** Ends all wake-ups; waits for the task that runs. */
  @Override
  public void close() {
    thread.shutdown();
    try {
      thread.awaitTermination(IDLE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
