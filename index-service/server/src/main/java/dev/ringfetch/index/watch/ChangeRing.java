package dev.ringfetch.index.watch;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.partition.ChangeListener;
import dev.ringfetch.index.partition.Write;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The newest changes of a partition, in a ring to which the partition's owner appends while there
 * are watches. The oldest changes are dropped when the ring exceeds its share of the memory, so no
 * reader delays the owner. Changes are numbered from 0; a late reader finds that a number is gone.
 *
 * <p>On a member of a group the replica's owner appends, within a smaller limit, so that watches
 * can resume if the member becomes the leader; from then on the partition's owner appends.
 *
 * <p>The owner appends, any threads read.
 */
public final class ChangeRing implements ChangeListener {
  /** Number of a change that is not in the ring. */
  static final long GONE = -1;

  private static final int SLOTS_MIN = 64;

  /** Limit of the bytes of a member's ring, which has no watches yet. */
  private static final long MEMBER_BYTES = 4L << 20;

  private record Slot(long number, Change change) {}

  private final RingBudget budget;
  private Runnable alarm; // used by the owner from the begin on

  // Stored by the owner. A reader loads the newest number before the slots, and the slots before
  // the oldest number.
  private volatile AtomicReferenceArray<Slot> slots = new AtomicReferenceArray<>(SLOTS_MIN);
  private volatile long end;
  private volatile long oldest;

  /** LSN after which the ring has all changes, and up to which it has none. */
  private volatile long floor;

  /** LSN of the newest change, or LSN at which the ring began. */
  private volatile long last;

  // The owner's.
  private long bytes;
  private boolean alarming;
  private long limit = Long.MAX_VALUE;

  /** LSN of the last processed record; -1 before the begin. */
  private long covered = -1;

  /**
   * Creates a ring, which the owner begins later.
   *
   * @param alarm run by the owner after changes; must not block
   */
  public ChangeRing(RingBudget budget, Runnable alarm) {
    this.budget = budget;
    this.alarm = alarm;
    budget.add();
  }

  /** Releases its share of memory. Called once, when the ring is no longer used. */
  public void close() {
    budget.remove();
  }

  /**
   * Creates the ring of a member's partition.
   *
   * @param lsn the changes after this LSN come
   */
  public static ChangeRing ofMember(RingBudget budget, long lsn) {
    final ChangeRing ring = new ChangeRing(budget, () -> {});
    ring.limit = MEMBER_BYTES;
    ring.begin(lsn);
    return ring;
  }

  /**
   * Notes that the member leads from now on. Called once, before the partition's owner gets the
   * ring.
   */
  public void lead(Runnable alarmOfLeader) {
    alarm = alarmOfLeader;
    limit = Long.MAX_VALUE;
  }

  /** Processes the next applied record of a member's partition. */
  public void onRecord(JournalRecord record) {
    covered = record.lsn();
    final Change change = Change.of(record);
    if (change != null) {
      append(change);
    }
  }

  /** Begins the ring; a ring with all changes up to this LSN keeps them. */
  @Override
  public void begin(long lsn) {
    if (lsn != covered) {
      floor = lsn;
      covered = lsn;
    }
    last = lsn;
  }

  @Override
  public void onChange(Write write) {
    final Change change = Change.of(write);
    if (change != null) {
      append(change);
    }
  }

  private void append(Change change) {
    final long number = end;
    if (number - oldest == slots.length()) {
      grow(number);
    }
    slots.set(slot(slots, number), new Slot(number, change));
    bytes += change.bytes();
    trim(number);
    end = number + 1;
    last = change.version(); // after the end: a reader that begins at the last LSN gets all later
    // changes
    alarming = true;
  }

  private void grow(long number) {
    final AtomicReferenceArray<Slot> before = slots;
    final AtomicReferenceArray<Slot> wider = new AtomicReferenceArray<>(2 * before.length());
    for (long i = oldest; i < number; i++) {
      wider.setPlain(slot(wider, i), before.get(slot(before, i)));
    }
    slots = wider;
  }

  /** Drops the oldest changes, except the one with this number. */
  private void trim(long newest) {
    final long share = Math.min(limit, budget.share());
    long first = oldest;
    while (bytes > share && first < newest) {
      final int at = slot(slots, first);
      final Change dropped = slots.get(at).change();
      floor = dropped.version(); // before the slot is cleared: a reader checks in reverse order
      first++;
      oldest = first;
      slots.set(at, null);
      bytes -= dropped.bytes();
    }
  }

  @Override
  public void onCycleEnd() {
    if (alarming) {
      alarming = false;
      alarm.run();
    }
  }

  private static int slot(AtomicReferenceArray<Slot> array, long number) {
    return (int) (number & (array.length() - 1));
  }

  private Slot at(long number) {
    final AtomicReferenceArray<Slot> array = slots;
    final Slot slot = array.get(slot(array, number));
    return slot != null && slot.number() == number ? slot : null;
  }

  /** LSN of the newest change, or of the ring's begin. */
  public long last() {
    return last;
  }

  /** The smallest LSN after which the ring has all changes. */
  public long floor() {
    return floor;
  }

  /** Whether the change with this number is still to come. */
  boolean isEnd(long number) {
    return number >= end;
  }

  /** The change with a number before the {@linkplain #isEnd end}; null if it is gone. */
  @Nullable Change change(long number) {
    final Slot slot = at(number);
    return slot == null ? null : slot.change();
  }

  /**
   * Number of the first change after an LSN; {@link #GONE} if the ring lacks some of the later
   * changes.
   */
  long numberAfter(long lsn) {
    while (true) {
      long high = end;
      long low = oldest;
      if (lsn < floor) {
        return GONE;
      }
      boolean moved = false;
      while (low < high && !moved) {
        final long middle = (low + high) >>> 1;
        final Slot slot = at(middle);
        moved = slot == null; // the owner was faster
        if (!moved && slot.change().version() <= lsn) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      if (!moved) {
        return low;
      }
    }
  }

  /** Limit of the bytes of the ring at the moment. */
  public long share() {
    return budget.share();
  }
}
