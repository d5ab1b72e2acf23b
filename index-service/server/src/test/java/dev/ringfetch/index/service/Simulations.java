package dev.ringfetch.index.service;

import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.journal.JournalWorld;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code index-service/server/src/test/simulations/run}: runs the worlds of the journal
 * and of writes that are carried out once, each with another seed, for a given time, and prints how
 * often each state was met. A state that was not met at all is an error: then a world does not draw
 * any more what it is there for.
 */
@Command(
    name = "simulations/run",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Runs simulated servers and disks, and counts what they met.")
final class Simulations implements Callable<Integer> {
  private static final int LIVES = 8;
  private static final int STEPS = 500;

  /** Errors of calls that every run of some minutes meets. */
  private static final List<String> ERRORS =
      List.of(
          "EIO create",
          "EIO delete",
          "EIO length",
          "EIO list",
          "EIO open",
          "EIO read",
          "EIO rename",
          "EIO sync",
          "EIO sync-directory",
          "EIO write",
          "ENOSPC create",
          "ENOSPC write",
          "power cuts",
          "changes of the directory lost",
          "writes lost",
          "writes torn",
          "writes misdirected");

  /**
   * A run of this length that has not met each state is an error; in a shorter one some are rare.
   */
  private static final int ALL_MET_SECONDS = 900;

  @Option(names = "--seconds", description = "How long. Default: ${DEFAULT-VALUE}.")
  private int seconds = 60;

  @Option(names = "--seed", description = "Of the first world. Default: the clock.")
  private long seed = System.nanoTime();

  private final Map<String, Long> met = new TreeMap<>();
  private final JournalWorld.Coverage journal = new JournalWorld.Coverage();

  public static void main(String[] args) {
    System.exit(new CommandLine(new Simulations()).execute(args));
  }

  @Override
  public Integer call() {
    System.out.println("simulations: seconds=" + seconds + " seed=" + seed);
    ERRORS.forEach(error -> met.put("disk: " + error, 0L));
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    long next = seed;
    while (System.nanoTime() - endNs < 0) {
      try {
        run(next);
      } catch (Throwable t) { // told with what it takes to repeat it
        t.printStackTrace();
        System.out.println("simulations: FAILED seed=" + next);
        return 1;
      }
      next++;
    }
    addCoverage();
    met.forEach((state, times) -> System.out.println(state + "=" + times));
    final List<String> missing =
        met.entrySet().stream()
            .filter(state -> state.getValue() == 0)
            .map(Map.Entry::getKey)
            .toList();
    System.out.println("simulations: seeds=" + seed + ".." + (next - 1) + " never met: " + missing);
    return missing.isEmpty() || seconds < ALL_MET_SECONDS ? 0 : 1;
  }

  /** Runs one world of each kind. */
  private void run(long worldSeed) throws Exception {
    final JournalWorld ofJournal = new JournalWorld(worldSeed, journal);
    ofJournal.run();
    add("journal: worlds", 1);
    addDisk(ofJournal.disk());
    final ExactlyOnceWorld once = new ExactlyOnceWorld(worldSeed);
    once.run(LIVES, STEPS);
    add("once: worlds", 1);
    add("once: repeated writes answered from outcomes", once.repeated);
    add("once: late duplicates refused", once.late);
    add("once: writes of clients that had ended", once.ended);
    add("once: ranges removed", once.ranges);
    add("once: increments answered again after a crash", once.counted);
    add("once: transactions answered again after a crash", once.transacted);
    add("once: answers of level interval lost", once.lost);
    add("once: failures", once.failures);
    add("once: snapshots", once.snapshots.taken);
    add("once: snapshots that failed", once.snapshots.failed);
    add("once: starts from snapshots", once.fromSnapshots);
    add("once: ends at a step of a snapshot", once.duringSnapshots);
    add("once: segments removed", once.removed);
    addDisk(once.disk());
  }

  private void add(String state, long times) {
    met.merge(state, times, Long::sum);
  }

  private void addDisk(SimulatedDisk disk) {
    disk.met().forEach((state, times) -> add("disk: " + state, times));
  }

  private void addCoverage() {
    add("journal: power cuts", journal.cuts);
    add("journal: kills", journal.kills);
    add("journal: orderly ends", journal.ends);
    add("journal: failures", journal.failures);
    add("journal: full disks", journal.fulls);
    add("journal: records that waited for room", journal.shortages);
    add("journal: records lost that were not committed", journal.lost);
    add("journal: starts that failed", journal.unopened);
  }
}
