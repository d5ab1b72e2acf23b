package dev.ringfetch.session.poller;

/**
 * The lending of a poller's duty: while its holder runs what others gave it to run, the duty is
 * nobody's, and whoever looks after that may take it. A loan says what for: {@link InlineBackup}
 * looks after an {@link InlineTask}, {@link TaskBackup} after the tasks of a round.
 *
 * <p>It ends when somebody acquires the duty, whoever that is; nobody else needs to be told.
 */
final class PollerLease {
  private final OwnerToken token;

  /** Of the last one; stored before the duty is free, read after it was found so. */
  private volatile boolean inline;

  /** Of the last one. Others than itself ask only after they have found the duty free. */
  private Thread lender;

  PollerLease(OwnerToken token) {
    this.token = token;
  }

  /** Makes the duty nobody's while an inline task runs. The duty's. */
  void lendInline() {
    lend(true);
  }

  /** Makes the duty nobody's while tasks run. The duty's. */
  void lendForTasks() {
    lend(false);
  }

  private void lend(boolean toInline) {
    lender = Thread.currentThread();
    inline = toInline;
    token.release();
  }

  /** True in the thread that has lent the duty, as long as nobody has it. */
  boolean isMine() {
    return token.isFree() && lender == Thread.currentThread(); // in this order
  }

  /** True while the duty is lent for an inline task. */
  boolean isInline() {
    return token.isFree() && wasInline();
  }

  /** True while the duty is lent for tasks. */
  boolean isForTasks() {
    return token.isFree() && !wasInline();
  }

  /** True when the last loan was for an inline task. */
  boolean wasInline() {
    return inline;
  }

  /**
   * True when who has lent the duty last is parked, sleeps, or waits for a monitor: what Java knows
   * of. For who has found it free.
   */
  boolean isLenderWaiting() {
    return lender.getState() != Thread.State.RUNNABLE;
  }

  /** Takes the duty back; false when another thread has it by now. Any that has lent it. */
  boolean takeBack() {
    return token.tryAcquire();
  }
}
