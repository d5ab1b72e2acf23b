package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;

/**
 * The log of one partition on a sequence of its own in a journal, without a group. A record is
 * committed when it is synced; with {@link Durability#INTERVAL}, when it is appended.
 */
public final class PartitionLog implements CommitLog {
  private final Journal journal;
  private final long index;
  private final int partition;
  private final boolean waits;
  private final CopiedLog log;
  private final WriteRecord record = new WriteRecord();
  private Runnable listener = () -> {};
  private volatile long appended;

  /** LSN before that of the first record. */
  private long before;

  /** LSN after which the log began. */
  private final long begin;

  /** Length and type of a record that waits for room. */
  private int lacking;

  private int lackingType;

  /**
   * Opens the log of a partition, the only one for it.
   *
   * @param last LSN before the first one
   */
  public PartitionLog(
      Journal journal, long index, int partition, Durability durability, long last) {
    this.journal = journal;
    this.index = index;
    this.partition = partition;
    waits = durability != Durability.INTERVAL;
    begin = last;
    before = last;
    appended = last;
    log = journal.copies(() -> listener.run());
  }

  /** Goes on behind LSNs that may have been given to records that are lost. The first record. */
  public void appendGap() {
    before = begin + Journal.LOST_LIMIT;
    final byte[] gap = new byte[JournalRecord.aligned(ByteString.EMPTY, ByteString.EMPTY, 0)];
    new JournalRecord()
        .begin(gap, 0, RecordDescriptor.GAP, ByteString.EMPTY, ByteString.EMPTY)
        .partition(index, partition)
        .place(journal.epoch(), before + 1)
        .end();
    if (!log.append(gap, 0, gap.length, waits)) {
      throw new IllegalStateException("no room", journal.obstacle());
    }
    appended = before + 1;
  }

  @Override
  public long append(Write write) {
    final long lsn = appended + 1;
    if (lsn > MAX_LSN) {
      return EXHAUSTED;
    }
    record.of(write);
    final byte[] bytes = new byte[record.aligned()];
    record.encode(bytes, 0, index, partition, journal.epoch(), lsn);
    if (log.append(bytes, 0, bytes.length, waits)) {
      appended = lsn;
      return lsn;
    }
    if (log.isFailed()) {
      return FAILED;
    }
    if (log.isFull(bytes.length, record.type())) {
      return FULL;
    }
    lacking = bytes.length;
    lackingType = record.type();
    return LATER;
  }

  @Override
  public boolean hasRoom() {
    if (lacking != 0
        && !log.isFailed()
        && !log.isShort()
        && journal.isShortOf(lacking, lackingType)) {
      log.awaitRoom();
      return false;
    }
    lacking = 0;
    return true;
  }

  @Override
  public long committed() {
    final long committed = waits ? durable() : appended;
    return log.isFailed() ? FAILED : committed;
  }

  @Override
  public long durable() {
    final long count = log.durable();
    return count == 0 ? begin : before + count;
  }

  @Override
  public void onCommit(Runnable commits) {
    listener = commits;
  }

  @Override
  public void close() {
    log.close();
  }
}
