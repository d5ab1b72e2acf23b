package dev.ringfetch.index.model;

import java.util.Arrays;

/**
 * The state of {@link IntervalModel}, and what must hold in it.
 *
 * <p>A log is a number with three bits for each record: a write, or {@link #GAP}. The version of a
 * write is the number of writes up to it, and of gaps.
 */
abstract class IntervalState extends PackedState {
  static final int EPOCHS = 3;
  static final int WRITES = 3;
  static final int GAP = 4;

  final int writes;
  final int ends;
  final IntervalRule broken;

  // The coordinator's: the established and the newest epoch, each with its leader, its members, and
  // those of them whose processes live; whether none lived when the newest was won, and where it
  // begins; where each established one has begun, plus 1.
  final int established = layout.number(2);
  final int leader = layout.process();
  final int members = layout.set();
  final int living = layout.set();
  final int newest = layout.number(2);
  final int winner = layout.process();
  final int wonMembers = layout.set();
  final int wonLiving = layout.set();
  final int cold = layout.number(1);
  final int wonBegin = layout.number(3);
  final int[] begins = new int[EPOCHS + 1];

  // The leader's: whether it serves, and the position up to which all is committed.
  final int serving = layout.number(1);
  final int commit = layout.number(3);

  // Processes: log, epoch that is obeyed, position that is applied; the same on the disk; those
  // that live, that obey nobody since they started with a disk, and that may lack records.
  final int log = layout.each(15);
  final int epoch = layout.each(2);
  final int applied = layout.each(3);
  final int disk = layout.each(15);
  final int diskEpoch = layout.each(2);
  final int diskApplied = layout.each(3);
  final int alive = layout.set();
  final int restarted = layout.set();
  final int lacking = layout.set();

  // Writes, a bit each, and the committed write of each version.
  final int begun = layout.number(2);
  final int committed = layout.number(WRITES);
  final int synced = layout.number(WRITES); // and committed
  final int lost = layout.number(WRITES);
  final int[] given = new int[EPOCHS * (WRITES + 1)];
  final int ended = layout.number(3);

  /**
   * Lays out the state.
   *
   * @param processes up to three
   * @param ends of processes, by kills or in order
   */
  IntervalState(int processes, int writes, int ends, IntervalRule broken) {
    super(processes);
    this.writes = writes;
    this.ends = ends;
    this.broken = broken;
    Arrays.setAll(begins, each -> layout.number(3));
    Arrays.setAll(given, each -> layout.number(2));
  }

  /** Position up to which a log is that of an epoch. */
  int shared(int process, int of) {
    final int whole = length(get(log + process));
    int shared = of == get(established) ? whole : Math.min(whole, get(wonBegin));
    for (int each = get(epoch + process) + 1; each <= get(established); each++) {
      if (get(begins[each]) != 0) {
        shared = Math.min(shared, get(begins[each]) - 1);
      }
    }
    return broken == IntervalRule.CUT_AT_BEGIN_OF_EPOCH ? whole : shared;
  }

  /** Gives committed writes up, as an epoch begins without them. */
  void lose(int missing) {
    if ((missing & get(synced)) != 0) {
      violation = "a write is lost that the leader's disk had";
    } else if (missing != 0 && get(cold) == 0) {
      violation = "a write is lost though a member lived";
    } else if (missing != 0 && broken == IntervalRule.NOTHING_IS_LOST) {
      violation = "a write is lost";
    }
    set(lost, get(lost) | missing);
    set(committed, get(committed) & ~missing);
    set(synced, get(synced) & ~missing);
  }

  void leave(int process) {
    set(ended, get(ended) + 1);
    for (final int field : new int[] {alive, living, wonLiving, restarted, lacking}) {
      remove(field, process);
    }
    for (final int field : new int[] {log, epoch, applied}) {
      set(field + process, 0);
    }
    set(serving, process == get(leader) ? 0 : get(serving));
  }

  void sync(int process) {
    set(disk + process, get(log + process));
    set(diskEpoch + process, get(epoch + process));
    set(diskApplied + process, get(applied + process));
  }

  /** Commits the writes of a log, each under its version. */
  void commit(int of) {
    for (int end = 1; end <= length(of); end++) {
      final int record = of >>> (3 * end - 3) & 7;
      if (record != GAP) {
        final int gaps = gaps(prefix(of, end));
        final int version = given[gaps * (WRITES + 1) + end - gaps];
        if (after(version) != 0 && after(version) != record) {
          violation = "two committed writes have one version";
        } else if ((get(lost) >> (record - 1) & 1) != 0) {
          violation = "a lost write is committed again";
        }
        set(version, record);
        set(committed, after(committed) | 1 << (record - 1));
      }
    }
  }

  /** Whether a process lives and obeys an epoch, or leads it. */
  boolean obeys(int process, int of) {
    return has(alive, process) && !has(restarted, process) && get(epoch + process) == of;
  }

  @Override
  void emit(Step step, int of, int one, int other) {
    final int onDisk = writesOf(after(disk + after(leader)));
    set(synced, after(synced) | (after(committed) & onDisk));
    super.emit(step, of, one, other);
  }

  void remove(int field, int process) {
    set(field, after(field) & ~(1 << process));
  }

  static int writesOf(int of) {
    int writes = 0;
    for (int rest = of; rest != 0; rest >>>= 3) {
      writes |= (1 << (rest & 7)) >> 1; // a gap is beyond the last write
    }
    return writes & (1 << WRITES) - 1;
  }

  static int gaps(int of) {
    return Integer.bitCount(of & 0b100_100_100_100_100);
  }

  static int length(int of) {
    return (34 - Integer.numberOfLeadingZeros(of)) / 3;
  }

  static int prefix(int of, int length) {
    return of & (1 << (3 * length)) - 1;
  }

  static int append(int of, int record) {
    return of | record << (3 * length(of));
  }
}
