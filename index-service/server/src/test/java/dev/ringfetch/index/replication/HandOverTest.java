package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of a group whose leader's node ends in order. */
final class HandOverTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 20261203);
  private static final int WORLDS = 11;

  /** In virtual time; half of the silence after which members take a leader for dead. */
  private static final int PAUSE_MS = 250;

  private final Coverage coverage = new Coverage();

  @AfterEach
  void print() {
    System.out.printf("seed=%d %s%n", SEED, coverage);
  }

  private ReplicationWorld world(long seed, int nodes, Durability level) {
    final ReplicationWorld world = new ReplicationWorld(seed, nodes, nodes, coverage, level);
    world.startClients(4, 500_000);
    world.time().run(500 * ReplicationWorld.MS);
    for (int i = 0; i < 100 && !isWhole(world, nodes); i++) { // messages may be late
      world.time().run(100 * ReplicationWorld.MS);
    }
    return world;
  }

  private static boolean isWhole(ReplicationWorld world, int nodes) {
    final GroupState state = world.coordinator().group(world.group());
    return world.leader() != null
        && !state.hasWon()
        && state.getEstablished().getMembersCount() == nodes
        && world.leader().replica().status().established();
  }

  @ParameterizedTest
  @EnumSource(
      value = Durability.class,
      names = {"MEMORY", "INTERVAL", "LEADER_DISK", "DISK"})
  void clientsGoOnWhileTheLeaderEnds(Durability level) {
    final Random seeds = new Random(SEED);
    final long[] pausesMs = new long[WORLDS];
    for (int i = 0; i < WORLDS; i++) {
      final ReplicationWorld world = world(seeds.nextLong(), 2 + i % 2, level);
      final SimulatedNode leader = world.leader();
      world.stop(leader.id(), 1_000);
      pausesMs[i] = longestPauseMs(world, 2_000);
      assertNotEquals(leader.id(), world.leader().id());
      world.settle();
    }
    Arrays.sort(pausesMs); // some messages are late
    System.out.printf("level=%s pauses in ms: %s%n", level, Arrays.toString(pausesMs));
    assertTrue(coverage.of("hand-overs") >= WORLDS, coverage::toString);
    assertTrue(pausesMs[WORLDS / 2] < PAUSE_MS, () -> Arrays.toString(pausesMs));
  }

  /** Idle members are asked whether their nodes go on. */
  @Test
  void leaderOfAnIdleGroupHandsItOver() {
    final ReplicationWorld world = world(SEED, 3, Durability.MEMORY);
    world.stopClients();
    world.time().run(5_000 * ReplicationWorld.MS);
    final SimulatedNode leader = world.leader();
    final long handOvers = coverage.of("hand-overs");
    world.stop(leader.id(), 1_000);
    world.time().run(300 * ReplicationWorld.MS);
    assertEquals(handOvers + 1, coverage.of("hand-overs"));
    assertNotEquals(leader.id(), world.leader().id());
    world.settle();
  }

  private long longestPauseMs(ReplicationWorld world, int lifeMs) {
    long answered = coverage.of("answered calls");
    long pauseMs = 0;
    long longestMs = 0;
    for (int ms = 0; ms < lifeMs; ms++) {
      world.time().run(ReplicationWorld.MS);
      pauseMs = coverage.of("answered calls") == answered ? pauseMs + 1 : 0;
      answered = coverage.of("answered calls");
      longestMs = Math.max(longestMs, pauseMs);
    }
    world.checkErrors();
    return longestMs;
  }

  /** Others send clients nowhere, and give it nothing, while what it has is written. */
  @Test
  void aNodeThatHasHandedOverIsAnnouncedNoMore() {
    final ReplicationWorld world = world(SEED, 3, Durability.MEMORY);
    final SimulatedNode leader = world.leader();
    new HandOver(leader.replicas(), world.time()::nowNs).end(); // too early
    assertTrue(world.coordinator().isAnnounced(leader.node()), "it leads");
    final HandOver handOver = new HandOver(world.leader().replicas(), world.time()::nowNs);
    assertFalse(handOver.isDone() && world.leader().replica().hasHandedOver());
    final SimulatedNode member =
        world.nodes().values().stream().filter(node -> node != leader).findFirst().orElseThrow();
    new HandOver(member.replicas(), world.time()::nowNs).end();
    assertFalse(world.coordinator().isAnnounced(member.node()), "it leads nothing");
  }

  /** Clients would not find it, as it is announced no more. */
  @Test
  void aNodeThatEndsTakesOverAfterTheOthers() {
    final Random seeds = new Random(SEED);
    int led = 0;
    for (int i = 0; i < WORLDS; i++) {
      final ReplicationWorld world = world(seeds.nextLong(), 3, Durability.MEMORY);
      final SimulatedNode leader = world.leader();
      final SimulatedNode ending =
          world.coordinator().group(world.group()).getEstablished().getMembersList().stream()
              .map(member -> world.nodes().get(member.getNode()))
              .filter(node -> node != leader)
              .findFirst() // which would be the first to take over
              .orElseThrow();
      final HandOver handOver = new HandOver(ending.replicas(), world.time()::nowNs);
      world.time().run(20 * ReplicationWorld.MS);
      handOver.end();
      world.time().run(5 * ReplicationWorld.MS);
      leader.end(true);
      world.coordinator().end(leader.session(), 0);
      world.time().run(2_500 * ReplicationWorld.MS);
      final long leads = world.coordinator().group(world.group()).getEstablished().getLeader();
      led += leads == ending.id() ? 1 : 0;
    }
    assertTrue(led <= WORLDS / 2, "led=" + led); // messages may be late
  }

  /** Where all nodes end at once nobody waits, and each keeps what it has. */
  @Test
  void nothingIsHandedToANodeThatEndsToo() {
    final Random seeds = new Random(SEED);
    for (int i = 0; i < WORLDS; i++) {
      final ReplicationWorld world = world(seeds.nextLong(), 3, Durability.MEMORY);
      for (final SimulatedNode node : world.nodes().values()) {
        new HandOver(node.replicas(), world.time()::nowNs);
      }
      final long beganNs = world.time().nowNs();
      for (int ms = 0; ms < 1_000 && !world.leader().replica().hasHandedOver(); ms++) {
        world.time().run(ReplicationWorld.MS);
      }
      final long waitedMs = (world.time().nowNs() - beganNs) / ReplicationWorld.MS;
      assertTrue(
          waitedMs < ReplicaContext.Limits.NODE_TIMEOUT_DEFAULT_NS / ReplicationWorld.MS,
          "ms=" + waitedMs);
      world.time().run(1_000 * ReplicationWorld.MS);
      world.checkErrors();
      assertEquals(0, coverage.of("hand-overs"), world::describe);
    }
  }

  /** It may find no room for its record, and that of the leader that ended would be void then. */
  @Test
  void aNodeThatEndsDoesNotTakeOverAloneWhatItIsHanded() {
    final Random seeds = new Random(SEED);
    for (int i = 0; i < WORLDS; i++) {
      final ReplicationWorld world = world(seeds.nextLong(), 2, Durability.MEMORY);
      final SimulatedNode leader = world.leader();
      final long other = 3 - leader.id();
      world.stop(leader.id(), 20_000);
      while (!world.coordinator().group(world.group()).hasWon()) {
        world.time().run(ReplicationWorld.MS / 20);
      }
      if (world.nodes().get(other).replica().status().gate()
          == world.coordinator().group(world.group()).getWon().getEpoch()) {
        continue; // it knows already
      }
      world.nodes().get(other).stops().room = 0;
      world.stop(other, 20_000);
      world.time().run(8_000 * ReplicationWorld.MS);
      world.checkErrors();
      assertNotEquals(
          other,
          world.coordinator().group(world.group()).getEstablished().getLeader(),
          world::describe);
      world.settle(); // with the leader's record
    }
    assertEquals(0, coverage.of("lost groups"));
  }

  /** It waits for the one that is to lead, and not for ever. */
  @Test
  void aSuccessorThatDoesNotComeKeepsNobodyFromEnding() {
    final ReplicationWorld world = world(SEED, 2, Durability.MEMORY);
    final SimulatedNode leader = world.leader();
    final long other = 3 - leader.id();
    final long endNs = world.time().nowNs() + HandOver.STEP_NS - 10 * ReplicationWorld.MS;
    world.stop(leader.id(), 20_000);
    while (!world.coordinator().group(world.group()).hasWon()) {
      world.time().run(ReplicationWorld.MS / 20);
    }
    world.pause(other, 8_000);
    world.time().run(endNs - world.time().nowNs());
    assertTrue(leader.isAlive(), "it has not waited");
    assertEquals(other, world.coordinator().group(world.group()).getWon().getLeader());
    world.time().run(8_000 * ReplicationWorld.MS);
    assertFalse(leader.isAlive(), world::describe);
    world.settle();
  }
}
