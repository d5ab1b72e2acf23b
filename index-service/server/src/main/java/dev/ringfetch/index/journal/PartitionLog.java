package dev.ringfetch.index.journal;

import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;

/**
 * The log of one partition in the journal. A record is committed when it is synced; with {@link
 * Durability#INTERVAL}, when it is appended.
 *
 * <p>Safe for use as {@link CommitLog} says.
 */
public final class PartitionLog implements CommitLog {
  private final Journal journal;
  private final JournalSource source;
  private final long index;
  private final int partition;
  private final boolean waits;
  private final WriteRecord record = new WriteRecord();
  private Runnable listener = () -> {};
  private volatile long appended;

  /** Length and type of a record that waits for room. The owner's. */
  private int lacking;

  private int lackingType;

  PartitionLog(Journal journal, long index, int partition, Durability durability, long last) {
    this.journal = journal;
    this.index = index;
    this.partition = partition;
    waits = durability == Durability.DISK;
    appended = last;
    source = new JournalSource(journal, waits, last, () -> listener.run());
  }

  @Override
  public long append(Write write) {
    final long lsn = appended + 1;
    if (lsn > MAX_LSN) {
      return EXHAUSTED;
    }
    record.of(write);
    source.from(record.client(), record.request());
    final int refused =
        source.append(
            record.type(),
            record.flags(),
            index,
            partition,
            lsn,
            record.key(),
            record.value(),
            record.deadline());
    if (refused == Journal.LATER) {
      lacking = record.aligned();
      lackingType = record.type();
      return LATER;
    }
    if (refused != 0) {
      return refused == Journal.FULL ? FULL : FAILED;
    }
    appended = lsn;
    return lsn;
  }

  @Override
  public boolean hasRoom() {
    if (lacking != 0 && journal.obstacle() == null && journal.isShortOf(lacking, lackingType)) {
      source.awaitRoom();
      return false;
    }
    lacking = 0;
    return true;
  }

  @Override
  public long committed() {
    final long committed = waits ? source.durable() : appended;
    return journal.isFailed() ? FAILED : committed;
  }

  @Override
  public long durable() {
    return source.durable();
  }

  @Override
  public void onCommit(Runnable commits) {
    listener = commits;
    journal.add(source);
  }

  @Override
  public void close() {
    journal.remove(source);
  }
}
