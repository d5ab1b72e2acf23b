package dev.ringfetch.call;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.session.owner.SharedField;
import dev.ringfetch.session.poller.InlineTask;
import dev.ringfetch.session.poller.ProcessorTime;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.agrona.concurrent.NanoClock;

/**
 * The record of how long a method's handler, or the callbacks of its calls, keep their thread:
 * decides whether they are short enough to run on the poller's thread. This is measured, not
 * declared: short runs in the executor earn the trust, runs on the poller's thread keep or lose it.
 * Thread-safe.
 *
 * <p>A short run adds 1 to the count, a longer one subtracts {@value #PENALTY}, so that the count
 * grows only where less than one run in {@value #PENALTY} is longer. Long is a run by the clock and
 * by the processor time of its thread. One that is long by the clock alone subtracts {@value
 * #STALL_PENALTY}: its thread had no processor, which happens to all methods of a busy machine now
 * and then, or it waited, which a method that waits does each time. Processor time costs too much
 * to read it always: after a run that was long by the clock, {@value #DOUBTS} are measured, after
 * one that lost its thread the poller, {@value #LONG_DOUBTS}. That one itself counts as long by the
 * clock alone.
 *
 * <p>Each time the trust is lost, twice as many short runs are needed to earn it again; each
 * quarter of a second since then halves that number again.
 */
public final class TaskRecord implements InlineTask.RunRecord {
  /** Longest run that is short, in nanoseconds: about what a hand-over costs both threads. */
  public static final long SHORT_NS_DEFAULT = 10_000;

  /** A run that is longer than this many short ones counts as one that has delayed other calls. */
  static final int LONG = 5;

  static final int PENALTY = 32;

  /** Subtracted for a run that was long by the clock, and short or unknown by processor time. */
  static final int STALL_PENALTY = PENALTY / 4;

  /** Runs that are measured by processor time, too, after one that was long by the clock. */
  static final int DOUBTS = 2 * PENALTY;

  /** The same, after a run that kept the poller's thread until the backup thread took over. */
  static final int LONG_DOUBTS = 16 * PENALTY;

  /**
   * Two such runs within a few hundred lose the trust; a single one may be caused by the system.
   */
  static final int LONG_PENALTY = 8 * PENALTY;

  /** Upper limit of the count. */
  static final int MAX_CREDIT = 3 * LONG_PENALTY / 2;

  /** Short runs, net of penalties, by which trust is earned the first time. */
  public static final int RUNS_DEFAULT = 64;

  private static final int MAX_DOUBLINGS = 10;
  static final long HALVING_NS = 250_000_000;
  private static final VarHandle COUNT = SharedField.of(MethodHandles.lookup(), "count", int.class);

  private final NanoClock clock;
  private final int runs;
  private final long shortNs;

  private volatile boolean trusted;

  private volatile int doubts; // of several threads at once, some may count once

  /** Without trust: progress towards it. With trust: the penalties that may still be lost. */
  @SuppressWarnings("unused") // through COUNT
  private volatile int count;

  @GuardedBy("this")
  private int doublings;

  @GuardedBy("this")
  private long lostNs;

  private volatile int needed;

  /**
   * Creates the record of a method that was never called.
   *
   * @param runs short ones, net of penalties, by which trust is earned the first time; 0 to begin
   *     with it.
   * @param shortNs longest run that is short, in nanoseconds.
   */
  public TaskRecord(NanoClock clock, int runs, long shortNs) {
    this.clock = clock;
    this.runs = runs;
    this.shortNs = shortNs;
    this.needed = runs;
    this.trusted = runs == 0;
  }

  /** True when a call may run on the poller's thread. */
  boolean isTrusted() {
    return trusted;
  }

  @Override
  public boolean isDoubtful() {
    return doubts > 0;
  }

  /**
   * Counts a run in the executor.
   *
   * @param durationNs for which it kept its thread.
   * @param processorNs for which its thread has computed, or {@link ProcessorTime#UNKNOWN}.
   * @param parts of the run: it is as long as one of them, on average.
   */
  void ranElsewhere(long durationNs, long processorNs, int parts) {
    if (trusted) {
      return; // from other calls that were handed over before
    }
    if (isLong(durationNs / parts)) {
      penalize(processorNs / parts > shortNs ? PENALTY : STALL_PENALTY, 0);
    } else if ((int) COUNT.getAndAdd(this, 1) + 1 >= needed) {
      trust();
    }
  }

  @Override
  public void ranInline(long durationNs, long processorNs, int parts) {
    if (isLong(durationNs / parts)) {
      final long computedNs = processorNs / parts;
      lose(
          computedNs <= shortNs
              ? STALL_PENALTY
              : computedNs > LONG * shortNs ? LONG_PENALTY : PENALTY);
    } else if (count < MAX_CREDIT && trusted) {
      COUNT.getAndAdd(this, 1);
    }
  }

  private boolean isLong(long durationNs) {
    if (durationNs > shortNs) {
      doubts = Math.max(doubts, DOUBTS);
      return true;
    }
    final int left = doubts;
    if (left > 0) {
      doubts = left - 1;
    }
    return false;
  }

  @Override
  public void overran(boolean waits) {
    doubts = LONG_DOUBTS; // the next one's time is known
    lose(waits ? Integer.MAX_VALUE : PENALTY);
  }

  private void lose(int penalty) {
    if (trusted && penalize(penalty, -1) < 0) {
      distrust();
    }
  }

  /** Subtracts a penalty, down to a minimum; returns the new count. */
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
