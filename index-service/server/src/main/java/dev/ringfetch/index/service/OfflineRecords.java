package dev.ringfetch.index.service;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.RecordSink;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.log.NodeRecovery;
import dev.ringfetch.index.replay.JournalReplay;
import dev.ringfetch.index.replay.MemoryTooSmallException;
import dev.ringfetch.index.replay.RecoveredIndex;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The indexes in the records of a directory that no server uses: those of a single server, or of a
 * node of a cluster, as the first record says.
 *
 * <p>Used by one thread at a time.
 */
final class OfflineRecords implements RecordSink {
  private final JournalReplay replay;
  private final NodeRecovery node;
  private final List<OfflineGroup> groups = new ArrayList<>();
  private final List<String> faults = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final List<RecoveredIndex> ofGroups = new ArrayList<>();
  private @Nullable RecordSink chosen; // null before the first record
  private @Nullable Map<Long, Long> snapshot;
  private byte[] snapshotEnd; // of a snapshot that has nothing else; null: there is none
  private boolean isFull;

  OfflineRecords(IndexMemory memory) {
    replay = new JournalReplay(memory.store(), memory.outcomes());
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
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      isFull |= cause instanceof MemoryTooSmallException;
    }
  }

  private boolean isOfNode() {
    return chosen == node;
  }

  /** The indexes, in the order in which they were created. */
  Collection<RecoveredIndex> indexes() {
    return isOfNode() ? ofGroups : replay.indexes();
  }

  /** Lines about damaged groups, without which a node still starts. */
  List<String> faults() {
    return faults;
  }

  /** Lines about the indexes, for messages. */
  List<String> notes() {
    return notes;
  }

  private RecordSink of(JournalRecord record, Supplier<String> place) throws IOException {
    if (chosen == null) {
      chosen = RecordDescriptor.isOfGroup(record.type()) ? node : replay;
      if (snapshot != null) {
        chosen.onSnapshot(snapshot);
      }
      if (snapshotEnd != null) {
        chosen.onSnapshotRecord(new JournalRecord().at(snapshotEnd, 0), place);
      }
    }
    return chosen;
  }

  @Override
  public void onSnapshot(Map<Long, Long> entries) {
    snapshot = entries;
  }

  @Override
  public void onSnapshotRecord(JournalRecord record, Supplier<String> place) throws IOException {
    if (chosen == null && record.type() == RecordDescriptor.SNAPSHOT_END) { // of either kind
      snapshotEnd = new byte[RecordDescriptor.aligned(record.length())];
      record.copyTo(snapshotEnd, 0);
    } else {
      of(record, place).onSnapshotRecord(record, place);
    }
  }

  @Override
  public void onRecord(JournalRecord record, Supplier<String> place) throws IOException {
    of(record, place).onRecord(record, place);
  }

  @Override
  public void onEnd() throws IOException {
    if (chosen != null) {
      chosen.onEnd();
    }
    if (!isOfNode()) {
      return;
    }
    notes.add("of a node of a cluster: other nodes may have newer entries");
    final Map<Long, OfflineGroup> byNumber = new HashMap<>();
    groups.forEach(group -> byNumber.put(group.group(), group));
    for (final GroupRecovery recovery : node.takeGroups()) {
      final OfflineGroup group = byNumber.get(recovery.group());
      try {
        recovery.applyLog();
      } catch (GroupStoreException e) {
        giveUp(e);
      }
      if (group.index() != null && recovery.hasLog()) {
        ofGroups.add(group.index());
      } else if (group.index() != null) {
        notes.add("left out, as a leader had sent a part of it: " + group);
      }
    }
    if (isFull) { // which says nothing of the directory
      throw new IOException(String.join("; ", faults));
    }
  }
}
