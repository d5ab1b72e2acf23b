package dev.ringfetch.session.poller;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a poller: the one that drives it, which the {@link OwnerToken} names, and those
 * that stand by to take it over. Any thread uses it.
 */
final class PollerThreads implements BackupHost {
  private final OwnerToken token;
  private final PollerLease lease;
  private final Runnable serving;
  private final BooleanSupplier finished;
  private final CountDownLatch end = new CountDownLatch(1);

  private BackupThread forTasks;
  private BackupThread forInline;
  private volatile String name = "poller";

  /**
   * Creates the set, without backup threads.
   *
   * @param serving drives the poller on the calling thread until it ends, or is taken over.
   * @param finished whether no thread will drive the poller any more.
   */
  PollerThreads(OwnerToken token, PollerLease lease, Runnable serving, BooleanSupplier finished) {
    this.token = token;
    this.lease = lease;
    this.serving = serving;
    this.finished = finished;
  }

  /** Sets the two backup threads. Called once, before the poller is used. */
  void backups(BackupThread forTasks, BackupThread forInline) {
    this.forTasks = forTasks;
    this.forInline = forInline;
  }

  /** Names the threads of the poller after the first driver, which calls this. */
  void begin() {
    name = Thread.currentThread().getName();
  }

  /**
   * Stands by, and serves when the poller is to be taken over, as long as this thread is needed.
   */
  @Override
  public void standBy() {
    while ((mayStandByForTasks() && forTasks.await()) || forInline.await()) {
      serving.run();
    }
  }

  /** True on a thread that was started as a backup, or has come back while a backup is wanted. */
  private boolean mayStandByForTasks() {
    final Thread me = Thread.currentThread();
    return forTasks.thread() == me || (forTasks.isAsked() && forInline.thread() != me);
  }

  @Override
  public boolean isFinished() {
    return finished.getAsBoolean();
  }

  /** Name of the first driver. */
  @Override
  public String name() {
    return name;
  }

  /** Ends the backup threads, because the poller has ended. */
  void end() {
    forInline.end();
    forTasks.end();
    end.countDown();
  }

  /** The backup thread for tasks. */
  @Nullable Thread taskBackup() {
    return forTasks.thread();
  }

  /** See {@link Poller#awaitEnd}. */
  void awaitEnd(long timeoutNs) throws InterruptedException {
    final long startNs = System.nanoTime();
    if (token.isMine() || lease.isMine() || !end.await(timeoutNs, TimeUnit.NANOSECONDS)) {
      return;
    }
    for (final Thread thread :
        new Thread[] {token.holder(), forInline.thread(), forTasks.thread()}) {
      if (thread != null) {
        TimeUnit.NANOSECONDS.timedJoin(thread, timeoutNs - (System.nanoTime() - startNs));
      }
    }
  }
}
