package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random lives of clusters that lose all directories which have all: the group goes on with what an
 * older one has, whether the others come back later or not; all members have the same then, and no
 * version is given twice.
 */
final class RecoverySimulationTest {
  private static final int WORLDS =
      Integer.getInteger(
          "ringfetch.worlds", 25 * Math.max(1, Integer.getInteger("ringfetch.hunt", 0)));

  @Test
  void aGroupGoesOnWithWhatOneNodeHas() {
    run(20261129, Durability.DISK);
  }

  @Test
  void aGroupGoesOnWithWhatOneNodeHasWhereOnlyTheLeadersDiskCounts() {
    run(20261210, Durability.LEADER_DISK);
  }

  @Test
  void aGroupGoesOnWithWhatOneNodeHasWhereNoDiskIsWaitedFor() {
    run(20261212, Durability.INTERVAL);
  }

  @Test
  void aGroupInMemoryGoesOnWithWhatAnOlderRecordOfAnOrderlyStopHas() {
    run(20261211, Durability.MEMORY);
  }

  /** A member lives without its session when the leader comes back, which waits for nobody then. */
  @Test
  void aMemberWithoutItsSessionCountsAsEnded() {
    final Coverage coverage = new Coverage();
    run(1795985061200375851L, coverage, Durability.INTERVAL);
    assertTrue(coverage.of("starts from a disk") > 0, coverage.toString());
  }

  private static void run(long first, Durability level) {
    final long seed = Long.getLong("ringfetch.seed", first);
    final Coverage coverage = new Coverage();
    for (int i = 0; i < WORLDS; i++) {
      run(seed + i, coverage, level);
    }
    System.out.printf("seed=%d worlds=%d %s%n", seed, WORLDS, coverage);
    if (Long.getLong("ringfetch.seed") == null && WORLDS >= 25) { // others may meet less
      for (final String what :
          List.of("accepted losses", "come back", "lost directories", "left alone")) {
        assertTrue(coverage.of(what) > 0, what + " " + coverage);
      }
    }
  }

  private static void run(long seed, Coverage coverage, Durability level) {
    try {
      final Random random = new Random(seed);
      final ReplicationWorld world =
          new ReplicationWorld(random.nextLong(), 3 + random.nextInt(2), 3, coverage, level);
      world.startClients(1 + random.nextInt(6), 2_000_000);
      new ReplicationFaults(world, coverage).run(1_000);
      world.settle();
      world.startClients(1 + random.nextInt(6), 2_000_000);
      world.time().run(200 * ReplicationWorld.MS);
      final List<Long> old = endSome(world, random, level);
      world.time().run((1_500 + random.nextInt(1_000)) * ReplicationWorld.MS);
      world.stopClients();
      endComplete(world, random, coverage);
      for (final long id : old) {
        final SimulatedNode node = world.nodes().get(id);
        if (node == null || !node.isAlive()) {
          world.start(id);
        }
      }
      world.time().run((1_000 + random.nextInt(4_000)) * ReplicationWorld.MS);
      final List<SimulatedNode> announced =
          world.nodes().values().stream()
              .filter(node -> world.coordinator().isAnnounced(node.node()))
              .toList();
      if (announced.stream().anyMatch(node -> isNeeded(world, node))) {
        coverage.count("refused losses");
        return;
      }
      final Optional<SimulatedNode> best =
          announced.stream()
              .filter(node -> log(node) != 0)
              .max(
                  Comparator.<SimulatedNode>comparingLong(
                          node -> node.replica().status().log().position())
                      .thenComparingLong(RecoverySimulationTest::log));
      if (best.isEmpty()) {
        coverage.count("nothing left");
        return;
      }
      world.acceptLoss(best.get());
      world.startClients(2, 2_000_000);
      final boolean comesBack = level != Durability.MEMORY || best.get().stops().has(world.group());
      if (random.nextBoolean() && comesBack) { // before it leads
        coverage.count("late leaders");
        world.crash(best.get().id(), true, 13_000);
        world.time().run(11_500 * ReplicationWorld.MS);
        checkOneServes(world);
      }
      world.time().run(random.nextInt(3_000) * ReplicationWorld.MS);
      world.settle(); // starts those that have ended
    } catch (Throwable t) {
      throw new AssertionError("-Dringfetch.seed=" + seed + " -Dringfetch.worlds=1", t);
    }
  }

  /** Ends nodes, which lack what is written then; one at least is left. */
  private static List<Long> endSome(ReplicationWorld world, Random random, Durability level) {
    final List<Long> ended = new ArrayList<>(world.nodes().keySet());
    ended.remove(random.nextInt(ended.size()));
    if (random.nextBoolean()) {
      ended.remove(random.nextInt(ended.size()));
    }
    for (final long id : ended) {
      if (level == Durability.MEMORY) {
        world.stop(id, 5_000);
      } else {
        world.crash(id, true, -1);
      }
      world.time().run(random.nextInt(300) * ReplicationWorld.MS);
    }
    return ended;
  }

  /** Ends all members that have all: some lose their directories, some come back too late. */
  private static void endComplete(ReplicationWorld world, Random random, Coverage coverage) {
    final GroupState state = world.coordinator().group(world.group());
    for (final Member member : state.getEstablished().getMembersList()) {
      final SimulatedNode node = world.nodes().get(member.getNode());
      if (node == null) {
        continue;
      }
      if (random.nextInt(3) == 0 && node.isAlive()) {
        leaveAlone(world, node, random, coverage);
      } else if (random.nextBoolean()) {
        world.lose(node.id());
      } else if (node.isAlive()) {
        coverage.count("come back");
        world.crash(node.id(), true, -1);
      }
    }
  }

  /** Each that is not of the last configuration knows of it by now, and serves no more. */
  private static void checkOneServes(ReplicationWorld world) {
    final GroupState state = world.coordinator().group(world.group());
    for (final SimulatedNode node : world.nodes().values()) {
      if (node.isAlive()
          && node.store() != null
          && node.store().isLeading()
          && !Configurations.has(state.getEstablished(), node.node())
          && !Configurations.has(state.getWon(), node.node())) {
        throw new AssertionError("node=" + node.id() + " leads:\n" + world.describe());
      }
    }
  }

  /** Has a node live on, which the coordinator and the operator take for dead, and come back. */
  private static void leaveAlone(
      ReplicationWorld world, SimulatedNode node, Random random, Coverage coverage) {
    coverage.count("left alone");
    if (random.nextBoolean()) {
      world.pause(node.id(), 4_000 + random.nextInt(5_000));
    }
    node.session().connect(false);
    world.coordinator().expire(node.node());
    world
        .time()
        .after(
            (4_000 + random.nextInt(5_000)) * ReplicationWorld.MS,
            () -> node.session().connect(true));
  }

  /** Whether a node is silent, has all, or may have more than it says. */
  private static boolean isNeeded(ReplicationWorld world, SimulatedNode node) {
    if (!node.isAlive() || node.isPaused()) {
      return true;
    }
    if (node.replica() == null) {
      return false;
    }
    final ReplicaStatus status = node.replica().status();
    return status.group() == null
        || status.group().getVersion() != world.coordinator().group(world.group()).getVersion()
        || status.isLeading()
        || status.log().isWhole()
        || status.log().mayHaveMore();
  }

  private static long log(SimulatedNode node) {
    return node.isAlive() && node.replica() != null ? node.replica().status().log().epoch() : 0;
  }
}
