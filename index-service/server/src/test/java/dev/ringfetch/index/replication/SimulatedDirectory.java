package dev.ringfetch.index.replication;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The directory of a simulated node: the records of the group, of which a process that ends leaves
 * those that are durable, and some of the next ones. It fills up, and fails, for a process at a
 * time.
 */
final class SimulatedDirectory {
  private final SimulatedTime time;
  private final Coverage coverage;
  private final List<byte[]> records = new ArrayList<>();
  private Use process;

  /** Whether there may be no room for a record. */
  boolean fills;

  /** Bytes that may wait for their sync: beyond, there is no room. */
  int room = Integer.MAX_VALUE;

  /** What a sync takes at least. */
  long syncNs = 100_000;

  SimulatedDirectory(SimulatedTime time, Coverage coverage) {
    this.time = time;
    this.coverage = coverage;
  }

  /**
   * The disk of a process that begins, and has read all that is there.
   *
   * @param runner runs something in the process
   */
  GroupDisk open(Consumer<Runnable> runner) {
    process = new Use(records.size(), runner);
    return process;
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

  /** The process, or its host, has ended. */
  void end() {
    if (process != null) {
      final int kept =
          process.durable + time.random().nextInt(records.size() - process.durable + 1);
      if (kept < records.size()) {
        coverage.count("lost records");
      }
      records.subList(kept, records.size()).clear();
      process.ended = true;
      process = null;
    }
  }

  /** Reads what is there. */
  GroupRecovery recover(long group, Replicas.StoreFactory stores, int waiting) {
    final GroupRecovery recovery = new GroupRecovery(group, stores, waiting);
    final JournalRecord record = new JournalRecord();
    for (final byte[] bytes : records) {
      if (!record.wrap(bytes, 0, bytes.length)) {
        throw new AssertionError("no record");
      }
      try {
        recovery.onRecord(record);
      } catch (GroupStoreException e) {
        throw new AssertionError(e);
      }
    }
    return recovery;
  }

  /** The use by one process. Counts go on from what was there. */
  private final class Use implements GroupDisk {
    private final int base;
    private final Consumer<Runnable> runner;
    private int durable;
    private long unsynced; // bytes
    private Runnable listener = () -> {};
    private boolean syncing;
    private boolean failed;
    private boolean ended;

    Use(int base, Consumer<Runnable> runner) {
      this.base = base;
      this.runner = runner;
      durable = base;
    }

    void tell() {
      runner.accept(listener);
    }

    @Override
    public boolean append(byte[] bytes, int offset, int length) {
      if (failed || ended || (fills && time.oneIn(20))) {
        coverage.count("full disks");
        return false;
      }
      if (unsynced > 0 && unsynced + length > room) {
        coverage.count("slow disks");
        return false;
      }
      unsynced += length;
      final byte[] copy = new byte[length];
      System.arraycopy(bytes, offset, copy, 0, length);
      records.add(copy);
      sync();
      return true;
    }

    private void sync() {
      if (syncing) {
        return;
      }
      syncing = true;
      final long delayNs = time.oneIn(50) ? 30_000_000 : syncNs + time.random().nextInt(400_000);
      time.after(100_000, () -> write(records.size(), delayNs));
    }

    private void write(int end, long delayNs) {
      time.after(
          delayNs,
          () -> {
            syncing = false;
            if (!failed && !ended) {
              while (durable < end) {
                unsynced -= records.get(durable++).length;
              }
              if (durable < records.size()) {
                sync();
              }
              tell();
            }
          });
    }

    @Override
    public long appended() {
      return (long) records.size() - base;
    }

    @Override
    public long durable() {
      return (long) durable - base;
    }

    @Override
    public boolean isFailed() {
      return failed;
    }

    @Override
    public void onChange(Runnable run) {
      listener = run;
    }

    @Override
    public void close() {
      ended = true;
    }
  }
}
