package dev.ringfetch.index.service;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordSink;
import dev.ringfetch.index.journal.SnapshotDescriptor;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.log.NodeRecovery;
import dev.ringfetch.index.replay.MemoryTooSmallException;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.v1.GroupState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The indexes in the records of a directory that no server uses.
 *
 * <p>Used by one thread at a time.
 */
final class OfflineRecords implements RecordSink {
  private final NodeRecovery node;
  private final boolean mayBeBehind;
  private final List<OfflineGroup> groups = new ArrayList<>();
  private final List<String> faults = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final List<RecoveredIndex> ofGroups = new ArrayList<>();
  private Collection<GroupState> found = List.of();
  private @Nullable Throwable full; // the memory is too small
  private boolean isWhole = true;

  /**
   * Creates it.
   *
   * @param mayBeBehind whether there may be other nodes
   */
  OfflineRecords(IndexMemory memory, boolean mayBeBehind) {
    this.mayBeBehind = mayBeBehind;
    node =
        new NodeRecovery(
            state -> {
              final OfflineGroup created = new OfflineGroup(memory);
              groups.add(created);
              return created;
            },
            this::giveUp);
  }

  private void giveUp(Throwable failure) {
    faults.add(failure.getMessage());
    isWhole = false;
    full = full == null && MemoryTooSmallException.isIn(failure) ? failure : full;
  }

  /** The groups of which there is something, as they began. */
  Collection<GroupState> found() {
    return found;
  }

  /** The indexes, in the order in which they were created. */
  Collection<RecoveredIndex> indexes() {
    return ofGroups;
  }

  /** Whether no group was left out. */
  boolean isWhole() {
    return isWhole;
  }

  /** Lines about damaged groups, without which a node still starts. */
  List<String> faults() {
    return faults;
  }

  /** Lines about the indexes, for messages. */
  List<String> notes() {
    return notes;
  }

  @Override
  public void onSnapshot(Map<Long, Long> entries) {
    node.onSnapshot(entries);
  }

  @Override
  public void onSnapshotRecord(JournalRecord record, Supplier<String> place) throws IOException {
    node.onSnapshotRecord(record, place);
  }

  @Override
  public void onRecord(JournalRecord record, Supplier<String> place) throws IOException {
    node.onRecord(record, place);
  }

  @Override
  public void onUnread(long group, String reason) {
    node.onUnread(group, reason);
  }

  @Override
  public void onEnd() throws IOException {
    node.onEnd();
    found = node.states().keySet();
    if (mayBeBehind && !groups.isEmpty()) {
      notes.add("of a node of a cluster: other nodes may have newer entries");
    }
    final Map<Long, GroupRecovery> recoveries = new HashMap<>();
    node.takeGroups().forEach(recovery -> recoveries.put(recovery.group(), recovery));
    for (final OfflineGroup group : groups) {
      final GroupRecovery recovery = recoveries.get(group.group());
      if (recovery == null) { // dropped
        continue;
      }
      try {
        recovery.applyLog();
      } catch (GroupStoreException e) {
        giveUp(e);
      }
      if (group.index() != null && recovery.hasLog()) {
        ofGroups.add(group.index());
        if (!recovery.processes().isEmpty()) {
          notes.add(left(group, recovery));
        }
      } else if (group.index() != null) {
        isWhole = false;
        notes.add("left out, as a leader had sent a part of it: " + group);
      }
    }
    if (full != null) { // which says nothing of the directory
      throw new IOException(String.join("; ", faults), full);
    }
  }

  private String left(OfflineGroup group, GroupRecovery recovery) {
    return "record of an orderly end"
        + (mayBeBehind ? ", void if the cluster has gone on without it" : "")
        + ": index="
        + group.index().entry().name()
        + " file="
        + SnapshotDescriptor.stopName(group.group())
        + " epoch="
        + recovery.gate()
        + " position="
        + recovery.applied();
  }
}
