package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.Durability;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Random lives of clusters whose index is on the disks of all members: besides all that happens to
 * those in memory, all nodes lose their power at once, directories are lost, disks fill up and
 * fail. Nothing that was acknowledged is lost as long as one member's directory is left.
 */
final class DiskSimulationTest {
  private static final int WORLDS =
      Integer.getInteger(
          "ringfetch.worlds", 25 * Math.max(1, Integer.getInteger("ringfetch.hunt", 0)));
  private static final int LIFE_MS = 8_000;
  private static final int STEP_MS = 400;

  /** What each run meets. */
  private static final String[] MET = {
    "closed gates",
    "cold starts",
    "cuts of all power",
    "direct reads",
    "direct reads with posted looks",
    "damaged snapshots",
    "disk snapshots",
    "disks without any room",
    "fail-overs",
    "full disks",
    "joins",
    "lost directories",
    "lost records",
    "pieces",
    "restarts",
    "resumed logs",
    "resumed logs that lack nothing",
    "slow disks",
    "starts from snapshots",
  };

  @Test
  void nothingAcknowledgedIsLostThatOneDirectoryHas() {
    final long seed = Long.getLong("ringfetch.seed", 20261130);
    final Coverage coverage = new Coverage();
    for (int i = 0; i < WORLDS; i++) {
      run(seed + i, coverage);
    }
    System.out.printf("seed=%d worlds=%d %s%n", seed, WORLDS, coverage);
    if (Long.getLong("ringfetch.seed") == null && WORLDS >= 25) { // others may meet less
      for (final String what : MET) {
        assertTrue(coverage.of(what) > 0, what + " " + coverage);
      }
    }
  }

  @Test
  void nothingAcknowledgedIsLostThatTheDirectoryOfTheLastLeaderHas() {
    final long seed = Long.getLong("ringfetch.seed", 20261202);
    final Coverage coverage = new Coverage();
    for (int i = 0; i < WORLDS; i++) {
      runLeaders(seed + i, coverage);
    }
    System.out.printf("seed=%d worlds=%d %s%n", seed, WORLDS, coverage);
    if (Long.getLong("ringfetch.seed") == null && WORLDS >= 25) { // others may meet less
      for (final String what : MET) {
        assertTrue(coverage.of(what) > 0, what + " " + coverage);
      }
    }
  }

  /** A write is lost only where no disk had it, and each process that had it has ended. */
  @Test
  void whatWasSyncedIsThereAndVersionsGoOnWhereNoDiskIsWaitedFor() {
    final long seed = Long.getLong("ringfetch.seed", 20261203);
    final Coverage coverage = new Coverage();
    for (int i = 0; i < WORLDS; i++) {
      runIntervals(seed + i, coverage);
    }
    System.out.printf("seed=%d worlds=%d %s%n", seed, WORLDS, coverage);
    if (Long.getLong("ringfetch.seed") == null && WORLDS >= 25) { // others may meet less
      for (final String what : MET) {
        assertTrue(coverage.of(what) > 0, what + " " + coverage);
      }
      assertTrue(coverage.of("lost writes") > 0, coverage::toString);
    }
  }

  /** The older state leads nothing, and is made whole as any log that was left behind. */
  @Test
  void nothingAcknowledgedIsLostWhereAnOlderStateOfADirectoryIsServed() {
    final long seed = Long.getLong("ringfetch.seed", 20261145);
    final Coverage coverage = new Coverage();
    for (int i = 0; i < Math.min(WORLDS, 12); i++) {
      run(seed + i, coverage, Durability.DISK, true);
    }
    System.out.printf("seed=%d %s%n", seed, coverage);
    if (Long.getLong("ringfetch.seed") == null && WORLDS >= 12) {
      assertTrue(coverage.of("older states") > 0, coverage::toString);
      assertTrue(coverage.of("nodes kept out") > 0, coverage::toString);
    }
  }

  /** A node joins whose disk has room for a part of the snapshot: at the first attempt. */
  @Test
  void aSnapshotIsPacedByTheDiskOfTheNodeThatJoins() {
    final long seed = Long.getLong("ringfetch.seed", 20261127);
    long slow = 0;
    for (int i = 0; i < 8; i++) {
      final Coverage coverage = new Coverage();
      try {
        final ReplicationWorld world = new ReplicationWorld(seed + i, 3, 3, coverage, true);
        joinSlowly(world);
        slow += coverage.of("slow disks"); // a short snapshot may go by before
        assertTrue(coverage.of("joins") > 0, "no node joined");
        for (final SimulatedNode node : world.nodes().values()) {
          if (node.id() > 3) { // others may have begun anew under an earlier leader
            assertEquals(1, node.directory().begins(), "node=" + node.id());
          }
        }
      } catch (Throwable t) {
        throw new AssertionError("-Dringfetch.seed=" + (seed + i) + " " + coverage, t);
      }
    }
    System.out.printf("seed=%d slow=%d%n", seed, slow);
    assertTrue(slow > 0, "no disk was slow: seed=" + seed);
  }

  private static void joinSlowly(ReplicationWorld world) {
    world.startClients(6, 1_000_000);
    world.time().run(2_000 * ReplicationWorld.MS);
    world.stopClients();
    world.startClients(1, 20 * ReplicationWorld.MS); // the leader keeps what comes meanwhile
    final SimulatedNode leader = world.leader();
    final long lost =
        world.nodes().keySet().stream().filter(id -> id != leader.id()).findFirst().orElseThrow();
    world.lose(lost);
    for (int i = 0; i < 200; i++) {
      for (final SimulatedNode node : world.nodes().values()) {
        if (node.id() > 3) {
          slow(node);
        }
      }
      world.time().run(10 * ReplicationWorld.MS);
    }
    world.settle();
  }

