package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.ClockDescriptor;
import dev.ringfetch.index.store.Expiry;
import java.util.concurrent.TimeUnit;

/**
 * The part of a partition's duty cycle that ends entries at their deadlines. It appends a tick when
 * a deadline has come, so that the partition's clock is part of its log, and the removals of the
 * entries that have ended behind it.
 *
 * <p>The clock of validation is that of the last tick appended; readers see that of the last one
 * applied. So an answer that rests on a tick waits for its commit, as one that rests on another
 * record does.
 *
 * <p>The partition's time is the later of two: the host's wall clock, and the latest time that a
 * record has used (a tick's, or that from which a deadline counts), plus the running time since. So
 * it never goes back behind a record, runs on where the wall clock is behind, and follows the wall
 * clock as soon as that has caught up. A wall clock that is far ahead for a moment leaves no trace
 * if no record was appended then.
 *
 * <p>The owner only.
 */
final class ExpiryCycle {
  /** The least time between two ticks for entries that end. */
  static final long TICK_MS = 10;

  /** How old the clock may be when a deadline is given out: what a restart can lose of it. */
  static final long WRITE_TICK_MS = 1_000;

  /** How long a wake-up waits at most: then the host's clock may have been set forward. */
  static final long WAKE_UP_MAX_MS = 1_000;

  /** Deadlines that one cycle looks at. */
  static final int LIMIT = 32;

  /**
   * The latest time that a wall clock is believed: a century before the end of all clocks, so that
   * deadlines that count from it can come.
   */
  static final long WALL_MAX_MS = ClockDescriptor.MAX_TIME - TimeUnit.DAYS.toMillis(36_525);

  private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(TICK_MS);

  private static final Write.Listener NOBODY = write -> {};

  private final Expiry expiry;
  private final TimeSource time;
  private long clock;

  /**
   * By how much the partition's time is ahead of the running time at least, in nanoseconds; only
   * grows.
   */
  private long aheadNs;

  private long runningNs; // at the last look at the clocks
  private long now; // the partition's time then, in milliseconds since 1970
  private long tickedNs;
  private Write tick; // the newest one that is not committed
  private boolean due;
  private boolean isSet; // a wake-up is to come
  private long wakeUpAtNs;

  ExpiryCycle(Expiry expiry, TimeSource time) {
    this.expiry = expiry;
    this.time = time;
    clock = expiry.clock();
    runningNs = time.runningNs();
    aheadNs = nanos(clock) - runningNs;
    tickedNs = runningNs - TICK_NS;
  }

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /**
   * Looks at the clocks. At the wall clock first: if the thread stands still in between, the time
   * runs on from too little, and not from too much.
   */
  private void look() {
    final long wallMs = Math.min(time.wallMs(), WALL_MAX_MS);
    runningNs = time.runningNs();
    now = Math.max(wallMs, Math.floorDiv(runningNs + aheadNs, nanos(1)));
  }

  /** Notes that a record uses the time of the last look: no later one does with less. */
  private void use() {
    aheadNs = Math.max(aheadNs, nanos(now) - runningNs);
  }

  /** Whether an entry with this deadline, 0 for none, is absent for the writes that follow. */
  boolean hasEnded(long deadline) {
    return deadline != 0 && deadline <= clock;
  }

  /**
   * The clock of the last tick that was appended, in milliseconds since 1970; 0 if there is none.
   */
  long clock() {
    return clock;
  }

  /** The record that an answer waits for which rests on the clock; null if it is applied. */
  Write tick() {
    return tick;
  }

  /** Whether any entry has or had a deadline. */
  boolean isUsed() {
    return clock != 0;
  }

  /** Gives a write its deadline, which is later than the clock. */
  void stamp(Write write, WriteCycle cycle) {
    look();
    use();
    write.deadline(now + write.ttlMs());
    if (now - clock > WRITE_TICK_MS) {
      append(new Write(NOBODY).tick(), cycle);
    }
  }

  /**
   * Looks at the clocks; returns whether a deadline has come that the partition's clock has not.
   * Also while entries that have ended are left: behind the first there may be one that has not.
   */
  boolean isTickDue() {
    look();
    return isDueNow();
  }

  private boolean isDueNow() {
    return clock < now && expiry.first() <= now;
  }

  /** Appends a tick, of the last look at the clocks, as {@link CommitLog#append}. */
  long append(Write write, WriteCycle cycle) {
    tickedNs = runningNs;
    write.deadline(now);
    final long lsn = cycle.appendTick(write);
    if (lsn >= 0) {
      use();
      clock = now;
      tick = write;
    }
    return lsn;
  }

  /** Shows readers the clock of a tick that is committed. */
  void apply(Write applied) {
    expiry.advance(applied.deadline());
    if (tick == applied) {
      tick = null;
    }
  }

  /** Ends entries, if deadlines have come. */
  void work(WriteCycle cycle) {
    due = false;
    if (expiry.first() == Expiry.NONE) {
      return;
    }
    look();
    int left = LIMIT;
    // First: a tick for an entry that was replaced meanwhile would be one for nothing.
    while (expiry.first() <= now && left > 0 && expiry.firstKey() == null) {
      expiry.removeFirst();
      left--;
    }
    if (isDueNow() && runningNs - tickedNs >= TICK_NS) {
      append(new Write(NOBODY).tick(), cycle);
    }
    while (expiry.first() <= clock && left > 0 && cycle.mayRemove()) {
      left--;
      final ByteString key = expiry.firstKey();
      if (key != null
          && !cycle.isChanging(key)
          && !cycle.appendRemoval(new Write(NOBODY).expire(key))) {
        return; // the log has no room now: again after the next wake-up
      }
      expiry.removeFirst();
    }
    due = left == 0;
  }

  /** Whether there is more to do at once. */
  boolean isDue() {
    return due;
  }

  /** Notes that the wake-up has come. */
  void wokenUp() {
    isSet = false;
  }

  /**
   * After how many milliseconds a wake-up is to come, if not as before; negative: no other one than
   * before. What is left to do at once, or after a commit, needs none; but where the log has no
   * room, nothing else comes.
   */
  long wakeUpMs() {
    final long first = expiry.first();
    if (first == Expiry.NONE) {
      return -1;
    }
    look();
    final long sinceTickMs = Math.floorDiv(runningNs - tickedNs, nanos(1));
    final long untilTick = first <= clock ? TICK_MS : TICK_MS - sinceTickMs;
    final long delay = Math.min(Math.max(Math.max(first - now, untilTick), 1), WAKE_UP_MAX_MS);
    final long at = runningNs + nanos(delay);
    if (isSet && wakeUpAtNs - at <= 0) {
      return -1;
    }
    isSet = true;
    wakeUpAtNs = at;
    return delay;
  }
}
