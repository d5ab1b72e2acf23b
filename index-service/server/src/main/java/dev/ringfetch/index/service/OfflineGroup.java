package dev.ringfetch.index.service;

import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.replay.JournalReplay;
import dev.ringfetch.index.replay.MemoryTooSmallException;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.store.StoreFullException;
import dev.ringfetch.index.v1.GroupState;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The index of a group in the directory of a node that does not run: what its records say, to be
 * read.
 *
 * <p>Used by one thread at a time.
 */
final class OfflineGroup implements GroupStore {
  private final IndexMemory memory;
  private JournalReplay replay;
  private @Nullable RecoveredIndex index; // null: there is none, or it was given up
  private long group;
  private String name;

  OfflineGroup(IndexMemory memory) {
    this.memory = memory;
  }

  /** Number of the group. */
  long group() {
    return group;
  }

  /** The recovered group; null if its records are invalid, or it was dropped. */
  @Nullable RecoveredIndex index() {
    return index;
  }

  @Override
  public void clear(GroupState state) throws GroupStoreException {
    follow();
    group = state.getGroup();
    name = state.getIndex();
    final IndexDefinition definition = IndexDefinition.decoded(state.getDefinition());
    if (definition == null) {
      throw new GroupStoreException("not a definition that can be: index=" + name);
    }
    replay = JournalReplay.atOnce(memory.store(), memory.outcomes());
    try {
      index = replay.create(new CatalogEntry(group, name, definition));
    } catch (StoreFullException e) {
      throw new GroupStoreException("index=" + name, new MemoryTooSmallException(e));
    }
  }

  @Override
  public void apply(JournalRecord record) throws GroupStoreException {
    carryOut(record, false);
  }

  @Override
  public void restore(JournalRecord record) throws GroupStoreException {
    carryOut(record, true);
  }

  private void carryOut(JournalRecord record, boolean ofSnapshot) throws GroupStoreException {
    ReplicatedIndex.checkRecord(record, group);
    try {
      if (ofSnapshot) {
        replay.onSnapshotRecord(record, this::toString);
      } else {
        replay.onRecord(record, this::toString);
      }
    } catch (IOException e) {
      throw new GroupStoreException(e.getMessage(), e);
    }
  }

  @Override
  public void lead(GroupLog log, GroupState state) {
    throw new UnsupportedOperationException("the node does not run");
  }

  @Override
  public void reconfigured(GroupState state) {
    throw new UnsupportedOperationException("the node does not run");
  }

  @Override
  public void endWrites() {
    throw new UnsupportedOperationException("the node does not run");
  }

  @Override
  public void follow() {
    replay = null;
    if (index != null) {
      index.drop();
      index = null;
    }
  }

  @Override
  public GroupSnapshot snapshot(Runnable wake) {
    throw new UnsupportedOperationException("the node does not run");
  }

  @Override
  public String toString() {
    return "group=" + group + " index=" + name;
  }
}
