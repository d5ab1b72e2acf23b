package dev.ringfetch.session;

/**
 * The lending of a poller's duty: while its holder runs what others gave it to run, the duty is
 * nobody's, and whoever looks after that may take it. Each loan has a number, so that a later one
 * is not taken for it, and says what for: {@link Standby} looks after an {@link InlineTask}, {@link
 * Relief} after the tasks of a round.
 *
 * <p>It ends when somebody acquires the duty, whoever that is; nobody else needs to be told.
 */
final class Loan {
  private static final int TASKS = 1; // in the number

  private final Ownership duty;

  /** Of the last one; stored before the duty is free, read after it was found so. */
  private volatile long number;

  /** Of the last one. Others than itself ask only after they have found the duty free. */
  private Thread lender;

  Loan(Ownership duty) {
    this.duty = duty;
  }

  /** Makes the duty nobody's while an inline task runs. The duty's. */
  void lendInline() {
    lend((number | TASKS) + 1);
  }

  /** Makes the duty nobody's while tasks run. The duty's. */
  void lendForTasks() {
    lend((number | TASKS) + 1 + TASKS);
  }

  /** Lends to the same tasks again, after it was {@linkplain #takeBack taken back}. The duty's. */
  void lendAgain() {
    lend(number | TASKS);
  }

  private void lend(long next) {
    lender = Thread.currentThread();
    number = next;
    duty.release();
  }

  /** True in the thread that has lent the duty, as long as nobody has it. */
  boolean isMine() {
    return duty.isFree() && lender == Thread.currentThread(); // in this order
  }

  /** True while the duty is lent for an inline task. */
  boolean isInline() {
    return duty.isFree() && wasInline();
  }

  /** True while the duty is lent for tasks. */
  boolean isForTasks() {
    return duty.isFree() && !wasInline();
  }

  /** True when the last loan was for an inline task. */
  boolean wasInline() {
    return (number & TASKS) == 0;
  }

  /** Of the last loan. */
  long number() {
    return number;
  }

  /** Who has lent the duty last; for who has found it free. */
  Thread lender() {
    return lender;
  }

  /** Takes the duty back; false when another thread has it by now. Any that has lent it. */
  boolean takeBack() {
    return duty.tryAcquire();
  }
}
