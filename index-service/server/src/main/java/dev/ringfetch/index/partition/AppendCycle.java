package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.AppendDescriptor;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.SizeClasses;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.EntryWalk;
import dev.ringfetch.index.v1.Appends;
import dev.ringfetch.index.v1.Entry;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The part of a partition's duty cycle for an index for appends: assigns each record its offset and
 * its time, and removes the oldest records beyond the limits of age and size. The removals are
 * records like those of entries that end at their deadlines, so members, a restart and watches need
 * nothing of their own.
 *
 * <p>Removals by size go by rounds. A round begins when the records exceed the limit, and ends when
 * its removals are applied, as only then the store knows how much memory that has given back. The
 * newest record is never removed: it tells readers where the partition ends, and the next owner the
 * time behind which its own must not go back.
 *
 * <p>Used by the owner alone.
 */
final class AppendCycle extends ExpiryCycle {
  /** Bytes of records at which a cycle ends its removals: it has read them all. */
  private static final int STEP_BYTES = 1 << 20;

  private final EntryStore store;
  private final Appends limits;
  private final EntryWalk walk = new EntryWalk(); // stands behind the following record
  private @Nullable Kept oldest; // of the records that are not being removed; null: unknown
  private @Nullable Kept following; // behind the oldest one; null: unknown
  private ByteString removed = ByteString.EMPTY; // key of the last removal, perhaps of a client
  private long excess; // bytes that the present round still has to remove
  private long seenBytes; // of the store, when the last work began
  private boolean hasNewestTime; // true once the time goes on from that of the newest record
  private boolean due;
  private boolean isRefused; // the next removal: the log has no room, or a deletion is under way
  private boolean isSet; // true while a wake-up is set

  /** A record that is kept, without its bytes: there are many partitions. */
  private record Kept(ByteString key, long timeMs, int valueLength) {}

  AppendCycle(EntryStore store, TimeSource time, Appends limits) {
    super(Objects.requireNonNull(store.expiry(), "the store keeps no deadlines"), time);
    this.store = store;
    this.limits = limits;
    walk.limit(1);
  }

  /** Assigns an append what the owner decides; other writes are refused later. */
  @Override
  void stamp(Write write, WriteCycle cycle) {
    if (!(write instanceof AppendWrite append)) {
      return;
    }
    goOnFromTheNewest();
    append.assign(cycle.appended() + 1, usedTime());
  }

  /** Goes on from the time of the newest record: the clock of its leader may have been ahead. */
  private void goOnFromTheNewest() {
    if (!hasNewestTime) {
      hasNewestTime = true;
      final Entry last = store.last();
      if (last != null) {
        goOnFrom(AppendDescriptor.time(last.getValue()));
      }
    }
  }

  /** Removes the oldest records beyond the limits, few in each cycle. */
  @Override
  void work(WriteCycle cycle) {
    goOnFromTheNewest();
    due = false;
    isRefused = false;
    seenBytes = store.bytes();
    if (limits.getRetentionMs() == 0 && limits.getRetentionBytes() == 0) {
      return;
    }
    if (removed.isEmpty() || !cycle.isChanging(removed)) {
      excess = limits.getRetentionBytes() == 0 ? 0 : seenBytes - limits.getRetentionBytes();
    }
    int left = LIMIT;
    int bytes = 0;
    while (left > 0 && hasTwo() && isDue(oldest) && cycle.mayRemove()) {
      if (store.version(following.key) == 0) { // a client has removed it
        following = null;
        continue;
      }
      if (cycle.isChanging(following.key) && cycle.isChanging(store.last().getKey())) {
        isRefused = true; // clients remove all that is behind the oldest: it may be the newest
        return;
      }
      if (!remove(oldest, cycle)) {
        isRefused = true;
        return;
      }
      bytes += oldest.valueLength;
      left = bytes < STEP_BYTES ? left - 1 : 0;
      oldest = following;
      following = null;
    }
    due = left == 0;
  }

  /** Looks up the two oldest records; false if there are fewer. */
  private boolean hasTwo() {
    oldest = oldest == null ? next() : oldest;
    following = oldest == null || following != null ? following : next();
    return following != null;
  }

  private @Nullable Kept next() {
    store.step(walk);
    final Entry next = walk.entries().isEmpty() ? null : walk.entries().get(0);
    walk.clear();
    return next == null
        ? null
        : new Kept(next.getKey(), AppendDescriptor.time(next.getValue()), next.getValue().size());
  }

  private boolean isDue(Kept record) {
    return excess > 0 || leftMs(record) <= 0;
  }

  /** How long a record is still to be kept. */
  private long leftMs(Kept record) {
    return limits.getRetentionMs() == 0
        ? Long.MAX_VALUE
        : record.timeMs + limits.getRetentionMs() - time();
  }

  /** Removes a record, unless a client does or has; returns false if the log refuses it. */
  private boolean remove(Kept record, WriteCycle cycle) {
    final ByteString key = record.key;
    if (store.version(key) != 0) {
      if (!cycle.isChanging(key) && !cycle.appendRemoval(new Write(NOBODY).expire(key))) {
        return false;
      }
      final long length = BlockDescriptor.length(key.size(), record.valueLength, false);
      excess -= SizeClasses.length(SizeClasses.of((int) length));
      removed = key;
    }
    return true;
  }

  /** Also if records were applied since the last work, and are too many. */
  @Override
  boolean isDue() {
    final long bytes = store.bytes();
    final long limit = limits.getRetentionBytes();
    return due || (limit != 0 && bytes > limit && bytes != seenBytes);
  }

  @Override
  void onCycleEnd() {
    if (limits.getRetentionMs() != 0) {
      hasTwo();
    }
  }

  @Override
  void wokenUp() {
    isSet = false;
  }

  @Override
  long wakeUpMs() {
    if (isSet || (!isRefused && (limits.getRetentionMs() == 0 || following == null))) {
      return -1;
    }
    isSet = true;
    return Math.min(Math.max(isRefused ? 0 : leftMs(oldest), TICK_MS), WAKE_UP_MAX_MS);
  }
}
