package dev.ringfetch.call;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.agrona.concurrent.NanoClock;

/**
 * What is known of how long a method's handler keeps a thread: whether its calls are short enough
 * to be run in the poller's thread. Measured, not declared: runs in the executor earn the trust,
 * runs in the poller's thread keep or lose it. Thread-safe.
 *
 * <p>A short run counts one up, a longer one {@value #PENALTY} down, so that the count grows only
 * where fewer than one in so many are longer. Each time that the trust is lost it takes twice as
 * many short runs to earn it again; each quarter of a second since then takes half of that back.
 */
public final class HandlerRecord {
  /** Longest run that is short, in nanoseconds: about what a hand-over costs both threads. */
  public static final long SHORT_NS_DEFAULT = 10_000;

  /** A run that is longer than so many short ones has kept others waiting. */
  static final int LONG = 5;

  static final int PENALTY = 32;

  /** Two within a few hundred runs lose the trust, one may be the system's doing. */
  static final int LONG_PENALTY = 8 * PENALTY;

  /** Most that a method has to lose. */
  static final int MAX_CREDIT = 3 * LONG_PENALTY / 2;

  /** Short runs, net of penalties, by which trust is earned the first time. */
  public static final int RUNS_DEFAULT = 64;

  private static final int MAX_DOUBLINGS = 10;
  static final long HALVING_NS = 250_000_000;
  private static final VarHandle COUNT;

  static {
    try {
      COUNT = MethodHandles.lookup().findVarHandle(HandlerRecord.class, "count", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final NanoClock clock;
  private final int runs;
  private final long shortNs;

  private volatile boolean trusted;

  /** Towards the trust, while there is none; else what is left to lose. */
  @SuppressWarnings("unused") // through COUNT
  private volatile int count;

  // Guarded by this.
  private int doublings;
  private long lostNs;

  private volatile int needed;

  /**
   * Creates the record of a method that was never called.
   *
   * @param runs short ones, net of penalties, by which trust is earned the first time; 0 to begin
   *     with it.
   * @param shortNs longest run that is short, in nanoseconds.
   */
  public HandlerRecord(NanoClock clock, int runs, long shortNs) {
    this.clock = clock;
    this.runs = runs;
    this.shortNs = shortNs;
    this.needed = runs;
    this.trusted = runs == 0;
  }

  /** True when a call may run in the poller's thread. */
  boolean isTrusted() {
    return trusted;
  }

  /** A run in the executor has kept its thread for so long. */
  void ranElsewhere(long durationNs) {
    if (trusted) {
      return; // of others that were handed over before
    }
    if (durationNs > shortNs) {
      penalize(PENALTY, 0);
    } else if ((int) COUNT.getAndAdd(this, 1) + 1 >= needed) {
      trust();
    }
  }

  /** A run in the poller's thread has kept it for so long. */
  void ranInline(long durationNs) {
    if (durationNs > shortNs) {
      lose(durationNs > LONG * shortNs ? LONG_PENALTY : PENALTY);
    } else if (count < MAX_CREDIT && trusted) {
      COUNT.getAndAdd(this, 1);
    }
  }

  /**
   * A run keeps the poller's thread, and another has taken its place.
   *
   * @param waits whether it was found to wait: that is the handler's doing, and no chance.
   */
  void overran(boolean waits) {
    lose(waits ? Integer.MAX_VALUE : LONG_PENALTY);
  }

  private void lose(int penalty) {
    if (trusted && penalize(penalty, -1) < 0) {
      distrust();
    }
  }

  /** Counts down, not below a least; returns what it comes to. */
  private int penalize(int penalty, int least) {
    int before;
    int after;
    do {
      before = count;
      after = Math.max(before - penalty, least);
    } while (before != after && !COUNT.compareAndSet(this, before, after));
    return after;
  }

  private synchronized void trust() {
    if (!trusted) {
      COUNT.setVolatile(this, MAX_CREDIT);
      trusted = true;
    }
  }

  private synchronized void distrust() {
    if (!trusted) {
      return;
    }
    final long now = clock.nanoTime();
    final long halvings = doublings == 0 ? 0 : (now - lostNs) / HALVING_NS;
    lostNs = now;
    doublings = (int) Math.max(0, doublings - halvings);
    doublings = Math.min(doublings + 1, MAX_DOUBLINGS);
    needed = runs << doublings;
    trusted = false;
    COUNT.setVolatile(this, 0);
  }
}
