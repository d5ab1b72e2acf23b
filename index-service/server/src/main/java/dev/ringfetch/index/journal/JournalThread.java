package dev.ringfetch.index.journal;

import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that drives a journal until it is closed. It is never interrupted: that would close
 * the files.
 *
 * <p>Safe for use by many threads.
 */
public final class JournalThread implements AutoCloseable {
  /** Time of spinning for more records before the thread sleeps: about the time of a wake-up. */
  private static final long SPIN_NS = 20_000;

  private final Journal journal;
  private final Thread thread;
  private volatile boolean asleep;
  private volatile boolean alarmed;
  private volatile boolean ending;
  private volatile IOException failure;

  /** Starts to drive a journal. */
  public JournalThread(Journal journal) {
    this.journal = journal;
    thread = new Thread(this::run, "index-journal");
    thread.setDaemon(true);
    journal.onWork(this::alarm);
    thread.start();
  }

  private void alarm() {
    alarmed = true;
    if (asleep) {
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    long idleSinceNs = System.nanoTime();
    while (!ending) {
      final long nowNs = System.nanoTime();
      final long waitNs = work(nowNs);
      if (waitNs == 0) {
        idleSinceNs = nowNs;
      } else if (nowNs - idleSinceNs < SPIN_NS) {
        Thread.onSpinWait();
      } else {
        sleep(waitNs);
        idleSinceNs = System.nanoTime();
      }
    }
    try {
      journal.close();
    } catch (IOException e) {
      failure = e;
    } catch (Throwable t) {
      failure = new IOException("the journal did not end", t);
    }
  }

  private long work(long nowNs) {
    try {
      return journal.work(nowNs);
    } catch (Throwable t) { // of a partition's listener: its state is unknown
      journal.fail(new IOException("the journal's thread has failed", t));
      return Long.MAX_VALUE;
    }
  }

  private void sleep(long waitNs) {
    asleep = true;
    if (!alarmed && !ending) { // after the store: else the alarm sees the thread asleep
      LockSupport.parkNanos(this, waitNs);
    }
    asleep = false;
    alarmed = false;
  }

  /**
   * Makes the thread write the remaining records and close the journal, and waits for its end, even
   * if the caller is interrupted. Idempotent.
   *
   * @throws IOException if the journal did not end in order
   */
  @Override
  public void close() throws IOException {
    ending = true;
    LockSupport.unpark(thread);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (failure != null) {
      throw failure;
    }
  }
}
