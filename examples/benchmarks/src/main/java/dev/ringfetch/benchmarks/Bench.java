package dev.ringfetch.benchmarks;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures calls over rings beside calls over gRPC, between two processes. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measures calls over rings beside calls over gRPC, between two processes.",
    subcommands = {
      UnaryBench.class,
      ThreadsBench.class,
      AllocationBench.class,
      IdleBench.class,
      BulkBench.class,
      VerbsBench.class
    })
public final class Bench implements Callable<Integer> {
  @Spec private CommandSpec spec;

  /** Runs a benchmark; ends the JVM. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Bench()).execute(args));
  }

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "Which benchmark?");
  }
}
