package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random lives of clusters: nodes that are killed, lose their power, or are paused, links that are
 * cut, connections that end, coordinators that lose answers, stores that fail. Nothing that was
 * acknowledged is lost, and no read goes back.
 */
final class ReplicationSimulationTest {
  private static final int WORLDS = Integer.getInteger("ringfetch.worlds", 25);
  private static final int LIFE_MS = 6_000;

  private static final String[] MET = {
    "abandoned epochs",
    "alone",
    "calls while two serve",
    "conflicts",
    "cuts",
    "failed joins",
    "failed stores",
    "fail-overs",
    "joins",
    "lost answers",
    "lost requests",
    "pauses",
    "pieces",
    "refused messages",
    "refused reads",
    "refused sends",
    "stalled connections",
    "unknown writes"
  };

  @Test
  void nothingAcknowledgedIsLostAndNoReadGoesBack() {
    final long seed = Long.getLong("ringfetch.seed", 20261129);
    final Coverage coverage = new Coverage();
    for (int i = 0; i < WORLDS; i++) {
      run(seed + i, coverage);
    }
    System.out.printf("seed=%d worlds=%d %s%n", seed, WORLDS, coverage);
    if (WORLDS >= 25) {
      for (final String what : MET) {
        assertTrue(coverage.of(what) > 0, what + " seed=" + seed + " " + coverage);
      }
    }
  }

  /** Runs worlds until it is ended: the first seed is the first argument. */
  public static void main(String[] arguments) {
    final long first = arguments.length > 0 ? Long.parseLong(arguments[0]) : System.nanoTime();
    final long last = arguments.length > 1 ? first + Long.parseLong(arguments[1]) : Long.MAX_VALUE;
    final Coverage coverage = new Coverage();
    int failed = 0;
    for (long seed = first; seed < last; seed++) {
      try {
        run(seed, coverage);
      } catch (AssertionError e) {
        failed++;
        e.printStackTrace(System.out);
      }
      if ((seed - first) % 200 == 199) {
        System.out.printf("seed=%d worlds=%d failed=%d %s%n", first, seed - first + 1, failed, coverage);
      }
    }
    System.out.printf("seed=%d worlds=%d failed=%d %s%n", first, last - first, failed, coverage);
    System.exit(failed == 0 ? 0 : 1);
  }

  private static void run(long seed, Coverage coverage) {
    try {
      final Random random = new Random(seed);
      final int nodes = 3 + random.nextInt(3);
      final ReplicationWorld world =
          new ReplicationWorld(random.nextLong(), nodes, 2 + random.nextInt(2), coverage);
      world.startClients(1 + random.nextInt(6), 3_000_000);
      new ReplicationFaults(world, coverage).run(LIFE_MS);
      world.settle();
    } catch (Throwable t) {
      throw new AssertionError("-Dringfetch.seed=" + seed + " -Dringfetch.worlds=1", t);
    }
  }
}
