package dev.ringfetch.index.journal;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that drives the snapshots of a journal until it is closed. After each step it rests as
 * long as the step took, so that it takes half of a processor and of the disk at most. It is never
 * interrupted: that would close the file.
 *
 * <p>Safe for use by many threads.
 */
public final class SnapshotThread implements AutoCloseable {
  /** The longest rest after a step. */
  private static final long REST_LIMIT_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private final SnapshotCycle cycle;
  private final Thread thread;
  private volatile boolean ending;

  /** Starts to drive the snapshots. */
  public SnapshotThread(SnapshotCycle cycle) {
    this.cycle = cycle;
    thread = new Thread(this::run, "index-snapshot");
    thread.setDaemon(true);
    thread.start();
  }

  /** Makes the thread check for work now. */
  public void wake() {
    LockSupport.unpark(thread);
  }

  private void run() {
    while (!ending) {
      final long beginNs = System.nanoTime();
      final long waitNs = cycle.work(beginNs);
      final long restNs = Math.min(REST_LIMIT_NS, System.nanoTime() - beginNs);
      LockSupport.parkNanos(this, Math.max(waitNs, restNs));
    }
    cycle.close();
  }

  /** Ends the thread, which gives up the snapshot under way, and waits for its end. Idempotent. */
  @Override
  public void close() {
    ending = true;
    boolean interrupted = false;
    while (thread.isAlive()) {
      LockSupport.unpark(thread);
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
