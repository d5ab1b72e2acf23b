package dev.ringfetch.session.poller;

/**
 * The strategy for inline tasks: when the {@link BackupThread} looks at the poller, when it takes
 * it over, and when it rests, given the result of each look. Used by one thread.
 */
final class InlinePatience {
  /** Time over which calls are counted to find whether the looks are worth it, in nanoseconds. */
  static final long WINDOW_NS = 1_000_000;

  /** A task that keeps its thread for longer than this loses the poller, in nanoseconds. */
  static final long PATIENCE_NS = 60_000;

  /** Between looks at first; the system adds some 50 us to it. */
  static final long PAUSE_NS = 50_000;

  /** Between looks when nothing has happened for {@link #CALM_NS}. */
  static final long LONG_PAUSE_NS = 200_000;

  /** How long looks are frequent after a takeover. */
  static final long CALM_NS = 100_000_000;

  private static final long LEAST_PAUSE_NS = 20_000;

  /**
   * A backup thread that wakes this much late did not get a processor, and the poller may not have
   * got one either: it looks again.
   */
  static final long LATE_NS = 150_000;

  private final int leastPerWindow;

  private long standsNs;
  private long windowNs;
  private long windowCalls;
  private long dueNs;
  private long lentNs; // as of the last look that found a lease

  /**
   * Creates the watch.
   *
   * @param leastPerWindow tasks in {@link #WINDOW_NS} that are worth the looks.
   */
  InlinePatience(int leastPerWindow) {
    this.leastPerWindow = leastPerWindow;
  }

  /** Starts with another thread, as the one before may have taken the poller over. */
  void stand(long nowNs, long calls) {
    standsNs = nowNs;
    begin(nowNs, calls);
  }

  /** Begins to look, after a rest. */
  void begin(long nowNs, long calls) {
    windowNs = nowNs;
    windowCalls = calls;
    dueNs = nowNs;
  }

  /**
   * One look.
   *
   * @param lent whether a task runs under a lease.
   * @param lentAtNs since when, if it is.
   * @param calls tasks that were run so far.
   * @return nanoseconds until the next look, {@link Patience#REST} or {@link Patience#TAKE}.
   */
  long look(long nowNs, boolean lent, long lentAtNs, long calls) {
    final boolean quiet = isQuiet(nowNs, calls);
    if (!lent) {
      return quiet
          ? Patience.REST
          : pause(nowNs, nowNs - standsNs < CALM_NS ? PAUSE_NS : LONG_PAUSE_NS);
    }
    final boolean again = lentAtNs == lentNs;
    lentNs = lentAtNs;
    final long remainingNs = PATIENCE_NS - (nowNs - lentAtNs);
    if (remainingNs <= 0 && (nowNs - dueNs < LATE_NS || again)) {
      return Patience.TAKE;
    }
    return pause(nowNs, Math.max(LEAST_PAUSE_NS, Math.min(PAUSE_NS, remainingNs)));
  }

  /** The beginning of the lease that is to be taken over. */
  long lentAtNs() {
    return lentNs;
  }

  private long pause(long nowNs, long pauseNs) {
    dueNs = nowNs + pauseNs;
    return pauseNs;
  }

  private boolean isQuiet(long nowNs, long calls) {
    if (nowNs - windowNs < WINDOW_NS) {
      return false;
    }
    final boolean quiet = calls - windowCalls < leastPerWindow;
    windowNs = nowNs;
    windowCalls = calls;
    return quiet;
  }
}
