package dev.ringfetch.session.poller;

/**
 * The adaptive spin time of a thread: the whole spin time where at least every other wait ends
 * within it, else {@link #LEAST_NS}, since then polling costs more than the wake-ups that it saves,
 * and keeps other threads from the processor, maybe the very peer that it waits for. Now and then a
 * whole spin time is tried again.
 *
 * <p>One thread at a time.
 */
public final class SpinPace {
  /** Shortest spin time, in nanoseconds: a running peer answers within it. */
  public static final long LEAST_NS = 5_000;

  /** Limit of the balance, in waits. */
  public static final int MAX_BALANCE = 32;

  /** Short waits until a long one is tried. */
  static final int TRY_INTERVAL = 16;

  /** Gain of the balance by a try that has found something. */
  static final int TRY_GAIN = 4;

  private final long mostNs;
  private final long leastNs;

  private int balance = MAX_BALANCE; // waits that have ended in time, less those that have not
  private int shortWaits;
  private long boundNs;

  /**
   * Creates the pace.
   *
   * @param spinNs longest that is polled, in nanoseconds.
   */
  public SpinPace(long spinNs) {
    this.mostNs = spinNs;
    this.leastNs = Math.min(LEAST_NS, spinNs);
    this.boundNs = spinNs;
  }

  /** How long this wait lasts before the thread sleeps, in nanoseconds. */
  public long boundNs() {
    return boundNs;
  }

  /** Called when the wait has ended while the thread polled. */
  public void found() {
    if (balance < MAX_BALANCE) {
      balance += balance == 0 && boundNs == mostNs ? TRY_GAIN : 1;
      boundNs = mostNs;
    }
  }

  /** Called when the thread goes to sleep. */
  public void missed() {
    if (balance > 0) {
      balance--;
    }
    boundNs = balance > 0 || ++shortWaits % TRY_INTERVAL == 0 ? mostNs : leastNs;
  }
}
