package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.stages.StageFigures;
import dev.ringfetch.benchmarks.stages.StageProcess;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * A benchmark that splits a unary call into stages, in one thread, and compares their sum with the
 * time of the call between two processes, and with the way between them.
 */
@Command(
    name = "stages",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description =
        "Splits a small unary call by blocking stub into stages, and compares their sum with the"
            + " call between two processes.")
final class StagesBench implements Callable<Integer> {
  private static final String BENCHMARK = "bench stages";
  private static final int VALUE = 32;
  private static final int QUICK = 4;
  private static final int COUNTED_CALLS = 5_000;
  private static final int SHORT_WARM_UP_MILLIS = 1_500; // of memory alone: there is little code

  private final PrintStream out = System.out;
  private final Marks marks = new Marks();

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withQuick("A quarter of the time.")
          .withRounds(9)
          .withMillis(1500)
          .withWarmUp("Milliseconds before the first round. Default: %s.", 12_000)
          .withPinning("Leave it to the system on which cores the two processes run.");

  private int millis;
  private int warmUp;

  /** The parts of the comparison. */
  private enum Entrant {
    /** The call in one thread. */
    stages,
    /** The way between two processes: bytes there, bytes back. */
    raw,
    /** The call between two processes. */
    call
  }

  @Override
  public Integer call() throws IOException {
    final int share = options.quick() ? QUICK : 1;
    millis = options.millis() / share;
    warmUp = options.warmUp() / share;
    Machine.print(out);
    final Pinning pinning = options.pinning();
    out.printf(
        "Index.Get by blocking stub, %d bytes, direct executors; %d rounds of %d ms by turns,"
            + " median [least .. most]%npinning of the two processes: %s%n%n",
        VALUE, options.rounds(), millis, pinning.describe());
    final Progress progress =
        Progress.ofProcess(
            BENCHMARK, 2.0 * warmUp + SHORT_WARM_UP_MILLIS + 3.0 * options.rounds() * millis);
    try (ChildProcess stages = ChildProcess.start(List.of(), StageProcess.class, List.of());
        PeerContender raw = Peer.raw.start(Setup.bare, List.of());
        PeerContender call = Peer.ringfetch.start(Setup.direct, List.of())) {
      progress.begin("warming up the call in one thread");
      final var unused = StageFigures.parse(stages.ask("round", warmUp));
      progress.done(warmUp);
      warmUp(progress, pinning, raw, Mode.direct, SHORT_WARM_UP_MILLIS);
      warmUp(progress, pinning, call, Mode.blocking, warmUp);
      final StageBudget budget = measure(progress, stages, raw, call);
      progress.clear();
      budget.print(out);
      out.printf("%n%s%n", marks.line());
    } finally {
      progress.clear();
    }
    return CommandLine.ExitCode.OK;
  }

  private Figures measure(PeerContender contender, Mode mode) {
    return marks.counted(
        Costed.measure(contender.client(), contender.server(), () -> run(contender, mode, millis)));
  }

  private static Figures run(PeerContender contender, Mode mode, int millis) {
    return contender.run(new Load(mode, VALUE, 1), millis);
  }

  private static void warmUp(
      Progress progress, Pinning pinning, PeerContender contender, Mode mode, int millis)
      throws IOException {
    progress.begin("warming up " + mode + " between two processes");
    final Figures unused = run(contender, mode, millis);
    progress.done(millis);
    if (!pinning.pin(contender)) {
      progress.tell("taskset does not pin " + mode);
    }
  }

  private StageBudget measure(
      Progress progress, ChildProcess stages, PeerContender raw, PeerContender call) {
    final Answer unused = stages.ask("idle"); // compiles what polls in vain
    final StageFigures bytes = StageFigures.parse(stages.ask("bytes", COUNTED_CALLS));
    final List<StageFigures> split = new ArrayList<>();
    final List<Figures> ways = new ArrayList<>();
    final List<Figures> calls = new ArrayList<>();
    final var unusedTurns =
        Turns.take(
            List.of(Entrant.values()),
            options.rounds(),
            (entrant, round) -> {
              progress.begin("round " + (round + 1) + " of " + options.rounds() + ": " + entrant);
              progress.done(millis);
              return switch (entrant) {
                case stages ->
                    split.add(
                        StageFigures.parse(
                            marks.counted(
                                Costed.measure(
                                    stages, stages, () -> stages.ask("round", millis)))));
                case raw -> ways.add(measure(raw, Mode.direct));
                case call -> calls.add(measure(call, Mode.blocking));
              };
            });
    final Answer idle = stages.ask("idle");
    return new StageBudget(split, bytes, ways, calls, idle.figure("client"), idle.figure("server"));
  }
}
