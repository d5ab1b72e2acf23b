package dev.ringfetch.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * The program of all benchmarks: measures calls over rings beside calls over gRPC, between two
 * processes.
 */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measures calls over rings beside calls over gRPC, between two processes.",
    footer =
        "Without a command: peers, with its options, for example --quick, --full, --logs, --resume;"
            + " bench peers --help lists them.",
    subcommands = {
      PeersBench.class,
      UnaryBench.class,
      ThreadsBench.class,
      AllocationBench.class,
      IdleBench.class,
      SessionsBench.class,
      ClientsBench.class,
      LoadBench.class,
      BusyBench.class,
      BulkBench.class,
      IndexBench.class,
      SpatialBench.class,
      AdaptiveBench.class,
      FollowBench.class,
      FilterBench.class,
      JournalBench.class,
      ReplicatedBench.class,
      VerbsBench.class,
      StagesBench.class,
      MemoryBench.class,
      LockBench.class,
      BrokerBench.class,
      PartsBench.class
    })
public final class Bench {
  /** Runs a benchmark; ends the JVM. */
  public static void main(String[] args) {
    System.exit(execute(args));
  }

  /** Runs a benchmark; {@link PeersBench} if none is named. */
  static int execute(String... args) {
    final CommandLine command =
        new CommandLine(new Bench())
            .setExecutionStrategy(
                parsed -> {
                  Bounds.check(parsed);
                  return new CommandLine.RunLast().execute(parsed);
                })
            .setParameterExceptionHandler(Bench::onMistake)
            .setExecutionExceptionHandler(Bench::onFailure);
    final boolean named =
        args.length > 0
            && (!args[0].startsWith("-")
                || command.getCommandSpec().optionsMap().containsKey(args[0]));
    if (named) {
      return command.execute(args);
    }
    final String[] all = new String[args.length + 1];
    all[0] = "peers";
    System.arraycopy(args, 0, all, 1, args.length);
    return command.execute(all);
  }

  /** Prints the error in the options, without the list of all options above it. */
  private static int onMistake(ParameterException mistake, String[] args) {
    final CommandLine command = mistake.getCommandLine();
    command.getErr().println(mistake.getMessage());
    CommandLine.UnmatchedArgumentException.printSuggestions(mistake, command.getErr());
    command.getErr().println("Options: " + command.getCommandSpec().qualifiedName() + " --help");
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  /** Prints one line for an error of the system or of an option; any other exception is a bug. */
  private static int onFailure(Exception failure, CommandLine command, ParseResult parsed)
      throws Exception {
    if (!(failure instanceof IOException || failure instanceof UncheckedIOException)) {
      throw failure;
    }
    final Throwable said = failure instanceof UncheckedIOException ? failure.getCause() : failure;
    command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + said);
    return command.getCommandSpec().exitCodeOnExecutionException();
  }
}
