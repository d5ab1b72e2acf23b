package dev.ringfetch.index.service;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.node.StopFiles;
import dev.ringfetch.index.replay.MemoryTooSmallException;
import dev.ringfetch.index.replay.RecoveredIndex;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The indexes in the records of orderly stops of a node that does not run, with all that they have:
 * whether a cluster has gone on without them, only that knows.
 *
 * <p>Used by one thread at a time.
 */
final class OfflineStops {
  private final List<RecoveredIndex> indexes = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final List<String> faults = new ArrayList<>();
  private final Map<Long, OfflineGroup> groups = new HashMap<>();
  private final String meaning;
  private boolean isFull;

  /**
   * Reads all that there are.
   *
   * @param node whose directory it is
   * @param isAlone whether there is never another node
   * @throws IOException if the disk does not say which there are, or the memory is too small
   */
  OfflineStops(Disk disk, long node, boolean isAlone, IndexMemory memory) throws IOException {
    meaning = isAlone ? "" : ", void if the cluster has gone on without it";
    new StopFiles(disk)
        .readAll(
            node,
            state -> {
              final OfflineGroup created = new OfflineGroup(memory);
              groups.put(state.getGroup(), created);
              return created;
            },
            this::take,
            this::giveUp);
    if (isFull) { // which says nothing of the directory
      throw new IOException(String.join("; ", faults));
    }
  }

  private void take(GroupRecovery recovery) {
    try {
      recovery.applyLog();
    } catch (GroupStoreException e) {
      giveUp(e);
      return;
    }
    final RecoveredIndex index = groups.get(recovery.group()).index();
    indexes.add(index);
    notes.add(
        "record of an orderly end"
            + meaning
            + ": index="
            + index.entry().name()
            + " file="
            + StopFiles.name(recovery.group())
            + " epoch="
            + recovery.gate()
            + " position="
            + recovery.applied());
  }

  private void giveUp(Throwable failure) {
    final Throwable reason = failure.getCause() == null ? failure : failure.getCause();
    faults.add(
        reason == failure
            ? failure.getMessage()
            : failure.getMessage() + ": " + reason.getMessage());
    isFull |= MemoryTooSmallException.isIn(failure);
  }

  /** The indexes, in the order of their groups. */
  List<RecoveredIndex> indexes() {
    return indexes;
  }

  /** Lines about the records, for messages. */
  List<String> notes() {
    return notes;
  }

  /** Which cannot be read, in lines for people. */
  List<String> faults() {
    return faults;
  }
}
