package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What a group does in the cases that each have a name. */
final class ReplicaTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 29);

  private final Coverage coverage = new Coverage();

  @Test
  void failsOverWhenLeaderIsKilled() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    world.startClients(4, 500_000);
    world.time().run(300 * ReplicationWorld.MS);
    final SimulatedNode first = world.leader();
    assertEquals(1, first.id());
    world.crash(first.id(), true, -1);
    world.time().run(400 * ReplicationWorld.MS);
    assertNotEquals(null, world.leader(), world::describe);
    assertNotEquals(1, world.leader().id());
    assertEquals(1, coverage.of("fail-overs"));
    world.settle();
    assertTrue(coverage.of("reads") > 20, coverage::toString);
    assertTrue(coverage.of("joins") > 0, coverage::toString);
  }
}
