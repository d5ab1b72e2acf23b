package dev.ringfetch.index.replication;

import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.v1.GroupState;
import java.util.Collection;
import java.util.HashSet;
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

  /** The groups that the disk has, until the coordinator was reached. */
  private final Set<Long> recovered = new HashSet<>();

  /** The groups that were dropped last. */
  private Set<Long> dropped = Set.of();

  /** Replicas of groups that the coordinator does not know. */
  private final Map<Long, Replica> unknown = new ConcurrentHashMap<>();

  /** Groups that were refused, of which that was said. */
  private final Set<Long> told = ConcurrentHashMap.newKeySet();

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
    recovered.add(state.getGroup());
  }

  /** The replicas of unknown groups, by their groups. On any thread. */
  Map<Long, Replica> unknown() {
    return unknown;
  }

  /** Whether a group was put aside. */
  boolean hasPutAside(long group) {
    return unknown.containsKey(group);
  }

  /**
   * The coordinator has said of all groups that there are.
   *
   * @param drop drops a group
   */
  void onGroupsKnown(LongConsumer drop) {
    for (final long group : recovered) {
      if (isDropped(group)) {
        drop.accept(group);
      } else if (!groups.containsKey(group)) {
        putAside(group);
      }
    }
    recovered.clear();
  }

  /**
   * The coordinator has said which groups were dropped last.
   *
   * @param droppedNow is told of groups that were put aside, and are dropped
   */
  void onDroppedGroups(Collection<Long> newest, LongConsumer droppedNow) {
    dropped = Set.copyOf(newest);
    dropUnknown(droppedNow);
  }

  /**
   * Puts aside what an earlier process had of a group that the coordinator does not know. It stays
   * on the disk, and in the snapshots of the disk: the coordinator may have been set back to an
   * older state. Only where the coordinator says that the group was dropped, it goes.
   */
  private void putAside(long group) {
    final Replica replica = replicas.get(group);
    if (replica != null) {
      // First: a snapshot finds it in one of the two.
      unknown.put(group, replica);
      replicas.remove(group);
      errors.onError(
          new GroupStoreException(
              "the coordinator knows no such group, whose records stay on the disk: group="
                  + group));
    }
  }

  private boolean isDropped(long group) {
    return dropped.contains(group) && !groups.containsKey(group);
  }

  /** Drops what was put aside before the coordinator said that it was dropped. */
  private void dropUnknown(LongConsumer droppedNow) {
    for (final long group : Set.copyOf(unknown.keySet())) {
      if (isDropped(group)) {
        unknown.remove(group).drop();
        droppedNow.accept(group);
      }
    }
  }

  /**
   * Whether the disk has records of the group that were put aside: those of a new replica would end
   * them. On any thread.
   */
  boolean isTaken(GroupState state) {
    final boolean isTaken = hasPutAside(state.getGroup());
    if (isTaken && told.add(state.getGroup())) {
      errors.onError(
          new GroupStoreException(
              "the coordinator knows the group again, start the node again: group="
                  + state.getGroup()
                  + " index="
                  + state.getIndex()));
    }
    return isTaken;
  }

  /** Ends the replicas that were put aside. On any thread. */
  void close() {
    unknown.values().forEach(Replica::close);
  }
}
