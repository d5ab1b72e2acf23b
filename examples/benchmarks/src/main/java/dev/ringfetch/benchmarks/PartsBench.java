package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.parts.Part;
import dev.ringfetch.examples.load.Machine;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * A benchmark of the parts of a call by JMH: each in JVMs of its own, time and bytes an operation.
 */
@Command(
    name = "parts",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description =
        "Measures the parts of a small call by JMH: messages, slots, the stub over nothing, and"
            + " the call in one thread and between two.")
final class PartsBench implements Callable<Integer> {
  private static final String BENCHMARK = "bench parts";
  private static final int QUICK = 4;

  /** Least length of an iteration before those that count, of a whole call: there is much code. */
  private static final int CALL_WARM_UP_MILLIS = 1000;

  private final PrintStream out = System.out;

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withQuick("One JVM for each part, and a quarter of the time.")
          .withMillis("Length of an iteration. Default: %s.", 1000);

  private int millis;

  @Option(
      names = "--parts",
      split = ",",
      description = "Some of: ${COMPLETION-CANDIDATES}. Default: all.")
  private List<Part> parts = List.of(Part.values());

  @Option(
      names = "--forks",
      defaultValue = "3",
      description = "JVMs for each part. Default: ${DEFAULT-VALUE}.")
  private int forks;

  @Option(
      names = "--iterations",
      defaultValue = "5",
      description = "Of each JVM, after as many that do not count. Default: ${DEFAULT-VALUE}.")
  private int iterations;

  @Override
  public Integer call() throws IOException, RunnerException {
    millis = options.millis();
    if (options.quick()) {
      forks = 1;
      millis = Math.max(1, millis / QUICK);
    }
    Machine.print(out);
    out.printf(
        "JMH: %d JVMs a part, each with %d iterations of %d ms after as many to warm up (of calls"
            + " %d ms); nanoseconds and bytes an operation, Index.Get of 32 bytes%n%n",
        forks, iterations, millis, Math.max(millis, CALL_WARM_UP_MILLIS));
    final Progress progress =
        Progress.ofProcess(BENCHMARK, parts.stream().mapToDouble(this::allMillis).sum());
    final Map<Part, Part.Figures> measured = new EnumMap<>(Part.class);
    try {
      for (final Part part : parts) {
        progress.begin(part.text());
        measured.put(part, measure(part));
        progress.done(allMillis(part));
      }
    } finally {
      progress.clear();
    }
    out.printf("%-21s %18s %8s%n", "part", "ns", "bytes");
    measured.forEach((part, figures) -> out.println(part.line(figures)));
    out.println();
    measured.forEach((part, figures) -> out.println(part.result(figures)));
    return CommandLine.ExitCode.OK;
  }

  private int warmUpMillis(Part part) {
    return part.isCall() ? Math.max(millis, CALL_WARM_UP_MILLIS) : millis;
  }

  private double allMillis(Part part) {
    return (double) forks * iterations * (warmUpMillis(part) + millis);
  }

  private Part.Figures measure(Part part) throws RunnerException {
    final Options options =
        part.options()
            .mode(Mode.AverageTime)
            .timeUnit(TimeUnit.NANOSECONDS)
            .forks(forks)
            .warmupIterations(iterations)
            .warmupTime(TimeValue.milliseconds(warmUpMillis(part)))
            .measurementIterations(iterations)
            .measurementTime(TimeValue.milliseconds(millis))
            .shouldFailOnError(true)
            .addProfiler(GCProfiler.class)
            .verbosity(VerboseMode.SILENT)
            .build();
    final Collection<RunResult> results = new Runner(options).run();
    return Part.Figures.of(results.iterator().next());
  }
}
