package dev.ringfetch.benchmarks;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Measures calls over rings beside calls over gRPC, between two processes. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measures calls over rings beside calls over gRPC, between two processes.",
    footer = "Without a command: peers, with its options.",
    subcommands = {
      PeersBench.class,
      UnaryBench.class,
      ThreadsBench.class,
      AllocationBench.class,
      IdleBench.class,
      SessionsBench.class,
      ClientsBench.class,
      LoadBench.class,
      BulkBench.class,
      VerbsBench.class,
      StagesBench.class,
      PartsBench.class
    })
public final class Bench {
  /** Runs a benchmark; ends the JVM. */
  public static void main(String[] args) {
    System.exit(execute(args));
  }

  /** Runs a benchmark; {@link PeersBench} if none is named. */
  static int execute(String... args) {
    final CommandLine command = new CommandLine(new Bench());
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
}
