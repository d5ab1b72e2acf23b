package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.v1.DroppedGroup;
import dev.ringfetch.index.v1.GroupState;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;
import org.agrona.ErrorHandler;

/**
 * The groups that an earlier process has left on a node's disk, until the coordinator decides about
 * them: they continue, they were dropped, or the coordinator does not know them.
 *
 * <p>Used by the thread that works, unless a method says otherwise.
 */
final class EarlierGroups {
  private final Map<Long, Replica> replicas;
  private final Map<Long, GroupState> groups;
  private final ErrorHandler errors;

  /** Definitions of the groups that the disk has, until the coordinator was reached. */
  private final Map<Long, ByteString> recovered = new HashMap<>();

  /** Definitions of the groups that were dropped last. */
  private Map<Long, ByteString> dropped = Map.of();

  /** Groups that the coordinator does not know. */
  private final Map<Long, Unknown> unknown = new ConcurrentHashMap<>();

  /** Numbers of groups that were refused, of which that was said. */
  private final Set<Long> told = ConcurrentHashMap.newKeySet();

  private record Unknown(Replica replica, ByteString definition) {}

  /**
   * Creates it; there is none yet.
   *
   * @param replicas of the node, from which those are taken that are put aside
   * @param groups that the coordinator knows
   * @param errors is told of those that are put aside
   */
  EarlierGroups(Map<Long, Replica> replicas, Map<Long, GroupState> groups, ErrorHandler errors) {
    this.replicas = replicas;
    this.groups = groups;
    this.errors = errors;
  }

  /** Adds a group that the disk has. */
  void add(GroupState state) {
    recovered.put(state.getGroup(), state.getDefinition());
  }

  /** The replicas of unknown groups, by their groups. On any thread. */
  Map<Long, Replica> unknown() {
    final Map<Long, Replica> found = new HashMap<>();
    unknown.forEach((group, one) -> found.put(group, one.replica));
    return found;
  }

  /** Whether a group with this number was put aside: what there is of it is another one's. */
  boolean hasPutAside(long group) {
    return unknown.containsKey(group);
  }

  /** The coordinator has said of a group; called before the group counts as known. */
  void onGroup(GroupState state) {
    final ByteString before = recovered.get(state.getGroup());
    if (before != null && !before.equals(state.getDefinition())) {
      putAside(state.getGroup(), before);
    }
  }

  /**
   * The coordinator has said of all groups that there are.
   *
   * @param drop drops a group
   */
  void onGroupsKnown(LongConsumer drop) {
    for (final Map.Entry<Long, ByteString> before : recovered.entrySet()) {
      if (isDropped(before.getKey(), before.getValue())) {
        drop.accept(before.getKey());
      } else if (!groups.containsKey(before.getKey())) {
        putAside(before.getKey(), before.getValue());
      }
    }
    recovered.clear();
  }

  /**
   * The coordinator has said which groups were dropped last.
   *
   * @param droppedNow is told of groups that were put aside, and are dropped
   */
  void onDroppedGroups(Collection<DroppedGroup> newest, LongConsumer droppedNow) {
    final Map<Long, ByteString> definitions = new HashMap<>();
    newest.forEach(group -> definitions.put(group.getGroup(), group.getDefinition()));
    dropped = definitions;
    dropUnknown(droppedNow);
  }

  /**
   * Puts aside what an earlier process had of a group that the coordinator does not know. It stays
   * on the disk, and in the snapshots of the disk: the coordinator may be the wrong one. Only where
   * the coordinator says that this very group was dropped, it goes.
   */
  private void putAside(long group, ByteString definition) {
    final Replica replica = replicas.get(group);
    if (replica != null) {
      // First: a snapshot finds it in one of the two.
      unknown.put(group, new Unknown(replica, definition));
      replicas.remove(group);
      errors.onError(
          new GroupStoreException(
              "the coordinator knows no such group, whose records stay on the disk: group="
                  + group));
    }
  }

  /** Whether a group is one that was dropped, and not another one with its number. */
  private boolean isDropped(long group, ByteString definition) {
    return definition.equals(dropped.get(group)) && !groups.containsKey(group);
  }

  /** Drops what was put aside before the coordinator said that it was dropped. */
  private void dropUnknown(LongConsumer droppedNow) {
    for (final Map.Entry<Long, Unknown> entry : Map.copyOf(unknown).entrySet()) {
      final Unknown one = entry.getValue();
      if (isDropped(entry.getKey(), one.definition) && unknown.remove(entry.getKey(), one)) {
        one.replica.drop();
        droppedNow.accept(entry.getKey());
      }
    }
  }

  /**
   * Whether the disk has records under the number of a group that were put aside: the group's own
   * ones would end them. On any thread.
   */
  boolean isTaken(GroupState state) {
    final Unknown before = unknown.get(state.getGroup());
    if (before != null && told.add(state.getGroup())) {
      final boolean isSame = before.definition.equals(state.getDefinition());
      errors.onError(
          new GroupStoreException(
              (isSame
                      ? "the coordinator knows the group again, start the node again: group="
                      : "no replica of the group, as the disk has records of another one with its"
                          + " number; move the data directory away: group=")
                  + state.getGroup()
                  + " index="
                  + state.getIndex()));
    }
    return before != null;
  }

  /** The largest number that was put aside, if the coordinator may yet give it; else 0. */
  long notGivenYet() {
    long newest = 0;
    for (final long group : groups.keySet()) {
      newest = Math.max(newest, group);
    }
    for (final long group : dropped.keySet()) {
      newest = Math.max(newest, group);
    }
    long largest = 0;
    for (final long group : unknown.keySet()) {
      largest = Math.max(largest, group);
    }
    return largest > newest ? largest : 0;
  }

  /** Ends the replicas that were put aside. On any thread. */
  void close() {
    unknown.values().forEach(one -> one.replica.close());
  }
}
