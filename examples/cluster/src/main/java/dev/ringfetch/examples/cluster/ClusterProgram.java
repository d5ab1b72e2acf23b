package dev.ringfetch.examples.cluster;

import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.OptionErrors;
import dev.ringfetch.index.cli.IndexProgram;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The program that has a cluster on this machine: starts it, shows it, lets parts of it fail, and
 * ends it. {@link ClusterDemo} does all of that by itself.
 *
 * <p>Exit codes: 1 if a command fails, with one line on stderr; 2 if the command line is wrong.
 */
@Command(
    name = "cluster",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    subcommands = {ClusterDemo.class, ClusterSoak.class, ClusterUpgrade.class},
    description = "A cluster of index servers on this machine, each in a process of its own.")
public final class ClusterProgram implements Runnable {
  private static final String RUN = "examples/run ";

  @Option(
      names = "--directory",
      paramLabel = "PATH",
      scope = CommandLine.ScopeType.INHERIT,
      description = "Of processes, logs and coordinator. Default: one of this user.")
  private Path directory = LocalCluster.defaultDirectory();

  @Spec private CommandSpec spec;

  /** Runs it; ends the JVM. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    final CommandLine line = OptionErrors.printedFor(new CommandLine(new ClusterProgram()));
    line.setExecutionExceptionHandler(
        (failure, of, parsed) -> {
          if (failure instanceof ClusterFailure || failure instanceof IOException) {
            System.err.println("cluster: " + text(failure));
            return CommandLine.ExitCode.SOFTWARE;
          }
          throw failure;
        });
    return line;
  }

  /** What has failed: of files the name alone does not say that. */
  private static String text(Exception failure) {
    if (failure instanceof NoSuchFileException missing) {
      return missing.getFile() + ": no such file or directory";
    }
    if (failure instanceof FileSystemException file && file.getReason() == null) {
      return file.getFile() + ": " + file.getClass().getSimpleName();
    }
    return failure.getMessage();
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "a command is missing: up, status, kill, down, demo, ...");
  }

  /** The cluster, which has to be there. */
  private LocalCluster existing() throws IOException {
    if (!LocalCluster.exists(directory)) {
      throw new ClusterFailure(
          "no cluster in " + directory + ": '" + RUN + "cluster up' starts one");
    }
    return LocalCluster.open(directory, false);
  }

  @Command(
      name = "up",
      mixinStandardHelpOptions = true,
      description = "Start a coordinator and nodes.",
      sortOptions = false)
  int up(
      @Option(
              names = "--nodes",
              converter = AtLeast.One.class,
              defaultValue = "3",
              description = "How many. Default: ${DEFAULT-VALUE}.")
          int nodes,
      @Option(
              names = "--replicas",
              converter = AtLeast.One.class,
              defaultValue = "3",
              description = "Nodes that have each index. Default: ${DEFAULT-VALUE}.")
          int replicas,
      @Option(
              names = "--data",
              paramLabel = "PATH",
              description = "Keep indexes on disk there, for the next 'up' too.")
          Path data)
      throws IOException {
    final long beginNs = System.nanoTime();
    try (LocalCluster cluster = LocalCluster.open(directory, false)) {
      final Thread hook = new Thread(() -> abandon(cluster), "end-of-up");
      Runtime.getRuntime().addShutdownHook(hook);
      try {
        if (data != null) {
          cluster.keepData(data);
        }
        cluster.up(nodes, LocalCluster.NodeOptions.DEFAULT.replicas(replicas));
      } finally {
        forget(hook); // a start that fails ends what it has started; that of others is not touched
      }
      final String servers = String.join(",", cluster.addresses());
      say(
          "cluster of %s up after %.1f s: %s",
          nodes == 1 ? "1 node" : nodes + " nodes", (System.nanoTime() - beginNs) / 1e9, servers);
      say("coordinator: zk://%s/local", cluster.find(LocalCluster.COORDINATOR).address());
      say("logs: %s", cluster.directory());
      say("");
      say("Try:");
      say("  export RINGFETCH_SERVER=%s", servers);
      say("  %sindex put hello world", RUN);
      for (final String command : List.of("status --watch", "kill 1", "add", "down")) {
        say("  %scluster %s%s", RUN, command, directoryOption());
      }
    }
    return CommandLine.ExitCode.OK;
  }

  private String directoryOption() {
    return directory.equals(LocalCluster.defaultDirectory()) ? "" : " --directory=" + directory;
  }

  private static void forget(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It runs: by a signal.
    }
  }

  /** A signal ends the start: nothing of it is left. */
  private static void abandon(LocalCluster cluster) {
    try {
      cluster.down();
      cluster.delete();
    } catch (IOException | ClusterFailure e) {
      System.err.println(
          "cluster: not all is ended, 'cluster down' tries again: " + e.getMessage());
    }
  }

  @Command(
      name = "status",
      mixinStandardHelpOptions = true,
      description = "Show processes, nodes and indexes.")
  int status(
      @Option(names = "--watch", description = "Again and again, until Ctrl-C.") boolean watch)
      throws IOException {
    final List<String> addresses = new ArrayList<>();
    if (!LocalCluster.exists(directory)) {
      throw new ClusterFailure(
          "no cluster in " + directory + ": '" + RUN + "cluster up' starts one");
    }
    for (final ClusterProcess process : ClusterProcess.all(directory.toRealPath())) {
      final ClusterProcess.State state = process.state();
      say(
          "%-12s process %-8d %-22s %s",
          process.name(), process.pid(), process.address(), state.name().toLowerCase(Locale.ROOT));
      if (state != ClusterProcess.State.ENDED && !process.name().equals(LocalCluster.COORDINATOR)) {
        addresses.add(process.address());
      }
    }
    if (addresses.isEmpty()) {
      throw new ClusterFailure("no node runs: '" + RUN + "cluster add' starts one");
    }
    say("");
    final List<String> arguments =
        new ArrayList<>(List.of("cluster", "--server", String.join(",", addresses)));
    if (watch) {
      arguments.add("--watch");
    }
    IndexProgram.main(arguments.toArray(String[]::new)); // ends the JVM
    return CommandLine.ExitCode.OK;
  }

  @Command(
      name = "kill",
      mixinStandardHelpOptions = true,
      description = "Kill a process (SIGKILL): a node, or the coordinator.")
  int kill(@Parameters(paramLabel = "N|coordinator") String operand) throws IOException {
    try (LocalCluster cluster = existing()) {
      final ClusterProcess process = cluster.find(operand);
      final boolean ran = process.isAlive();
      process.kill();
      say("%s, process %d, %s", process.name(), process.pid(), ran ? "was killed" : "had ended");
    }
    return CommandLine.ExitCode.OK;
  }

  @Command(
      name = "pause",
      mixinStandardHelpOptions = true,
      description = "Stop a process where it is (SIGSTOP).")
  int pause(@Parameters(paramLabel = "N|coordinator") String operand) throws IOException {
    try (LocalCluster cluster = existing()) {
      cluster.find(operand).pauseProcess();
      say("%s stands still; 'cluster resume %s' lets it go on", operand, operand);
    }
    return CommandLine.ExitCode.OK;
  }

  @Command(
      name = "resume",
      mixinStandardHelpOptions = true,
      description = "Let a paused process go on (SIGCONT).")
  int resume(@Parameters(paramLabel = "N|coordinator") String operand) throws IOException {
    try (LocalCluster cluster = existing()) {
      cluster.find(operand).resume();
      say("%s goes on", operand);
    }
    return CommandLine.ExitCode.OK;
  }

  @Command(
      name = "add",
      mixinStandardHelpOptions = true,
      description = "Start one more node, with the first free number; or the killed coordinator.")
  int add(@Parameters(arity = "0..1", paramLabel = "coordinator") String operand)
      throws IOException {
    try (LocalCluster cluster = existing()) {
      final ClusterProcess coordinator = cluster.find(LocalCluster.COORDINATOR);
      if (operand == null) {
        final ClusterProcess node = cluster.add(LocalCluster.NodeOptions.DEFAULT);
        say("%s listens at %s", node.name(), node.address());
      } else if (!operand.equals(LocalCluster.COORDINATOR)) {
        throw new ClusterFailure("the number of a node is chosen: 'cluster add'");
      } else if (coordinator.isAlive()) {
        throw new ClusterFailure("the coordinator runs");
      } else {
        say("coordinator listens at %s", cluster.startCoordinator(coordinator.port()).address());
      }
    }
    return CommandLine.ExitCode.OK;
  }

  @Command(
      name = "remove",
      mixinStandardHelpOptions = true,
      description = "End a node in order (SIGTERM), and forget it.")
  int remove(@Parameters(paramLabel = "N") String operand) throws IOException {
    try (LocalCluster cluster = existing()) {
      if (operand.equals(LocalCluster.COORDINATOR)) {
        throw new ClusterFailure("the coordinator ends with the cluster: 'cluster down'");
      }
      cluster.remove(operand);
      say("node-%s has ended", operand);
    }
    return CommandLine.ExitCode.OK;
  }

  @Command(
      name = "down",
      mixinStandardHelpOptions = true,
      description = "End all processes, and delete what they had but their logs.")
  int down() throws IOException {
    try (LocalCluster cluster = existing()) {
      cluster.down();
      say("the cluster has ended; its logs, until the next 'up': %s", cluster.directory());
    }
    return CommandLine.ExitCode.OK;
  }

  private static void say(String format, Object... arguments) {
    System.out.printf(Locale.ROOT, format + "%n", arguments);
    System.out.flush();
  }
}
