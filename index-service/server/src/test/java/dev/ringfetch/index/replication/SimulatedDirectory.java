package dev.ringfetch.index.replication;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.SnapshotRecords;
import dev.ringfetch.index.log.GroupDisk;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.log.NodeRecovery;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The directory of a simulated node: the records of the group, of which a process that ends leaves
 * those that are durable, and some of the next ones; and two snapshots, the older one in the place
 * of the records before it. A start takes either, as the newer one may be damaged. It fills up, and
 * fails, for a process at a time.
 */
final class SimulatedDirectory {
  /** Time after which records are synced that are not urgent. */
  private static final long INTERVAL_NS = 10_000_000;

  private final SimulatedTime time;
  private final Coverage coverage;
  private final List<byte[]> records = new ArrayList<>();
  private final List<Taken> snapshots = new ArrayList<>(); // two at most, the older one first
  private long first; // number of the first record
  private Use process;
  private final GatePage gatePage = GatePage.in(new DirectRegion(GateDescriptor.LENGTH));

  /** Whether there may be no room for a record. */
  boolean fills;

  /** Whether there is no room for any record. */
  boolean isFull;

  /** Whether it says that no room comes; else it seems to be slow. */
  boolean isShort;

  /** Whether its quota is exceeded. */
  boolean isOverQuota;

  /** Whether a start may find its newest snapshot damaged. */
  boolean damagesSnapshots = true;

  /** Incarnations of processes that used another directory, of which this is an older state. */
  private long otherAfter;

  private long otherUntil;

  /** Bytes that may wait for their sync: beyond, there is no room. */
  int room = Integer.MAX_VALUE;

  /** What a sync takes at least. */
  long syncNs = 100_000;

  /**
   * A snapshot that is whole.
   *
   * @param begin number of the first record of the journal that a start with it reads
   */
  private record Taken(long begin, List<byte[]> records) {}

  SimulatedDirectory(SimulatedTime time, Coverage coverage) {
    this.time = time;
    this.coverage = coverage;
  }

  /**
   * A copy of a directory that no process uses.
   *
   * @param last incarnation of any process so far
   */
  SimulatedDirectory copy(long last) {
    final SimulatedDirectory copy = new SimulatedDirectory(time, coverage);
    copy.records.addAll(records);
    copy.snapshots.addAll(snapshots);
    copy.first = first;
    copy.fills = fills;
    copy.damagesSnapshots = damagesSnapshots;
    copy.otherAfter = last;
    copy.otherUntil = last;
    return copy;
  }

  /**
   * Takes the original's place, whose processes have not changed this.
   *
   * @param last incarnation of any process so far
   */
  void takePlace(long last) {
    otherUntil = last;
  }

  /** Whether this took an original's place. */
  boolean isCopy() {
    return otherUntil > otherAfter;
  }

  /** Whether this has what a process of the node has left in its directory. */
  boolean isOf(long incarnation) {
    return incarnation <= otherAfter || incarnation > otherUntil;
  }

  /**
   * The disk of a process that begins, and has read all that is there.
   *
   * @param runner runs something in the process
   */
  GroupDisk open(Consumer<Runnable> runner) {
    process = new Use(end(records), runner);
    return process;
  }

  /** The page of the gate of the processes that have the directory, one after the other. */
  GatePage gatePage() {
    return gatePage;
  }

  private long end(List<byte[]> of) {
    return first + of.size();
  }

  private byte[] record(long number) {
    return records.get((int) (number - first));
  }

  /** Takes a snapshot, step after step as time goes on. */
  void snapshot(ReplicaSnapshots source) {
    if (process != null && !process.failed) {
      final Snapshot begun = new Snapshot(process, source);
      process.snapshot = begun; // one before it is given up
      source.begin();
      begun.later();
    }
  }

  /** A snapshot under way. */
  private final class Snapshot extends SnapshotRecords {
    private final Use of;
    private final ReplicaSnapshots source;
    private final long begin;
    private final List<byte[]> added = new ArrayList<>();
    private final boolean isSlow = time.oneIn(3);
    private boolean isWhole;

    Snapshot(Use of, ReplicaSnapshots source) {
      super(1);
      this.of = of;
      this.source = source;
      begin = of.durable;
    }

    void later() {
      final long delayNs = time.random().nextInt(isSlow ? 20_000_000 : 500_000);
      time.after(delayNs, () -> of.runner.accept(this::step));
    }

    private void step() {
      if (of.ended || of.failed || of.snapshot != this) {
        return;
      }
      try {
        if (!isWhole) {
          isWhole = source.add(this) == ReplicaSnapshots.Progress.DONE;
        } else if (source.isDurable()) {
          install();
          return;
        }
      } catch (IOException e) {
        coverage.count("no snapshots");
        return;
      }
      later();
    }

    private void install() {
      snapshots.add(new Taken(begin, added));
      if (snapshots.size() > 2) {
        snapshots.remove(0);
      }
      final long oldest = snapshots.get(0).begin;
      if (snapshots.size() == 2) {
        records.subList(0, (int) (oldest - first)).clear();
        first = oldest;
      }
      coverage.count("disk snapshots");
    }

    @Override
    protected void add(byte[] array, int length) {
      final byte[] copy = new byte[length];
      System.arraycopy(array, 0, copy, 0, length);
      added.add(copy);
    }

    @Override
    public boolean isFull() {
      return false;
    }
  }

  boolean isFailed() {
    return process != null && process.failed;
  }

