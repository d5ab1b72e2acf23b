package dev.ringfetch.session.poller;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The limit of the spin time of a poller and its callers, on a machine whose processors other
 * threads want, too. A <i>loss</i> is that a spinning thread loses its processor, or that the
 * process runs out of its quota: it halves the limit, the third one in a row leaves none. A calm
 * second doubles it. A loss right after that doubles the time until the next attempt, up to {@link
 * #MAX_PAUSE_NS}.
 *
 * <table>
 *   <caption>limit of 50 us</caption>
 *   <tr><th>losses</th><th>limit</th><th>after a calm second</th></tr>
 *   <tr><td>0</td><td>50 us</td><td></td></tr>
 *   <tr><td>1</td><td>25 us</td><td>50 us</td></tr>
 *   <tr><td>2</td><td>12.5 us</td><td>25 us</td></tr>
 *   <tr><td>3 and more</td><td>none</td><td>12.5 us</td></tr>
 * </table>
 *
 * <p>Any thread.
 */
public final class SpinLimit {
  /** Losses in a row after which no time is left. */
  static final int MAX_HALVINGS = 3;

  /** Time without a loss after which the limit is doubled. */
  static final long CALM_NS = TimeUnit.SECONDS.toNanos(1);

  /** Longest time without a loss that is needed once attempts have failed. */
  static final long MAX_PAUSE_NS = TimeUnit.SECONDS.toNanos(30);

  private final long mostNs;
  private final AtomicLong preempted = new AtomicLong();
  private final AtomicLong throttled = new AtomicLong();

  private volatile long limitNs;
  private volatile long dueNs; // of the next look, if it is awaited
  private volatile boolean awaited;

  private int halvings;
  private boolean trying; // the limit was doubled a moment ago
  private long pauseNs = CALM_NS;

  /**
   * Creates the limit.
   *
   * @param mostNs the limit without losses, in nanoseconds.
   */
  SpinLimit(long mostNs) {
    this.mostNs = mostNs;
    this.limitNs = mostNs;
  }

  /** The limit, in nanoseconds. */
  long ns() {
    return limitNs;
  }

  /** The limit at a time of the clock, in nanoseconds. */
  long ns(long nowNs) {
    if (awaited && nowNs - dueNs >= 0) {
      onCalm(nowNs);
    }
    return limitNs;
  }

  private synchronized void onCalm(long nowNs) {
    if (!awaited || nowNs - dueNs < 0) {
      return; // another thread was here
    }
    if (trying) {
      pauseNs = CALM_NS; // it has succeeded
    }
    trying = halvings > 0;
    awaited = trying;
    if (trying) {
      halvings--;
      dueNs = nowNs + CALM_NS;
      update();
    }
  }

  /** Notes that another thread got the processor. */
  void onPreempted(long nowNs) {
    preempted.getAndIncrement();
    onLoss(nowNs);
  }

  /** Notes that the process's control group has used its quota up. */
  void onThrottled(long nowNs) {
    throttled.getAndIncrement();
    onLoss(nowNs);
  }

  private synchronized void onLoss(long nowNs) {
    if (trying) {
      trying = false;
      pauseNs = Math.min(2 * pauseNs, MAX_PAUSE_NS);
    }
    if (halvings < MAX_HALVINGS) {
      halvings++;
      update();
    }
    dueNs = nowNs + pauseNs;
    awaited = true;
  }

  private void update() {
    limitNs = halvings == MAX_HALVINGS ? 0 : mostNs >> halvings;
  }

  /** Number of losses to other threads so far. */
  long preempted() {
    return preempted.get();
  }

  /** Number of losses to the quota so far. */
  long throttled() {
    return throttled.get();
  }
}
