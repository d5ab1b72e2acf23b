package dev.ringfetch.index.partition;

import java.util.concurrent.locks.LockSupport;

/** A log that commits on a thread of its own, whatever is there each time it looks. */
public final class LaterLog implements CommitLog, AutoCloseable {
  private final Thread thread = new Thread(this::commitAll, "later-log");
  private final long pauseNs;
  private volatile long last;
  private volatile long committed;
  private volatile boolean closed;
  private Runnable listener;

  /**
   * Creates the log.
   *
   * @param pauseNs between two looks; 0 to look all the time.
   */
  public LaterLog(long pauseNs) {
    this.pauseNs = pauseNs;
  }

  @Override
  @SuppressWarnings("NonAtomicVolatileUpdate") // one owner at a time
  public long append(Write write) {
    return ++last;
  }

  @Override
  public long committed() {
    return committed;
  }

  @Override
  public void onCommit(Runnable listener) {
    this.listener = listener;
    thread.start();
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }

  @SuppressWarnings("ThreadPriorityCheck") // or the owner would have no core
  private void commitAll() {
    while (!closed) {
      final long seen = last;
      if (seen != committed) {
        committed = seen;
        listener.run();
      }
      if (pauseNs > 0) {
        LockSupport.parkNanos(pauseNs);
      } else {
        Thread.yield();
      }
    }
  }
}
