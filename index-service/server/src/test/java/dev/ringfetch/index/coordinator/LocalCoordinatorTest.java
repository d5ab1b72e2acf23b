package dev.ringfetch.index.coordinator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.v1.DroppedGroups;
import dev.ringfetch.index.v1.GroupState;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/** The coordinator in memory. */
final class LocalCoordinatorTest extends CoordinatorContract {
  private LocalCoordinator.Truth truth;

  @Override
  protected LocalCoordinator connect(LongSupplier ids) {
    if (truth == null) {
      truth = new LocalCoordinator.Truth(ids);
    }
    return truth.connect();
  }

  @Test
  void whatHappensMeanwhileIsToldAfterwards() throws Exception {
    final LocalCoordinator coordinator = truth.connect();
    final Party away = new Party(coordinator, new java.util.Random(1));
    final Party other = party();
    away.awaitConnected();
    final GroupState group = established("group");
    away.awaitGroup(group.getGroup(), group.getVersion());
    coordinator.announce(node(7, 1));
    other.await("the node", () -> other.nodes().containsKey(7L));

    coordinator.reachable(false);
    away.await("away", () -> !away.isConnected());
    assertNull(away.await(Result.UNKNOWN, away.win(group, 1)));
    final GroupState won = other.await(Result.DONE, other.win(group, 2));
    coordinator.expire();
    other.await("expired", () -> !other.nodes().containsKey(7L));
    away.poll();
    assertEquals(group, away.groups().get(group.getGroup()));
    assertFalse(away.isConnected());

    coordinator.reachable(true);
    away.await("back", away::isConnected);
    assertEquals(won, away.groups().get(group.getGroup()));
    assertTrue(away.nodes().containsKey(7L), "announced again");
    coordinator.close();
  }

  @Test
  void whatWasDroppedLongAgoIsForgotten() {
    DroppedGroups dropped = DroppedGroups.getDefaultInstance();
    for (int i = 1; i <= Coordinator.DROPPED_LIMIT + 2; i++) {
      dropped = Coordinator.dropped(dropped, GroupState.newBuilder().setGroup(i).build());
    }
    assertEquals(Coordinator.DROPPED_LIMIT, dropped.getGroupsCount());
    assertEquals(3, dropped.getGroups(0).getGroup());
    assertEquals(
        Coordinator.DROPPED_LIMIT + 2, dropped.getGroups(Coordinator.DROPPED_LIMIT - 1).getGroup());
  }
}
