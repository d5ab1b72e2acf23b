package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.store.Expiry;

/**
 * The part of a partition's duty cycle that ends entries at their deadlines. It appends a tick when
 * a deadline has come, so that the partition's clock is part of its log, and the removals of the
 * entries that have ended behind it.
 *
 * <p>The clock of validation is that of the last tick appended; readers see that of the last one
 * applied. So an answer that rests on a tick waits for its commit, as one that rests on another
 * record does. The clock follows the {@link TimeSource}, and never goes back: where it was ahead of
 * the time at the begin, as the host's clock was set back meanwhile, it stays ahead by as much.
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

  private static final Write.Listener NOBODY = write -> {};

  private final Expiry expiry;
  private final TimeSource time;
  private final long lead;
  private long clock;
  private long tickedMs;
  private Write tick; // the newest one that is not committed
  private boolean due;
  private long wakeUpAtMs = Long.MAX_VALUE; // if one is to come

  ExpiryCycle(Expiry expiry, TimeSource time) {
    this.expiry = expiry;
    this.time = time;
    clock = expiry.clock();
    lead = clock == 0 ? 0 : Math.max(0, clock - time.nowMs());
    tickedMs = Long.MIN_VALUE / 2;
  }

  private long nowMs() {
    return Math.max(clock, time.nowMs() + lead);
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
    final long now = nowMs();
    write.deadline(now + write.ttlMs());
    if (now - clock > WRITE_TICK_MS) {
      append(new Write(NOBODY).tick(), now, cycle);
    }
  }

  /** Whether a deadline has come that the clock has not. */
  boolean isTickDue() {
    return isTickDue(nowMs());
  }

  /**
   * Also while entries that have ended are left: behind the first there may be one that has not.
   */
  private boolean isTickDue(long now) {
    return clock < now && expiry.first() <= now;
  }

  /** Appends a tick that was submitted, as {@link CommitLog#append}. */
  long append(Write write, WriteCycle cycle) {
    return append(write, nowMs(), cycle);
  }

  private long append(Write write, long now, WriteCycle cycle) {
    tickedMs = now;
    write.deadline(now);
    final long lsn = cycle.appendTick(write);
    if (lsn >= 0) {
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
    final long now = nowMs();
    int left = LIMIT;
    // First: a tick for an entry that was replaced meanwhile would be one for nothing.
    while (expiry.first() <= now && left > 0 && expiry.firstKey() == null) {
      expiry.removeFirst();
      left--;
    }
    if (isTickDue(now) && now - tickedMs >= TICK_MS) {
      append(new Write(NOBODY).tick(), now, cycle);
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
    wakeUpAtMs = Long.MAX_VALUE;
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
    final long now = nowMs();
    final long untilTick = first <= clock ? TICK_MS : tickedMs + TICK_MS - now;
    final long delay = Math.min(Math.max(Math.max(first - now, untilTick), 1), WAKE_UP_MAX_MS);
    if (wakeUpAtMs <= now + delay) {
      return -1;
    }
    wakeUpAtMs = now + delay;
    return delay;
  }
}
