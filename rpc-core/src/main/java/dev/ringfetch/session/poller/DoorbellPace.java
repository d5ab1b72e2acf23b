package dev.ringfetch.session.poller;

/**
 * When a busy poller looks at its doorbell again. A look may cost as much as a call: the next is as
 * far away as its share of the time wants, up to a bound, and nearer while looks find something.
 * One thread.
 */
final class DoorbellPace {
  /** Shortest interval between looks, in nanoseconds. */
  static final long MIN_INTERVAL_NS = 20_000;

  private static final long MAX_INTERVAL_NS = 1_000_000;
  private static final int SHARE = 32; // of the time, as a divisor

  private long lookedNs;
  private long costNs; // of the last look that found nothing
  private long intervalNs = MIN_INTERVAL_NS;

  /** True when it is time to look; then this is when it was looked. */
  boolean isDue(long nowNs) {
    if (nowNs - lookedNs < intervalNs) {
      return false;
    }
    lookedNs = nowNs;
    return true;
  }

  /** A look has found nothing, and has taken so long. */
  void foundNothing(long tookNs) {
    // The less of two: one look may have been interrupted.
    final long wantedNs = SHARE * Math.min(tookNs, costNs);
    intervalNs = Math.min(Math.max(wantedNs, MIN_INTERVAL_NS), MAX_INTERVAL_NS);
    costNs = tookNs;
  }

  /** A look has found something. */
  void foundSome() {
    intervalNs = Math.max(intervalNs / 2, MIN_INTERVAL_NS);
  }
}
