package dev.ringfetch.index.service;

import dev.ringfetch.index.partition.TimeSource;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The time of a server: the wall clock, but where that is set back, time goes on from where it was.
 * One daemon thread runs the tasks of all wake-ups; it ends when there was none for a while.
 *
 * <p>Safe for use by many threads.
 */
final class ServerTime implements TimeSource, AutoCloseable {
  private static final int IDLE_SECONDS = 10;

  private final LongSupplier wallMs;
  private final LongSupplier nanos;

  /**
   * By how many nanoseconds the time is ahead of the running time; only grows. In milliseconds it
   * would be one too many as soon as both clocks were once rounded at different moments.
   */
  private final AtomicLong ahead = new AtomicLong(Long.MIN_VALUE);

  private final ScheduledThreadPoolExecutor thread;

  /** Creates the time of the system. */
  ServerTime() {
    this(System::currentTimeMillis, System::nanoTime);
  }

  /**
   * Creates the time of these clocks.
   *
   * @param wallMs milliseconds since 1970; may go back.
   * @param nanos nanoseconds since any moment; never go back.
   */
  ServerTime(LongSupplier wallMs, LongSupplier nanos) {
    this.wallMs = wallMs;
    this.nanos = nanos;
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
  public long nowMs() {
    final long running = nanos.getAsLong();
    final long distance = TimeUnit.MILLISECONDS.toNanos(wallMs.getAsLong()) - running;
    long known = ahead.get();
    while (distance > known && !ahead.compareAndSet(known, distance)) {
      known = ahead.get();
    }
    return Math.floorDiv(running + Math.max(distance, known), 1_000_000L);
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
