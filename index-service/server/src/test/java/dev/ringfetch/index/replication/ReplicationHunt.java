package dev.ringfetch.index.replication;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code index-service/server/src/test/simulations/run cluster}: runs the worlds of
 * replicas in memory and on disks by turns, each with another seed, for a given time, and prints
 * how often each state was met. A state that was not met at all is an error in a run of some time.
 */
@Command(
    name = "simulations/run cluster",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Runs simulated clusters, and counts what they met.")
final class ReplicationHunt implements Callable<Integer> {
  /**
   * A run of this length that has not met each state is an error; in a shorter one some are rare.
   */
  private static final int ALL_MET_SECONDS = 900;

  private static final int WORLDS_A_SEED = 5;
  private static final int WORLDS_BETWEEN_LINES = 200;
  private static final Logger REPLICAS = Logger.getLogger("dev.ringfetch.index.replication");

  @Option(names = "--seconds", description = "How long. Default: ${DEFAULT-VALUE}.")
  private int seconds = 60;

  @Option(names = "--seed", description = "Of the first world. Default: the clock.")
  private long seed = System.nanoTime();

  private final Coverage memory = new Coverage();
  private final Coverage disk = new Coverage();
  private final Coverage leaders = new Coverage();
  private final Coverage intervals = new Coverage();
  private final Coverage stops = new Coverage();
  private int failed;

  public static void main(String[] args) {
    System.exit(new CommandLine(new ReplicationHunt()).execute(args));
  }

  @Override
  public Integer call() {
    REPLICAS.setLevel(Level.SEVERE); // paths that end are expected here
    System.out.println("clusters: seconds=" + seconds + " seed=" + seed);
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    long next = seed;
    while (System.nanoTime() - endNs < 0) {
      run(next);
      next++;
      if ((next - seed) % WORLDS_BETWEEN_LINES == 0) {
        System.out.printf("clusters: worlds=%d failed=%d%n", WORLDS_A_SEED * (next - seed), failed);
      }
    }
    System.out.println("in memory: " + memory);
    System.out.println("on disks: " + disk);
    System.out.println("on leaders' disks: " + leaders);
    System.out.println("on disks later: " + intervals);
    System.out.println("with orderly stops: " + stops);
    final List<String> missing =
        Stream.of(
                missing("in memory: ", ReplicationSimulationTest.states(), memory),
                missing("on disks: ", DiskSimulationTest.states(), disk),
                missing("on leaders' disks: ", DiskSimulationTest.states(), leaders),
                missing("on disks later: ", DiskSimulationTest.states(), intervals),
                missing("with orderly stops: ", StopSimulationTest.states(), stops))
            .flatMap(states -> states)
            .toList();
    System.out.printf(
        "clusters: seeds=%d..%d worlds=%d failed=%d never met: %s%n",
        seed, next - 1, WORLDS_A_SEED * (next - seed), failed, missing);
    return failed > 0 || (!missing.isEmpty() && seconds >= ALL_MET_SECONDS) ? 1 : 0;
  }

  /** Runs one world of each kind; what they throw names the test and the seed. */
  private void run(long worldSeed) {
    try {
      ReplicationSimulationTest.run(worldSeed, memory);
      DiskSimulationTest.run(worldSeed, disk);
      DiskSimulationTest.runLeaders(worldSeed, leaders);
      DiskSimulationTest.runIntervals(worldSeed, intervals);
      StopSimulationTest.run(worldSeed, stops);
    } catch (AssertionError e) {
      failed++;
      e.printStackTrace(System.out);
    }
  }

  private static Stream<String> missing(String where, Stream<String> states, Coverage coverage) {
    return states.filter(state -> coverage.of(state) == 0).map(state -> where + state);
  }
}
