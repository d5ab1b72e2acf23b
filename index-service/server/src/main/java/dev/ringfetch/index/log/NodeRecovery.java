package dev.ringfetch.index.log;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.RecordSink;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.agrona.ErrorHandler;
import org.jspecify.annotations.Nullable;

/**
 * The groups that the journal of a node has, with its newest snapshot, and those in memory that
 * orderly ends have left.
 *
 * <p>Used by one thread at a time.
 */
public final class NodeRecovery implements RecordSink {
  private final GroupStore.Factory stores;
  private final ErrorHandler errors;
  private final int waiting;
  private final Map<Long, GroupRecovery> groups = new TreeMap<>();
  private final Map<Long, String> unread = new TreeMap<>();
  private boolean isAlone;
  private boolean hasSnapshot;
  private Map<Long, Long> entries = Map.of(); // in the snapshot, by the number of the group
  private long records;
  private @Nullable GroupStoreException failure;

  /**
   * Creates it, of nothing.
   *
   * @param errors is told of groups whose records are given up
   */
  public NodeRecovery(GroupStore.Factory stores, ErrorHandler errors) {
    this(stores, errors, RecordLog.WAITING_DEFAULT);
  }

  public NodeRecovery(GroupStore.Factory stores, ErrorHandler errors, int waiting) {
    this.stores = stores;
    this.errors = errors;
    this.waiting = waiting;
  }

  /** Says that there never was another node. Called before the first record; returns this. */
  public NodeRecovery alone() {
    isAlone = true;
    return this;
  }

  /** The first failure by which records of a group were given up; null if there was none. */
  public @Nullable GroupStoreException failure() {
    return failure;
  }

  /**
   * The groups in memory of which an orderly end has left what cannot be read, with the reasons.
   */
  public Map<Long, String> unread() {
    return unread;
  }

  /** Number of records so far, those of the snapshot included. */
  public long records() {
    return records;
  }

  @Override
  public void onRecord(JournalRecord record, Supplier<String> place) throws IOException {
    records++;
    // A group without records in the snapshot was dropped before it, or begins after it.
    if (!hasSnapshot
        || groups.containsKey(record.index())
        || record.type() == RecordDescriptor.GROUP_BEGIN) {
      take(group(record), record, false, place);
    }
  }

  @Override
  public void onSnapshot(Map<Long, Long> counts) {
    hasSnapshot = true;
    entries = counts;
  }

  @Override
  public void onSnapshotRecord(JournalRecord record, Supplier<String> place) throws IOException {
    records++;
    if (record.type() == RecordDescriptor.SNAPSHOT_END) {
      return;
    }
    if (record.type() == RecordDescriptor.GROUP_END) {
      final GroupRecovery dropped = groups.remove(record.index());
      if (dropped != null) {
        dropped.discard();
      }
    } else {
      take(group(record), record, true, place);
      if (record.type() == RecordDescriptor.GROUP_BEGIN) {
        group(record).expect(entries.getOrDefault(record.index(), 0L));
      }
    }
  }

  @Override
  public void onUnread(long group, String reason) {
    unread.put(group, reason);
    giveUp(
        new GroupStoreException(
            "an index at level memory is not taken over; restore the file that an orderly end has"
                + " left, or delete it to give the index up: "
                + reason));
  }

  @Override
  public void onEnd() throws IOException {
    for (final GroupRecovery group : groups.values()) {
      if (group.lacksMark()) {
        throw new IOException(
            "the journal ends before what its snapshot has of a group: group=" + group.group());
      }
    }
    for (final GroupRecovery group : groups.values()) {
      try {
        group.recovered();
      } catch (GroupStoreException e) {
        giveUp(group, e, "the end of the journal");
      }
    }
  }

  private GroupRecovery group(JournalRecord record) {
    return groups.computeIfAbsent(
        record.index(), number -> new GroupRecovery(number, stores, waiting, isAlone));
  }

  private void take(
      GroupRecovery group, JournalRecord record, boolean ofSnapshot, Supplier<String> place)
      throws IOException {
    try {
      if (ofSnapshot) {
        group.onSnapshotRecord(record);
      } else {
        group.onRecord(record);
      }
    } catch (GroupStoreException e) {
      if (!group.isDefined()) {
        throw new IOException(e.getMessage() + ": " + place.get(), e);
      }
      giveUp(group, e, place.get());
    }
  }

  private void giveUp(GroupRecovery group, GroupStoreException e, String place) {
    if (group.isInMemory()) {
      unread.putIfAbsent(group.group(), e.getMessage() + ": " + place);
    }
    giveUp(
        new GroupStoreException(
            "the group's records here count no more: " + e.getMessage() + ": " + place, e));
  }

  private void giveUp(GroupStoreException lost) {
    failure = failure == null ? lost : failure;
    errors.onError(lost); // other groups go on
  }

  /** The groups of which the journal has something, and the newest epochs that they have obeyed. */
  public Map<GroupState, Long> states() {
    final Map<GroupState, Long> epochs = new LinkedHashMap<>();
    groups.values().stream()
        .filter(group -> group.isPresent() && !group.isInMemory())
        .forEach(group -> epochs.put(group.state(), group.gate()));
    return epochs;
  }

  /** The processes that ended in order and have left all of a group in memory, by the groups. */
  public Map<Long, List<Member>> stopped() {
    final Map<Long, List<Member>> stopped = new TreeMap<>();
    groups.values().stream()
        .filter(group -> group.isPresent() && group.isInMemory())
        .forEach(group -> stopped.put(group.group(), group.processes()));
    return stopped;
  }

  /** Hands over all groups of which there is something, and keeps none. */
  public Collection<GroupRecovery> takeGroups() {
    final List<GroupRecovery> taken =
        groups.values().stream().filter(GroupRecovery::isPresent).toList();
    groups.clear();
    return taken;
  }
}
