package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
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
    "joins",
    "orderly stops",
    "records of stops",
    "removed records of stops",
    "starts from records of stops",
    "stops of all nodes",
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

  /** Runs worlds until it is ended: the first seed is the first argument, then their number. */
  public static void main(String[] arguments) {
    ReplicationHunt.run(arguments, StopSimulationTest::run);
  }

  private static void run(long seed, Coverage coverage) {
    try {
      final Random random = new Random(seed);
      final int nodes = 1 + (int) Math.floorMod(seed, 4L);
      final int replicas = 1 + (int) Math.floorMod(seed / 4, 3L);
      final ReplicationWorld world =
          new ReplicationWorld(random.nextLong(), nodes, replicas, coverage);
      world.startClients(1 + random.nextInt(8), 1_000_000 + random.nextInt(3_000_000));
      final ReplicationFaults faults = new ReplicationFaults(world, coverage);
      final int stops = random.nextInt(4);
      final int stopsOfAll = 1 + random.nextInt(4);
      for (int ms = 0; ms < LIFE_MS; ms += STEP_MS) {
        final List<Long> ids = List.copyOf(world.nodes().keySet());
        final int choice = random.nextInt(20);
        if (choice < stops) {
          world.stop(ids.get(random.nextInt(ids.size())), random.nextInt(2_000));
        } else if (choice - 10 >= 0 && choice - 10 < stopsOfAll) {
          stopAll(world, random, coverage);
        } else if (choice == 19) {
          world.nodes().get(ids.get(0)).stops().failures = random.nextInt(3);
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
    for (final long id : List.copyOf(world.nodes().keySet())) {
      world
          .time()
          .after(
              random.nextInt(withinMs) * ReplicationWorld.MS,
              () -> world.stop(id, random.nextInt(restartMs)));
    }
  }
}
