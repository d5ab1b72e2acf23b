package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Random lives of clusters whose index is in memory alone, and whose nodes end in order: one, or
 * all of them in any order, while others are killed, paused and cut off. Nothing that was
 * acknowledged is lost as long as a member of the last configuration lives, or has ended in order.
 */
final class StopSimulationTest {
  private static final int WORLDS =
      Integer.getInteger(
          "ringfetch.worlds", 25 * Math.max(1, Integer.getInteger("ringfetch.hunt", 0)));
  private static final int LIFE_MS = 6_000;
  private static final int STEP_MS = 300;

  /** What each run meets. */
  private static final String[] MET = {
    "cold starts",
    "fail-overs",
    "hand-overs",
    "joins",
    "lost groups",
    "orderly stops",
    "records of stops",
    "records without room",
    "removed records of stops",
    "removed records with damage",
    "starts from records of stops",
    "stops of all nodes",
    "withdrawn announcements",
  };

  @Test
  void nothingAcknowledgedIsLostThatOneOrderlyStopHas() {
    final long seed = Long.getLong("ringfetch.seed", 20261201);
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

  /** As where a process has obeyed an epoch, as a new member, that was not established. */
  @Test
  void aRecordOfAProcessThatIsNoMemberDoesNotLead() {
    final Coverage coverage = new Coverage();
    final ReplicationWorld world = new ReplicationWorld(20261201, 3, 3, coverage);
    world.startClients(2, 2 * ReplicationWorld.MS);
    world.time().run(500 * ReplicationWorld.MS);
    world.stop(3, 2_000);
    world.time().run(1_500 * ReplicationWorld.MS); // the others go on
    final long established = world.coordinator().group(world.group()).getEstablished().getEpoch();
    world.nodes().get(3L).stops().obeyed(world.group(), established + 1);
    world.pause(1, 20_000);
    world.pause(2, 20_000);
    world.time().run(10_000 * ReplicationWorld.MS); // a cold start would come
    world.checkErrors();
    assertEquals(1, coverage.of("starts from records of stops"));
    assertEquals(established, world.coordinator().group(world.group()).getEstablished().getEpoch());
    assertFalse(world.coordinator().group(world.group()).hasWon());
  }

  /** It may find no room for its record, and the others' would be void then. */
  @Test
  void aNodeThatEndsTakesNoGroupOverAlone() {
    final Coverage coverage = new Coverage();
    final ReplicationWorld world = new ReplicationWorld(20261201, 2, 2, coverage);
    world.startClients(2, 2 * ReplicationWorld.MS);
    world.time().run(500 * ReplicationWorld.MS);
    final long established = world.coordinator().group(world.group()).getEstablished().getEpoch();
    world.nodes().get(2L).replicas().endInOrder();
    world.stop(1, 20_000);
    world.time().run(5_000 * ReplicationWorld.MS);
    world.nodes().get(2L).stops().room = 0;
    world.stop(2, 100);
    world.time().run(1_000 * ReplicationWorld.MS);
    world.checkErrors();
    assertEquals(established, world.coordinator().group(world.group()).getEstablished().getEpoch());
    assertEquals(1, coverage.of("stops without a record"));
    world.settle(); // with the first one's
    assertEquals(0, coverage.of("lost groups"));
  }

  /** What many worlds meet. */
  static Stream<String> states() {
    return Stream.of(MET);
  }

  static void run(long seed, Coverage coverage) {
    try {
      final Random random = new Random(seed);
      final int nodes = 1 + Math.floorMod(seed, 5); // what Random draws first hardly differs
      final int replicas = 1 + Math.floorMod(seed / 5, 3);
      final ReplicationWorld world =
          new ReplicationWorld(random.nextLong(), nodes, replicas, coverage);
      for (int groups = 1; groups < 1 + Math.floorMod(seed / 15, 3); groups++) {
        world.addGroup();
      }
      if (Math.floorMod(seed / 7, 3) == 0) {
        world.nodes().values().forEach(node -> node.stops().damages = Set.of(world.group()));
      }
      world.startClients(1 + random.nextInt(8), 1_000_000 + random.nextInt(3_000_000));
      final ReplicationFaults faults = new ReplicationFaults(world, coverage);
      final int stops = random.nextInt(4);
      final int stopsOfAll = 1 + random.nextInt(4);
      final boolean isFull = random.nextInt(3) == 0;
      final boolean grows = random.nextInt(3) == 0;
      for (int ms = 0; ms < LIFE_MS; ms += STEP_MS) {
        final List<Long> ids = List.copyOf(world.nodes().keySet());
        final int choice = random.nextInt(20);
        if (choice < stops) {
          world.stop(ids.get(random.nextInt(ids.size())), random.nextInt(2_000));
        } else if (choice - 10 >= 0 && choice - 10 < stopsOfAll) {
          stopAll(world, random, coverage);
        } else if (choice == 19) {
          world.nodes().get(ids.get(0)).stops().failures = random.nextInt(3);
        } else if (choice == 18 && isFull) {
          world.nodes().get(ids.get(random.nextInt(ids.size()))).stops().room = random.nextInt(8);
        } else if (choice == 17 && grows) {
          world.addNode();
        }
        faults.run(STEP_MS);
      }
      world.settle();
    } catch (Throwable t) {
      throw new AssertionError("-Dringfetch.seed=" + seed + " -Dringfetch.worlds=1", t);
    }
  }

  private static void stopAll(ReplicationWorld world, Random random, Coverage coverage) {
    coverage.count("stops of all nodes");
    final int withinMs = 1 + random.nextInt(random.nextBoolean() ? 10 : 600);
    final int restartMs = 1 + random.nextInt(3_000);
    final boolean areSomeKilled = random.nextInt(2) == 0;
    for (final long id : List.copyOf(world.nodes().keySet())) {
      final long delayNs = random.nextInt(withinMs) * ReplicationWorld.MS;
      if (areSomeKilled && random.nextInt(3) == 0) {
        world.time().after(delayNs, () -> kill(world, id, random.nextInt(restartMs), 20));
      } else {
        world.time().after(delayNs, () -> world.stop(id, random.nextInt(restartMs)));
      }
    }
  }

  /** Kills a node as soon as another one that lives, or has ended in order, has all. */
  private static void kill(ReplicationWorld world, long id, int restartMs, int attempts) {
    if (world.nodes().get(id).isAlive() && world.survives(id)) {
      world.crash(id, true, restartMs);
    } else if (attempts > 0) {
      world.time().after(10 * ReplicationWorld.MS, () -> kill(world, id, restartMs, attempts - 1));
    }
  }
}
