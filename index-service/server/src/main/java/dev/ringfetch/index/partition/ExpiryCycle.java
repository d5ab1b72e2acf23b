package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.ClockDescriptor;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.Expiry;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The part of a partition's duty cycle that ends entries at their deadlines. It appends a tick when
 * a deadline has come, so that the partition's clock is part of its log, and after it the removals
 * of the expired entries.
 *
 * <p>Validation uses the clock of the last tick appended; readers see the clock of the last tick
 * applied. So an answer that depends on a tick waits for its commit, as an answer that depends on
 * another record does.
 *
 * <p>The partition's time is the later of two: the host's wall clock, and the latest time that a
 * record has used (a tick's time, or the begin of a time to live) plus the running time since. So
 * the time never goes back behind a record, goes on if the wall clock is behind, and follows the
 * wall clock once that has caught up. A wall clock that is far ahead for a moment has no effect if
 * no record was appended then.
 *
 * <p>Used by the owner alone.
 */
class ExpiryCycle {
  /** Minimum of the time between two ticks for expiring entries. */
  static final long TICK_MS = 10;

  /** Limit of the clock's age when a deadline is assigned: the time that a restart can lose. */
  static final long WRITE_TICK_MS = 1_000;

  /** Limit of a wake-up's delay, as the host's clock may be set forward meanwhile. */
  static final long WAKE_UP_MAX_MS = 1_000;

  /** Number of deadlines that one cycle checks. */
  static final int LIMIT = 32;

  /**
   * The latest accepted time of a wall clock: a century before the end of all clocks, so that
   * deadlines that count from it can come.
   */
  static final long WALL_MAX_MS = ClockDescriptor.MAX_TIME - TimeUnit.DAYS.toMillis(36_525);

  private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(TICK_MS);

  /** The listener of records that no client waits for. */
  static final Write.Listener NOBODY = write -> {};

  private final Expiry expiry;
  private final TimeSource time;
  private long clock;

  /**
   * Minimum of the difference between the partition's time and the running time, in nanoseconds;
   * only grows.
   */
  private long aheadNs;

  private long runningNs; // at the last reading of the clocks
  private long now; // the partition's time then, in milliseconds since 1970
  private long tickedNs;
  private Write tick; // the newest uncommitted tick
  private boolean due;
  private boolean isSet; // true while a wake-up is set
  private long wakeUpAtNs;

  ExpiryCycle(Expiry expiry, TimeSource time) {
    this.expiry = expiry;
    this.time = time;
    clock = expiry.clock();
    runningNs = time.runningNs();
    aheadNs = nanos(clock) - runningNs;
    tickedNs = runningNs - TICK_NS;
  }

  /** The cycle of a store; null if that has no deadlines. */
  static @Nullable ExpiryCycle of(EntryStore store, PartitionContext context) {
    final TimeSource time = context.owner().time();
    if (context.appends() != null) {
      return new AppendCycle(store, time, context.appends());
    }
    return store.expiry() == null ? null : new ExpiryCycle(store.expiry(), time);
  }

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /**
   * Reads the clocks. The wall clock first: if the thread is suspended in between, the time goes on
   * from too small a value, not from too large a one.
   */
  private void look() {
    final long wallMs = Math.min(time.wallMs(), WALL_MAX_MS);
    runningNs = time.runningNs();
    now = Math.max(wallMs, Math.floorDiv(runningNs + aheadNs, nanos(1)));
  }

  /**
   * Notes that a record uses the time of the last reading: later records never use an earlier time.
   */
  private void use() {
    aheadNs = Math.max(aheadNs, nanos(now) - runningNs);
  }

  /** Reads the clocks; returns the partition's time, in milliseconds since 1970. */
  final long time() {
    look();
    return now;
  }

  /** Same, for a record: later ones never use an earlier time. */
  final long usedTime() {
    look();
    use();
    return now;
  }

  /** Goes on from a time that a record has used: no later time is less. */
  final void goOnFrom(long usedMs) {
    look();
    aheadNs = Math.max(aheadNs, nanos(usedMs) - runningNs);
  }

  /** Whether an entry with this deadline, 0 for none, is absent for later writes. */
  boolean hasEnded(long deadline) {
    return deadline != 0 && deadline <= clock;
  }

  /**
   * The clock of the last tick that was appended, in milliseconds since 1970; 0 if there is none.
   */
  long clock() {
    return clock;
  }

  /**
   * The uncommitted tick for which an answer that depends on the clock waits; null if it is
   * applied.
   */
  @Nullable Write tick() {
    return tick;
  }

  /** Whether any entry has or had a deadline. */
  boolean isUsed() {
    return clock != 0;
  }

  /**
   * Assigns a write its deadline, which is later than the clock: a touch may ask for one that has
   * passed, and gets the next possible one.
   */
  void stamp(Write write, WriteCycle cycle) {
    usedTime();
    write.deadline(write.endMs() == 0 ? now + write.ttlMs() : Math.max(write.endMs(), now + 1));
    if (now - clock > WRITE_TICK_MS) {
      append(new Write(NOBODY).tick(), cycle);
    }
  }

  /**
   * Reads the clocks; returns whether a deadline has passed that the partition's clock has not
   * reached. Also checked while expired entries are left, as a later entry may expire meanwhile.
   */
  boolean isTickDue() {
    look();
    return isDueNow();
  }

  private boolean isDueNow() {
    return clock < now && expiry.first() <= now;
  }

  /** Appends a tick with the time of the last reading; returns as {@link CommitLog#append}. */
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

  /** Publishes the clock of a committed tick to readers. */
  void apply(Write applied) {
    expiry.advance(applied.deadline());
    if (tick == applied) {
      tick = null;
    }
  }

  /** Removes entries whose deadlines have passed. */
  void work(WriteCycle cycle) {
    due = false;
    if (expiry.first() == Expiry.NONE) {
      return;
    }
    look();
    int left = LIMIT;
    // First skip entries that were replaced meanwhile: they need no tick.
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

  /** Looks up what {@link #wakeUpMs} needs of the store, after records were applied. */
  void onCycleEnd() {}

  /** Notes that the wake-up has happened. */
  void wokenUp() {
    isSet = false;
  }

  /**
   * The delay of the next wake-up in milliseconds; negative to leave the present one. Work that is
   * due at once or after a commit needs no wake-up, but if the log has no room, there is no other
   * event.
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