  private static void fill(ReplicationWorld world, SimulatedDirectory directory, long ms) {
    directory.isFull = true;
    directory.isShort = ms % 2 == 0;
    world
        .time()
        .after(
            ms * ReplicationWorld.MS,
            () -> {
              directory.isFull = false;
              directory.isShort = false;
            });
  }

  private static void slow(SimulatedNode node) {
    node.directory().room = 300;
    node.directory().syncNs = 60 * ReplicationWorld.MS;
  }

  /** As of a server alone, whose disk is slow, and which ends in order, or is killed. */
  @Test
  void nothingThatWasAnsweredIsLostByAnOrderlyEnd() {
    final long seed = Long.getLong("ringfetch.seed", 20261129);
    final Coverage coverage = new Coverage();
    for (int i = 0; i < Math.max(1, WORLDS / 4); i++) {
      runStops(seed + i, coverage);
    }
    System.out.printf("seed=%d %s%n", seed, coverage);
    if (Long.getLong("ringfetch.seed") == null) {
      for (final String what :
          List.of("orderly stops", "kills", "slow disks", "starts from a disk")) {
        assertTrue(coverage.of(what) > 0, what + " " + coverage);
      }
    }
  }

  private static void runStops(long seed, Coverage coverage) {
    try {
      final Random random = new Random(seed);
      final ReplicationWorld world =
          new ReplicationWorld(random.nextLong(), 1, 1, coverage, Durability.INTERVAL);
      world.startClients(4, 1_000_000);
      for (int ms = 0; ms < LIFE_MS; ms += STEP_MS) {
        world.nodes().values().forEach(DiskSimulationTest::slow);
        world.time().run(STEP_MS * ReplicationWorld.MS);
        if (random.nextInt(8) == 0 && world.nodes().get(1L).isAlive()) {
          world.crash(1, true, random.nextInt(500));
        } else if (random.nextInt(4) == 0) {
          world.stop(1, random.nextInt(500));
        }
      }
      world.settle();
    } catch (Throwable t) {
      throw new AssertionError("-Dringfetch.seed=" + seed + " -Dringfetch.worlds=1", t);
    }
  }

  /** What many worlds meet. */
  static Stream<String> states() {
    return Stream.of(MET);
  }

  static void run(long seed, Coverage coverage) {
    run(seed, coverage, Durability.DISK, false);
  }

  /** The same where only the disk of the leader counts. */
  static void runLeaders(long seed, Coverage coverage) {
    run(seed, coverage, Durability.LEADER_DISK, false);
  }

  /** The same where no disk is waited for. */
  static void runIntervals(long seed, Coverage coverage) {
    run(seed, coverage, Durability.INTERVAL, false);
  }

  private static void run(long seed, Coverage coverage, Durability level, boolean copiesAreServed) {
    try {
      final Random random = new Random(seed);
      final int nodes = 3 + Math.floorMod(seed, 2); // what Random draws first hardly differs
      final int replicas = 2 + Math.floorMod(seed / 2, 2);
      final ReplicationWorld world =
          new ReplicationWorld(random.nextLong(), nodes, replicas, coverage, level);
      if (copiesAreServed) {
        world.serveCopies();
      }
      world.startClients(1 + random.nextInt(8), 1_000_000 + random.nextInt(3_000_000));
      world.startReaders(6);
      final ReplicationFaults faults = new ReplicationFaults(world, coverage);
      final int cuts = random.nextInt(4);
      final int losses = random.nextInt(3);
      final int failures = random.nextInt(3);
      final boolean fill = random.nextInt(3) == 0;
      final boolean slow = random.nextInt(4) == 0;
      final int snapshots = random.nextInt(3);
      final int fullDisks = random.nextInt(3);
      for (int ms = 0; ms < LIFE_MS; ms += STEP_MS) {
        world.nodes().values().forEach(node -> node.directory().fills = fill);
        if (slow) {
          world.nodes().values().forEach(DiskSimulationTest::slow);
        }
        for (final SimulatedNode node : List.copyOf(world.nodes().values())) {
          if (random.nextInt(3) < snapshots) {
            world.time().after(random.nextInt(STEP_MS) * ReplicationWorld.MS, node::snapshot);
          }
        }
        faults.run(STEP_MS);
        final List<Long> ids = List.copyOf(world.nodes().keySet());
        final long id = ids.get(random.nextInt(ids.size()));
        final int choice = random.nextInt(20);
        if (choice < cuts && world.survivesAll()) {
          world.cutPower();
        } else if (choice - 5 >= 0 && choice - 5 < losses && world.survivesWithout(id)) {
          world.lose(id);
        } else if (choice - 10 >= 0 && choice - 10 < failures && world.survives(id)) {
          coverage.count("failed disks");
          world.nodes().get(id).directory().fail();
        } else if (choice - 15 >= 0 && choice - 15 < fullDisks) {
          coverage.count("disks without any room");
          fill(world, world.nodes().get(id).directory(), random.nextInt(8_000));
        }
      }
      world.settle();
    } catch (Throwable t) {
      throw new AssertionError("-Dringfetch.seed=" + seed + " -Dringfetch.worlds=1", t);
    }
  }
}
