package dev.ringfetch.timer;

import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A delayed repetition of a task, on {@link DeadlineTimer}'s thread: runs once, however often it is
 * scheduled meanwhile. Thread-safe.
 */
public final class Retry {
  private final Runnable task;
  private final long pauseNs;
  private final AtomicBoolean due = new AtomicBoolean();

  /**
   * Creates the repetition; nothing is due.
   *
   * @param task must not block.
   */
  public Retry(Runnable task, long pauseNs) {
    this.task = task;
    this.pauseNs = pauseNs;
  }

  /**
   * Schedules the task, unless it is due already.
   *
   * @throws OutOfMemoryError with nothing due: the next call schedules it.
   */
  public void schedule() {
    if (!due.compareAndSet(false, true)) {
      return;
    }
    try {
      final Future<?> unused = DeadlineTimer.schedule(this::run, pauseNs);
    } catch (Throwable t) {
      due.set(false);
      throw t;
    }
  }

  private void run() {
    due.set(false); // before the run: the task may find that it has to run once more
    task.run();
  }
}
