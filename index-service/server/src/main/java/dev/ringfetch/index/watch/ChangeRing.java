package dev.ringfetch.index.watch;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.partition.ChangeListener;
import dev.ringfetch.index.partition.Write;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The newest changes of a partition, in a ring that its owner appends to, as long as there are
 * watches of it. The oldest ones go when the ring has more than its share of the memory: no reader
 * holds the owner up. Changes are numbered from 0; a reader that comes too late finds that a number
 * is gone.
 *
 * <p>On a member of a group the replica's owner appends, within a smaller limit, so that watches go
 * on where the member becomes the leader: then the partition's owner does.
 *
 * <p>The owner appends, any threads read.
 */
public final class ChangeRing implements ChangeListener {
  /** Number of a change that the ring has not. */
  static final long GONE = -1;

  private static final int SLOTS_MIN = 64;

  /** The most bytes of a ring that nobody can watch yet. */
  private static final long MEMBER_BYTES = 4L << 20;

  private record Slot(long number, Change change) {}

  private final RingBudget budget;
  private Runnable alarm; // the owner's from the begin on

  // Each store by the owner. A reader loads the newest number before the slots, the slots before
  // the oldest number.
  private volatile AtomicReferenceArray<Slot> slots = new AtomicReferenceArray<>(SLOTS_MIN);
  private volatile long end;
  private volatile long oldest;

  /** LSN up to which the ring has nothing, and after which it has all. */
  private volatile long floor;

  /** LSN of the newest change, or that at which the ring began. */
  private volatile long last;

  // The owner's.
  private long bytes;
  private boolean alarming;
  private long limit = Long.MAX_VALUE;

  /** LSN of the last record that was looked at; -1 before the begin. */
  private long covered = -1;

  /**
   * Creates a ring, which begins when the owner says so.
   *
   * @param alarm is run after changes came, by the owner, and must not block
   */
  public ChangeRing(RingBudget budget, Runnable alarm) {
    this.budget = budget;
    this.alarm = alarm;
    budget.add();
  }

  /** Gives its share of memory to other rings. Called once, when nothing uses it any more. */
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

  /** The member leads from now on. Called once, before the partition's owner gets the ring. */
  public void lead(Runnable alarmOfLeader) {
    alarm = alarmOfLeader;
    limit = Long.MAX_VALUE;
  }

  /** Takes the next record of a member's partition, once it is applied. */
  public void onRecord(JournalRecord record) {
    covered = record.lsn();
    final Change change = Change.of(record);
    if (change != null) {
      append(change);
    }
  }

  /** A ring that has all up to this LSN keeps what it has. */
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
    last = change.version(); // behind the end: a reader that begins at the last has all that follow
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

  /** Gives the oldest changes up, but never the one with this number. */
  private void trim(long newest) {
    final long share = Math.min(limit, budget.share());
    long first = oldest;
    while (bytes > share && first < newest) {
      final int at = slot(slots, first);
      final Change dropped = slots.get(at).change();
      floor = dropped.version(); // before the slot is empty: a reader looks in reverse
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

  /** Whether the change of this number will come. */
  boolean isEnd(long number) {
    return number >= end;
  }

  /** The change of a number that is not the {@linkplain #isEnd end}; null if it is gone. */
  Change change(long number) {
    final Slot slot = at(number);
    return slot == null ? null : slot.change();
  }

  /** Number of the first change after an LSN; {@link #GONE} if the ring has not all of those. */
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

  /** Bytes that the ring may take now. */
  public long share() {
    return budget.share();
  }
}
