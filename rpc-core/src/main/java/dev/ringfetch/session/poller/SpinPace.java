package dev.ringfetch.session.poller;

/**
 * How long a thread polls before it sleeps: for the whole spin time where at least every other wait
 * ends within it, else hardly at all, since then the polling costs more than the wake-ups that it
 * spares, and keeps others from the processor, maybe the very peer that is waited for. Now and then
 * a whole spin time is tried again.
 *
 * <p>One thread at a time.
 */
public final class SpinPace {
  /** Polled for in any case, in nanoseconds: a peer that is running answers within. */
  public static final long LEAST_NS = 5_000;

  /** Waits of which the balance is kept. */
  public static final int MAX_BALANCE = 32;

  /** Short waits until a long one is tried. */
  static final int TRY_INTERVAL = 16;

  /** What a try that has found something is worth. */
  static final int TRY_GAIN = 4;

  private final long mostNs;
  private final long leastNs;

  private int balance = MAX_BALANCE; // of waits that have ended in time, and those that have not
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

  /** What was waited for has come while the thread polled. */
  public void found() {
    if (balance < MAX_BALANCE) {
      balance += balance == 0 && boundNs == mostNs ? TRY_GAIN : 1;
      boundNs = mostNs;
    }
  }

  /** The thread goes to sleep. */
  public void missed() {
    if (balance > 0) {
      balance--;
    }
    boundNs = balance > 0 || ++shortWaits % TRY_INTERVAL == 0 ? mostNs : leastNs;
  }
}
