package dev.ringfetch.index.log;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.v1.Member;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The reader of what a process has left of a group in memory, as it ended in order. It takes one
 * record after the other.
 *
 * <p>Used by one thread at a time.
 */
public final class StopRecovery {
  private final long node;
  private final GroupRecovery group;
  private long length;
  private boolean isWhole;

  /**
   * Creates it, of nothing.
   *
   * @param number of the group
   * @param node whose record it is
   * @param stores creates what the records are applied to
   */
  public StopRecovery(long number, long node, GroupStore.Factory stores) {
    this(number, node, stores, RecordLog.WAITING_DEFAULT);
  }

  public StopRecovery(long number, long node, GroupStore.Factory stores, int waiting) {
    this.node = node;
    group = new GroupRecovery(number, stores, waiting);
  }

  /**
   * Takes the next record.
   *
   * @throws GroupStoreException if it cannot be there, or the store cannot have it
   */
  public void onRecord(JournalRecord record) throws GroupStoreException {
    if (isWhole || record.index() != group.group()) {
      throw new GroupStoreException("not a record that can be: " + record);
    }
    if (record.type() == RecordDescriptor.GROUP_STOP) {
      final List<Member> processes = StopDescriptor.processes(record.value(), length, node);
      if (processes.isEmpty() || !group.hasLog()) {
        throw new GroupStoreException("not the end of this node's record: " + record);
      }
      group.leftBy(processes);
      isWhole = true;
    } else {
      group.onRecord(record);
    }
    length += RecordDescriptor.aligned(record.length());
  }

  /** The recovery of a whole record; null if the record is not whole. */
  public @Nullable GroupRecovery whole() {
    return isWhole ? group : null;
  }

  /** Gives up what there is. */
  public void discard() {
    group.discard();
  }
}