  /** Number of times that the group began anew. */
  int begins() {
    int begins = 0;
    final JournalRecord record = new JournalRecord();
    for (final byte[] bytes : records) {
      begins += record.at(bytes, 0).type() == RecordDescriptor.GROUP_BEGIN ? 1 : 0;
    }
    return begins;
  }

  /** Nothing becomes durable any more in this process. */
  void fail() {
    if (process != null && !process.failed) {
      process.failed = true;
      process.tell();
    }
  }

  /** The largest LSNs of the partitions' synced records of an epoch. */
  long[] synced(long epoch) {
    final long[] lsns = new long[SimulatedStore.PARTITIONS];
    for (long i = first; i < process.durable; i++) {
      final JournalRecord record = view(record(i));
      if (record.epoch() == epoch && record.type() <= RecordDescriptor.GAP) {
        lsns[record.partition()] = Math.max(lsns[record.partition()], record.lsn());
      }
    }
    return lsns;
  }

  /** The process ends in order: what it has appended is synced. */
  void close() {
    if (process != null && !process.failed) {
      process.durable = end(records);
    }
  }

  /** The process, or its host, has ended. */
  void end() {
    if (process != null) {
      final int durable = (int) (process.durable - first);
      final int kept = durable + time.random().nextInt(records.size() - durable + 1);
      if (kept < records.size()) {
        coverage.count("lost records");
      }
      records.subList(kept, records.size()).clear();
      process.ended = true;
      process = null;
    }
  }

  /** Reads what is there. */
  NodeRecovery recover(GroupStore.Factory stores, int waiting) {
    final NodeRecovery recovery =
        new NodeRecovery(
            stores,
            failure -> {
              throw new AssertionError(failure);
            },
            waiting);
    try {
      final Taken taken = choose();
      if (taken != null) {
        coverage.count("starts from snapshots");
        recovery.onSnapshot(Map.of());
        for (final byte[] bytes : taken.records) {
          recovery.onSnapshotRecord(view(bytes), () -> "the snapshot");
        }
      }
      final int begin = taken == null ? 0 : (int) (taken.begin - first);
      for (final byte[] bytes : records.subList(begin, records.size())) {
        recovery.onRecord(view(bytes), () -> "the journal");
      }
      recovery.onEnd();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return recovery;
  }

  /** The newest snapshot, or the one before; null: none, and all records are there. */
  private Taken choose() {
    if (snapshots.isEmpty()) {
      return null;
    }
    if (!damagesSnapshots || !time.oneIn(4)) {
      return snapshots.get(snapshots.size() - 1);
    }
    coverage.count("damaged snapshots");
    return snapshots.size() == 2 ? snapshots.get(0) : null;
  }

  private static JournalRecord view(byte[] bytes) {
    final JournalRecord record = new JournalRecord();
    if (!record.wrap(bytes, 0, bytes.length)) {
      throw new AssertionError("no record");
    }
    return record;
  }

  /** The use by one process. Counts go on from what was there. */
  private final class Use implements GroupDisk {
    private final long base;
    private final Consumer<Runnable> runner;
    private long durable; // number of the first record that is not
    private long unsynced; // bytes
    private Runnable listener = () -> {};
    private long urgentEnd; // number behind the last record that is
    private boolean syncing;
    private boolean isPlanned;
    private boolean failed;
    private boolean ended;
    private boolean closed; // by the group
    private Snapshot snapshot; // the last one that was begun

    Use(long base, Consumer<Runnable> runner) {
      this.base = base;
      this.runner = runner;
      durable = base;
    }

    void tell() {
      if (!closed) {
        runner.accept(listener);
      }
    }

    @Override
    public boolean append(byte[] bytes, int offset, int length, boolean isUrgent) {
      if (failed || ended || closed || isFull || (fills && time.oneIn(20))) {
        coverage.count("full disks");
        return false;
      }
      if (unsynced > 0 && unsynced + length > room) {
        coverage.count("slow disks");
        return false;
      }
      unsynced += length;
      urgentEnd = isUrgent ? end(records) + 1 : urgentEnd;
      final byte[] copy = new byte[length];
      System.arraycopy(bytes, offset, copy, 0, length);
      records.add(copy);
      sync();
      return true;
    }

    /** Syncs what is urgent, and the rest after the interval. */
    private void sync() {
      if (syncing) {
        return;
      }
      if (durable < urgentEnd) {
        begin();
      } else if (!isPlanned) {
        isPlanned = true;
        time.after(INTERVAL_NS, this::beginPlanned);
      }
    }

    private void beginPlanned() {
      isPlanned = false;
      if (!syncing && !ended && durable < end(records)) {
        begin();
      }
    }

    private void begin() {
      syncing = true;
      final long delayNs = time.oneIn(50) ? 30_000_000 : syncNs + time.random().nextInt(400_000);
      time.after(100_000, () -> write(end(records), delayNs));
    }

    private void write(long end, long delayNs) {
      time.after(
          delayNs,
          () -> {
            syncing = false;
            if (!failed && !ended) {
              while (durable < end) {
                unsynced -= record(durable++).length;
              }
              if (durable < end(records)) {
                sync();
              }
              tell();
            }
          });
    }

    @Override
    public long appended() {
      return end(records) - base;
    }

    @Override
    public long durable() {
      return durable - base;
    }

    @Override
    public boolean isFailed() {
      return failed;
    }

    @Override
    public boolean isShort() {
      return isShort;
    }

    @Override
    public boolean isFull(int length, int type) {
      return isShort;
    }

    @Override
    public boolean isOverQuota() {
      return isOverQuota;
    }

    @Override
    public void onChange(Runnable run) {
      listener = run;
    }

    @Override
    public void close() {
      closed = true; // the directory goes on
    }
  }
}
