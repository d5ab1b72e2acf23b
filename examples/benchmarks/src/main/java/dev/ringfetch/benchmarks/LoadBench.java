package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.OpenLoop;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A benchmark that shows whether the processor time of client and server follows their load. The
 * loads are parts of the rate that one thread reaches when each call begins as the one before ends.
 *
 * <p>The calling thread sleeps until calls are due, so that its process uses processor time only
 * for the calls ({@link OpenLoop#sleeping}). The cost of stub, messages and handler without a
 * transport is measured at the ring's rates, too ({@link Contender#none}).
 */
@Command(
    name = "load",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description =
        "Measures processor time of client and server, and the time of a call, at parts of the"
            + " most calls that one thread makes by blocking stub: over a ring and over gRPC.")
final class LoadBench implements Callable<Integer> {
  private static final double PERCENT = 100;

  private final PrintStream out = System.out;
  private final Marks marks = new Marks();

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withRounds(5)
          .withMillis("Length of a round; twice that where calls are late. Default: %s.", 2000)
          .withWarmUp("Milliseconds before the first round of a peer. Default: %s.", 20_000)
          .withPinning(
              "Leave it to the system on which cores threads run. Otherwise clients get one half of"
                  + " the cores and servers the other once they are warm, where there is taskset.");

  @Option(
      names = "--percent",
      split = ",",
      defaultValue = "0,1,10,50,100",
      description = "Parts of the most calls, 0 to 100. Default: ${DEFAULT-VALUE}.")
  private List<Integer> percents;

  @Spec private CommandSpec spec;

  private final Map<Contender, Pair> pairs = new EnumMap<>(Contender.class);

  /** A contender with its rate. */
  private record Turn(Contender contender, int percent, int rate) {}

  @Override
  public Integer call() throws IOException {
    if (percents.stream().anyMatch(percent -> percent > PERCENT)) {
      throw new ParameterException(spec.commandLine(), "--percent is at most 100: " + percents);
    }
    Machine.print(out);
    try {
      for (final Contender contender : Contender.values()) {
        pairs.put(contender, Pair.start(true, List.of(contender), List.of()));
        final Answer unused =
            pairs.get(contender).ask(contender, "round", StubCalls.SMALL, options.warmUp());
      }
      pin();
      final List<Turn> turns = turns();
      out.printf(
          "%n%d bytes, blocking stub, direct executors, one thread that sleeps until calls are due;"
              + " %d rounds of %d ms by turns, median [least .. most]%n"
              + "load: of the calls that the thread makes when each begins as the one before ends;"
              + " cores: of the whole process, by the time that passed%n"
              + "none: stub, messages and handler in one process, at the ring's rates%n%n%s%n",
          StubCalls.SMALL, options.rounds(), options.millis(), LoadRow.head());
      final List<LoadRow> rows = new ArrayList<>();
      Turns.take(turns, options.rounds(), (turn, round) -> take(turn))
          .forEach(
              (turn, taken) ->
                  rows.add(new LoadRow(turn.contender(), turn.percent(), turn.rate(), taken)));
      rows.forEach(row -> out.println(row.line()));
      out.printf("%n%s%n%n", marks.line());
      rows.forEach(row -> out.println(row.result()));
    } finally {
      pairs.values().forEach(Pair::close);
    }
    return CommandLine.ExitCode.OK;
  }

  private void pin() throws IOException {
    final Pinning pinning = options.pinning();
    out.println("pinning  " + pinning.describe());
    for (final Contender contender : pairs.keySet()) {
      final Pair pair = pairs.get(contender);
      pinning.pinClient(pair.client(contender));
      pinning.pinServer(pair.server());
    }
  }

  private List<Turn> turns() {
    final Map<Contender, Spread> peaks = new EnumMap<>(Contender.class);
    Turns.take(
            List.of(Contender.ring, Contender.grpc),
            options.rounds(),
            (contender, round) ->
                Figures.parse(
                    marks.counted(
                        pairs
                            .get(contender)
                            .measure(contender, "round", StubCalls.SMALL, options.millis()))))
        .forEach((contender, taken) -> peaks.put(contender, Spread.of(taken, Figures::perSecond)));
    peaks.forEach(
        (contender, peak) ->
            out.printf("%-8s %s calls/s, each as the one before ends%n", contender, peak.text(0)));
    peaks.put(Contender.none, peaks.get(Contender.ring));
    final List<Turn> turns = new ArrayList<>();
    peaks.forEach(
        (contender, peak) ->
            percents.forEach(
                percent ->
                    turns.add(
                        new Turn(
                            contender,
                            percent,
                            (int) Math.ceil(peak.median() * percent / PERCENT)))));
    return turns;
  }

  /**
   * Makes a client issue small calls at a rate, 0 for none, by a thread that sleeps until each is
   * due.
   */
  private Costed<Figures> take(Turn turn) {
    final Pair pair = pairs.get(turn.contender());
    return marks.count(
        Costed.measure(
            pair.client(turn.contender()),
            pair.server(),
            () ->
                Figures.parse(
                    pair.ask(
                        turn.contender(),
                        "sleepy",
                        StubCalls.SMALL,
                        turn.rate(),
                        options.millis()))));
  }
}
