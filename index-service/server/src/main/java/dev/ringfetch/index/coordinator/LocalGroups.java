package dev.ringfetch.index.coordinator;

import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.v1.AdoptedDirectory;
import dev.ringfetch.index.v1.CoordinatorState;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The groups of a cluster without ZooKeeper, as one message that each change replaces. Assigns the
 * epochs of configurations, and the ids of groups.
 *
 * <p>Used by one thread at a time.
 */
final class LocalGroups {
  private static final Logger LOGGER = System.getLogger(LocalGroups.class.getName());

  private final LongSupplier random;
  private CoordinatorState state;

  LocalGroups(LongSupplier random, CoordinatorState state) {
    this.random = random;
    this.state = state;
  }

  CoordinatorState state() {
    return state;
  }

  /** Undoes all changes since another state. */
  void goBack(CoordinatorState earlier) {
    state = earlier;
  }

  /** The place of a group in the state; -1 if it is not there. */
  private int place(long group) {
    for (int i = 0; i < state.getGroupsCount(); i++) {
      if (state.getGroups(i).getGroup() == group) {
        return i;
      }
    }
    return -1;
  }

  @Nullable GroupState find(long group) {
    final int place = place(group);
    return place < 0 ? null : state.getGroups(place);
  }

  @Nullable GroupState ofIndex(String index) {
    for (final GroupState group : state.getGroupsList()) {
      if (group.getIndex().equals(index)) {
        return group;
      }
    }
    return null;
  }

  GroupState create(GroupState first) {
    final long id = Coordinator.drawGroup(random, state.getDropped(), drawn -> place(drawn) >= 0);
    return put(first.toBuilder().setGroup(id).setVersion(0));
  }

  void drop(GroupState group) {
    final CoordinatorState.Builder next =
        state.toBuilder().setDropped(Coordinator.dropped(state.getDropped(), group));
    final int place = place(group.getGroup());
    state = (place < 0 ? next : next.removeGroups(place)).build();
  }

  /** Changes a group, with an epoch for its won or recovered configuration. */
  GroupState put(GroupState.Builder group) {
    final CoordinatorState.Builder next = state.toBuilder();
    if (group.hasWon() && group.getWon().getEpoch() == 0) {
      group.getWonBuilder().setEpoch(state.getEpoch() + 1);
      next.setEpoch(state.getEpoch() + 1);
    } else if (group.hasEstablished() && group.getEstablished().getEpoch() == 0) {
      group.getEstablishedBuilder().setEpoch(state.getEpoch() + 1);
      next.setEpoch(state.getEpoch() + 1);
    }
    final GroupState changed = group.build();
    final int place = place(changed.getGroup());
    state = (place < 0 ? next.addGroups(changed) : next.setGroups(place, changed)).build();
    return changed;
  }

  /** Adopts the groups of a directory; returns the obstacle, or null. */
  @Nullable String adopt(DirectoryGroups brought) {
    final long nonce = nonce(brought.node());
    if (nonce == brought.nonce()) {
      return null; // since earlier
    }
    if (nonce != 0) {
      return brought.adoptedBefore();
    }
    for (final GroupState group : brought.groups()) {
      if (ofIndex(group.getIndex()) != null) {
        return DirectoryGroups.nameTaken(group.getIndex());
      }
    }
    note(brought.node(), brought.nonce());
    state =
        state.toBuilder()
            .setEpoch(Math.max(state.getEpoch(), brought.epoch()))
            .addAllGroups(brought.groups())
            .build();
    return null;
  }

  /** Gives an adoption up; returns false if it was carried out. */
  boolean giveUp(long node, long nonce) {
    if (nonce(node) == nonce) {
      return false;
    }
    if (nonce(node) == 0) {
      note(node, 0);
    }
    return true;
  }

  private long nonce(long node) {
    for (final AdoptedDirectory adopted : state.getAdoptedList()) {
      if (adopted.getNode() == node) {
        return adopted.getNonce();
      }
    }
    return 0;
  }

  private void note(long node, long nonce) {
    final CoordinatorState.Builder next = state.toBuilder().clearAdopted();
    state.getAdoptedList().stream()
        .filter(adopted -> adopted.getNode() != node)
        .forEach(next::addAdopted);
    state = next.addAdopted(AdoptedDirectory.newBuilder().setNode(node).setNonce(nonce)).build();
  }

  /**
   * Assigns no epoch again that a disk has.
   *
   * @param found groups on the disk, and their newest epochs there
   */
  void continueFrom(Map<GroupState, Long> found) {
    final long newest = found.values().stream().reduce(state.getEpoch(), Math::max);
    state = state.toBuilder().setEpoch(newest).build();
  }

  /**
   * Continues as those of a copy: groups that its journal has not are dropped, the others go on as
   * after an accepted loss.
   */
  void continueCopy(long node, Collection<GroupState> ofJournal) throws IOException {
    state = state.toBuilder().clearMove().build();
    final Map<Long, GroupState> kept = Copies.kept(state.getGroupsList(), ofJournal);
    ofJournal.stream().filter(group -> !kept.containsKey(group.getGroup())).forEach(this::drop);
    for (final GroupState group : List.copyOf(state.getGroupsList())) {
      if (!kept.containsKey(group.getGroup())) {
        drop(group);
        final IndexDefinition definition = IndexDefinition.of(group);
        if (definition != null && definition.durability() == Durability.MEMORY) {
          LOGGER.log(
              Level.WARNING,
              "an index at level memory is not in a copy, and is gone: index={0}",
              group.getIndex());
        }
      }
    }
    for (final GroupState group : kept.values()) {
      put(Copies.adopted(group, node, random).toBuilder().setVersion(group.getVersion() + 1));
    }
  }
}
