package dev.ringfetch.session.poller;

/**
 * The pace at which a busy poller looks at its doorbell. A look may cost as much as a call: so the
 * interval is chosen for a fixed share of the time, up to a bound, and is shorter while looks find
 * events. Used by one thread.
 */
final class DoorbellPace {
  /** Shortest interval between looks, in nanoseconds. */
  static final long MIN_INTERVAL_NS = 20_000;

  private static final long MAX_INTERVAL_NS = 1_000_000;
  private static final int SHARE = 32; // of the time, as a divisor

  private long lookedNs;
  private long costNs; // of the last look that found nothing
  private long intervalNs = MIN_INTERVAL_NS;

  /** True when it is time to look; then notes the time. */
  boolean isDue(long nowNs) {
    if (nowNs - lookedNs < intervalNs) {
      return false;
    }
    lookedNs = nowNs;
    return true;
  }

  /** Called when a look has found nothing, with the time that it took. */
  void foundNothing(long tookNs) {
    // The minimum of two: one look may have been interrupted.
    final long wantedNs = SHARE * Math.min(tookNs, costNs);
    intervalNs = Math.min(Math.max(wantedNs, MIN_INTERVAL_NS), MAX_INTERVAL_NS);
    costNs = tookNs;
  }

  /** Called when a look has found something. */
  void foundSome() {
    intervalNs = Math.max(intervalNs / 2, MIN_INTERVAL_NS);
  }
}
