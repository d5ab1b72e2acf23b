package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;

/**
 * The log of one partition in the journal. A record is committed when it is synced, or, with {@link
 * Durability#INTERVAL}, as it is appended.
 *
 * <p>Safe for use as {@link CommitLog} says.
 */
public final class PartitionLog implements CommitLog {
  private final Journal journal;
  private final JournalSource source;
  private final long index;
  private final int partition;
  private final boolean waits;
  private Runnable listener = () -> {};
  private volatile long appended;

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
    if (write.client() == null) {
      source.from(0, 0);
    } else {
      source.from(write.client().id(), write.client().packed(write.number()));
    }
    final int refused = append(write, lsn);
    if (refused != 0) {
      return refused == Journal.FULL ? FULL : FAILED;
    }
    appended = lsn;
    return lsn;
  }

  private int append(Write write, long lsn) {
    if (write.kind() == Write.Kind.TICK) {
      final ByteString time = RecordDescriptor.value(write.deadline());
      return source.append(RecordDescriptor.TICK, 0, index, partition, lsn, ByteString.EMPTY, time);
    }
    if (write.isUnchanged()) {
      final ByteString outcome = OutcomeDescriptor.encode(write.outcomeKind(), write.detail());
      return source.append(
          RecordDescriptor.OUTCOME, 0, index, partition, lsn, ByteString.EMPTY, outcome);
    }
    return source.append(
        write.removesEntry() ? RecordDescriptor.DELETE : RecordDescriptor.PUT,
        flags(write),
        index,
        partition,
        lsn,
        write.key(),
        write.value(),
        write.deadline());
  }

  private static int flags(Write write) {
    return (write.creates() || write.existed() ? RecordDescriptor.POSITIVE : 0)
        | (write.isExpired() ? RecordDescriptor.EXPIRED : 0);
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
