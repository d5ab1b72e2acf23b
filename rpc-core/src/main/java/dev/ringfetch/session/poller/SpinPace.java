package dev.ringfetch.session.poller;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The adaptive spin time of a thread: the whole spin time where at least every other wait ends
 * within it, else {@link #LEAST_NS}, since then polling costs more than the wake-ups that it saves,
 * and keeps other threads from the processor, maybe the very peer that it waits for. Now and then a
 * whole spin time is tried again. In any case no more than the {@link SpinLimit}, which learns from
 * here when the processors are contended: the thread did not run for {@link #LOSS_NS} while it
 * polled, or waits as long for a processor whenever it is to run.
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

  /**
   * Time without a processor that is a loss, in nanoseconds: an interrupt, or a wake-up of a free
   * processor, takes less; a slice of another thread takes more.
   */
  static final long LOSS_NS = 200_000;

  /** Time between readings of the scheduler's counts while nothing looks like a loss. */
  static final long READ_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(250);

  /** Age of a reading that the next is not compared with. */
  static final long OLD_NS = TimeUnit.SECONDS.toNanos(1);

  private final long mostNs;
  private final long leastNs;
  private final SpinLimit limit;
  private final @Nullable Supplier<@Nullable SchedStat> scheduler;

  private int balance = MAX_BALANCE; // waits that have ended in time, less those that have not
  private int shortWaits;
  private long boundNs;

  private long lookedNs;
  private long readNs;
  private @Nullable Thread reader; // of the last reading
  private @Nullable SchedStat last;

  /**
   * Creates the pace.
   *
   * @param spinNs longest that is polled, in nanoseconds.
   * @param limit that holds besides.
   * @param scheduler reads the counts of the calling thread, null where there are none; null if the
   *     clock is not that of this machine.
   */
  public SpinPace(long spinNs, SpinLimit limit, @Nullable Supplier<@Nullable SchedStat> scheduler) {
    this.mostNs = spinNs;
    this.leastNs = Math.min(LEAST_NS, spinNs);
    this.limit = limit;
    this.scheduler = scheduler;
    this.boundNs = spinNs;
  }

  /** How long this wait lasts before the thread sleeps, in nanoseconds. */
  public long boundNs(long nowNs) {
    return Math.min(boundNs, limit.ns(nowNs));
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

  /**
   * Called with each reading of the clock.
   *
   * @param polled whether the thread did nothing but poll since the last one.
   */
  public void onLook(long nowNs, boolean polled) {
    final long gapNs = nowNs - lookedNs;
    lookedNs = nowNs;
    if (polled && gapNs >= LOSS_NS) {
      compare(nowNs, gapNs);
    }
  }

  /** Called now and then, whatever the thread does. */
  void onInterval(long nowNs) {
    if (nowNs - readNs >= READ_INTERVAL_NS) {
      compare(nowNs, 0);
    }
  }

  /** Compares the scheduler's counts with the last ones; a first gap only has them read. */
  private void compare(long nowNs, long gapNs) {
    if (scheduler == null || mostNs == 0) {
      return;
    }
    final SchedStat now = scheduler.get();
    final Thread thread = Thread.currentThread();
    if (now == null) {
      if (gapNs > 0) {
        limit.onPreempted(nowNs);
      }
    } else if (last != null && reader == thread && nowNs - readNs < OLD_NS) {
      if (now.throttled() > last.throttled()) {
        limit.onThrottled(nowNs);
      } else if (isPreempted(last, now, gapNs)) {
        limit.onPreempted(nowNs);
      }
    }
    last = now;
    reader = thread;
    readNs = nowNs;
  }

  /** False for a pause of the JVM, or of the machine: the scheduler knows nothing of it. */
  private static boolean isPreempted(SchedStat last, SchedStat now, long gapNs) {
    final long delayNs = now.runDelayNs() - last.runDelayNs();
    return gapNs > 0
        ? delayNs >= gapNs / 2
        : delayNs >= LOSS_NS * Math.max(1, now.slices() - last.slices());
  }
}
