package dev.ringfetch.session.poller;

import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs a task again after a pause, in {@link DeadlineTimer}'s thread: once, however often that is
 * asked for meanwhile. Thread-safe.
 */
public final class Retry {
  private final Runnable task;
  private final long pauseNs;
  private final AtomicBoolean due = new AtomicBoolean();

  /**
   * Creates it; nothing is due.
   *
   * @param task must not block.
   */
  public Retry(Runnable task, long pauseNs) {
    this.task = task;
    this.pauseNs = pauseNs;
  }

  /**
   * Has the task run, unless it is due already.
   *
   * @throws OutOfMemoryError with nothing due: who comes next has it run.
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
    due.set(false); // before: the task may find that it has to run once more
    task.run();
  }
}
