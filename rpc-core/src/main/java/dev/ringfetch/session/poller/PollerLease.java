package dev.ringfetch.session.poller;

/**
 * The lease of a poller: while the driver runs foreign tasks, its token is free, and the backup
 * thread may take it. A lease has a purpose, an {@link InlineTask} or the {@link Tasks} of a round,
 * each with a {@link BackupThread} of its own.
 *
 * <p>It ends when any thread acquires the token; no notification is needed.
 */
final class PollerLease {
  private final OwnerToken token;

  /**
   * Purpose of the last lease; stored before the token is released, read after it was found free.
   */
  private volatile boolean inline;

  /**
   * The driver of the last lease. Other threads read it only after they have found the token free.
   */
  private Thread lender;

  PollerLease(OwnerToken token) {
    this.token = token;
  }

  /** Gives a lease while an inline task runs. Called by the driver. */
  void lendInline() {
    lend(true);
  }

  /** Gives a lease while tasks run. Called by the driver. */
  void lendForTasks() {
    lend(false);
  }

  private void lend(boolean toInline) {
    lender = Thread.currentThread();
    inline = toInline;
    token.release();
  }

  /** True on the thread that gave the lease, as long as it lasts. */
  boolean isMine() {
    return token.isFree() && lender == Thread.currentThread(); // in this order
  }

  /** True during a lease for an inline task. */
  boolean isInline() {
    return token.isFree() && wasInline();
  }

  /** True during a lease for tasks. */
  boolean isForTasks() {
    return token.isFree() && !wasInline();
  }

  /** True when the last lease was for an inline task. */
  boolean wasInline() {
    return inline;
  }

  /**
   * True if the thread that gave the last lease is parked, sleeping or blocked on a monitor. Called
   * after the token was found free.
   */
  boolean isLenderWaiting() {
    return lender.getState() != Thread.State.RUNNABLE;
  }

  /**
   * Takes the poller back; false when another thread drives it by now. Called by a thread that gave
   * a lease.
   */
  boolean takeBack() {
    return token.tryAcquire();
  }
}
