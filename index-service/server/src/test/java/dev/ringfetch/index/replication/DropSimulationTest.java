package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.log.GroupRecovery;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Random lives of clusters whose index is dropped while some of its nodes are down, or their disks
 * full: no node has anything of it any more. Where the coordinator has lost what it knew, each node
 * keeps what it has.
 */
final class DropSimulationTest {
  private static final int WORLDS =
      Integer.getInteger(
          "ringfetch.worlds", 25 * Math.max(1, Integer.getInteger("ringfetch.hunt", 0)));
  private static final int LIFE_MS = 2_000;

  @Test
  void aDroppedIndexLeavesAllNodes() {
    final long seed = Long.getLong("ringfetch.seed", 20261128);
    final Coverage coverage = new Coverage();
    for (int i = 0; i < WORLDS; i++) {
      run(seed + i, coverage);
    }
    System.out.printf("seed=%d worlds=%d %s%n", seed, WORLDS, coverage);
    if (Long.getLong("ringfetch.seed") == null && WORLDS >= 25) { // others may meet less
      for (final String what : List.of("drops while down", "drops without room", "kept")) {
        assertTrue(coverage.of(what) > 0, what + " " + coverage);
      }
    }
  }

  private static void run(long seed, Coverage coverage) {
    try {
      final Random random = new Random(seed);
      final int nodes = 2 + random.nextInt(3);
      final ReplicationWorld world =
          new ReplicationWorld(random.nextLong(), nodes, 2 + random.nextInt(2), coverage, true);
      world.startClients(1 + random.nextInt(4), 2_000_000);
      new ReplicationFaults(world, coverage).run(LIFE_MS);
      world.settle();
      if (random.nextInt(4) == 0) {
        loseTheCoordinator(world, coverage);
      } else {
        drop(world, random, coverage);
      }
      world.checkErrors();
    } catch (Throwable t) {
      throw new AssertionError("-Dringfetch.seed=" + seed + " -Dringfetch.worlds=1", t);
    }
  }

  private static void drop(ReplicationWorld world, Random random, Coverage coverage) {
    final Set<Long> full = new TreeSet<>();
    for (final SimulatedNode node : List.copyOf(world.nodes().values())) {
      if (random.nextInt(3) == 0) {
        node.snapshot(); // which may be under way then
      }
      if (random.nextBoolean()) {
        coverage.count("drops while down");
        world.crash(node.id(), true, -1);
      } else if (random.nextBoolean()) {
        coverage.count("drops without room");
        node.directory().isFull = true;
        full.add(node.id());
      }
    }
    world.coordinator().drop(world.group());
    run(world, random.nextInt(3) * 500L);
    for (final SimulatedNode node : List.copyOf(world.nodes().values())) {
      node.directory().isFull = false;
      if (node.isAlive() && random.nextInt(3) == 0) {
        world.crash(node.id(), true, -1);
      }
      if (!node.isAlive()) {
        world.start(node.id());
      }
    }
    run(world, 3_000); // the coordinator may tell late
    world.nodes().values().forEach(SimulatedNode::snapshot);
    run(world, 5_000);
    for (final SimulatedNode node : world.nodes().values()) {
      assertEquals(List.of(), node.replicas().onDisk());
      if (!full.contains(node.id())) {
        assertEquals(List.of(), left(world, node));
      }
    }
    // A full disk has no record of the end. If its snapshot is damaged, a start drops it anew.
    for (final long id : full) {
      world.crash(id, true, -1);
      world.start(id);
      run(world, 500);
      assertEquals(List.of(), world.nodes().get(id).replicas().onDisk());
    }
  }

  /** The coordinator knows no group, as one that is new, or another one. */
  private static void loseTheCoordinator(ReplicationWorld world, Coverage coverage) {
    world.nodes().keySet().stream().toList().forEach(id -> world.crash(id, true, -1));
    final List<Integer> before =
        world.nodes().values().stream().map(node -> left(world, node).size()).toList();
    world.coordinator().forget();
    world.nodes().keySet().stream().toList().forEach(world::start);
    run(world, 500);
    world.nodes().values().forEach(SimulatedNode::snapshot);
    run(world, 500);
    assertEquals(
        before, world.nodes().values().stream().map(node -> left(world, node).size()).toList());
    coverage.add("kept", before.stream().mapToInt(Integer::intValue).sum());
  }

  /** What a start with the newest snapshot finds: the older one may be from before the drop. */
  private static List<Long> left(ReplicationWorld world, SimulatedNode node) {
    node.directory().damagesSnapshots = false;
    return node
        .directory()
        .recover(group -> new SimulatedStore(world, node, group.getGroup()), world.logLimit())
        .takeGroups()
        .stream()
        .map(GroupRecovery::group)
        .toList();
  }

  private static void run(ReplicationWorld world, long ms) {
    world.time().run(ms * ReplicationWorld.MS);
  }
}
