package dev.ringfetch.session.poller;

/**
 * When a thread that stands by looks at a poller's duty, when it takes it over and when it need not
 * look any more. Told what each look has found; one thread.
 */
public final class InlinePatience {
  /** Time over which calls are counted to find whether the looks are worth it, in nanoseconds. */
  static final long WINDOW_NS = 1_000_000;

  /** A task that keeps its thread for so long has lost the duty, in nanoseconds. */
  static final long PATIENCE_NS = 60_000;

  /** Between looks at first; the system adds some 50 us to it. */
  static final long PAUSE_NS = 50_000;

  /** Between looks when nothing has happened for {@link #CALM_NS}. */
  static final long LONG_PAUSE_NS = 200_000;

  /** For so long after a takeover looks are frequent. */
  static final long CALM_NS = 100_000_000;

  private static final long LEAST_PAUSE_NS = 20_000;

  /** Who wakes so much late was kept from running, as the poller may have been: it looks again. */
  static final long LATE_NS = 150_000;

  private final int leastPerWindow;

  private long standsNs;
  private long windowNs;
  private long windowCalls;
  private long dueNs;
  private long lentNs; // as of the last look that found it so

  /**
   * Creates the watch.
   *
   * @param leastPerWindow tasks in {@link #WINDOW_NS} that are worth the looks.
   */
  InlinePatience(int leastPerWindow) {
    this.leastPerWindow = leastPerWindow;
  }

  /** Another thread looks from now on: one that was there before may have taken the duty over. */
  void stand(long nowNs, long calls) {
    standsNs = nowNs;
    begin(nowNs, calls);
  }

  /** Looks from now on, after a rest. */
  void begin(long nowNs, long calls) {
    windowNs = nowNs;
    windowCalls = calls;
    dueNs = nowNs;
  }

  /**
   * One look.
   *
   * @param lent whether a task runs, and the duty is nobody's.
   * @param lentAtNs since when, if it is.
   * @param calls tasks that were run so far.
   * @return nanoseconds until the next look, {@link BackupThread#REST} or {@link
   *     BackupThread#TAKE}.
   */
  long look(long nowNs, boolean lent, long lentAtNs, long calls) {
    final boolean quiet = isQuiet(nowNs, calls);
    if (!lent) {
      return quiet
          ? BackupThread.REST
          : pause(nowNs, nowNs - standsNs < CALM_NS ? PAUSE_NS : LONG_PAUSE_NS);
    }
    final boolean again = lentAtNs == lentNs;
    lentNs = lentAtNs;
    final long remainingNs = PATIENCE_NS - (nowNs - lentAtNs);
    if (remainingNs <= 0 && (nowNs - dueNs < LATE_NS || again)) {
      return BackupThread.TAKE;
    }
    return pause(nowNs, Math.max(LEAST_PAUSE_NS, Math.min(PAUSE_NS, remainingNs)));
  }

  /** Since when the duty was lent that is to be taken over. */
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
