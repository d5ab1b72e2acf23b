package dev.ringfetch.session;

import dev.ringfetch.fabric.sim.SimContext.StoreOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs simulations of sessions for a time, or one again that has failed. */
@Command(
    name = "sim",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Simulates sessions under faults, seed after seed, until something is wrong.",
      "One seed is replayed exactly with --seed N --hours 0. Exit code 0 if nothing was wrong",
      "and, with --hours above 0, every fault struck in every state; where chance has left out",
      "one, it goes on for up to nine times as long."
    })
public final class SimulationCommand implements Callable<Integer> {
  private static final long REPORT_NS = TimeUnit.MINUTES.toNanos(1);

  /** Times the limit, until all cells have been struck: what a slow machine takes for 2 minutes. */
  private static final int WHOLE = 10;

  @Option(
      names = "--seed",
      description = "The first seed; seeds count up from it. Default: the clock.")
  private long seed = System.nanoTime();

  @Option(
      names = "--hours",
      description = "For how long, 0.1 for example; 0 for one seed. Default: ${DEFAULT-VALUE}.")
  private double hours = 1.0 / 60;

  @Option(
      names = "--store-order",
      description = "One of ${COMPLETION-CANDIDATES}. Default: both, in turn.")
  private StoreOrder storeOrder;

  @Option(
      names = "--fabric",
      description = "One of ${COMPLETION-CANDIDATES}. Default: all, in turn.")
  private SimKind kind;

  private SimulationCommand() {}

  /** Exit code 0 if nothing was wrong, and every fault struck in every state. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new SimulationCommand()).execute(arguments));
  }

  @Override
  public Integer call() {
    if (hours < 0) {
      throw new CommandLine.ParameterException(
          new CommandLine(this), "--hours is less than 0: " + hours);
    }
    final List<SimulationRun> runs = new ArrayList<>();
    for (final SimKind each : kind == null ? SimKind.values() : new SimKind[] {kind}) {
      for (final StoreOrder order :
          storeOrder == null ? StoreOrder.values() : new StoreOrder[] {storeOrder}) {
        runs.add(new SimulationRun(seed, each, order));
      }
    }
    final long startNs = System.nanoTime();
    final double limitNs = hours * TimeUnit.HOURS.toNanos(1);
    long reportedNs = startNs;
    SimulationRun running = null;
    try {
      do {
        for (final SimulationRun run : runs) {
          running = run;
          run.next();
        }
        if (System.nanoTime() - reportedNs >= REPORT_NS) {
          reportedNs = System.nanoTime();
          runs.forEach(System.out::println);
        }
      } while (System.nanoTime() - startNs < limitNs);
      for (final SimulationRun run : runs) { // chance may have left out a few cells of some
        running = run;
        while (!run.matrix.zeros().isEmpty() && System.nanoTime() - startNs < WHOLE * limitNs) {
          run.next();
        }
      }
    } catch (AssertionError e) {
      e.printStackTrace();
      System.out.println("FAILED; run it again with --hours 0 " + running.options());
      return 1;
    }
    boolean complete = true;
    for (final SimulationRun run : runs) {
      System.out.println(run.matrix);
      System.out.println(run);
      complete &= run.matrix.zeros().isEmpty();
    }
    if (!complete) {
      System.out.println("FAILED: cells are zero; a longer run reaches them all, or should");
    }
    return complete || limitNs == 0 ? 0 : 1;
  }
}
