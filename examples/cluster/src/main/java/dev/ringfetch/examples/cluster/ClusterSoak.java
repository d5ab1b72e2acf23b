package dev.ringfetch.examples.cluster;

import com.google.errorprone.annotations.FormatMethod;
import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.cli.ClusterView;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexException;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The soak of a cluster of real processes: lets leaders, members and the coordinator fail at
 * random, one or two at a time, and restarts nodes in turn, under a load whose records show what
 * was lost, found old, or counted twice.
 */
@Command(
    name = "soak",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Kill and stop nodes and the coordinator at random, under load.",
    footer = {
      "",
      "The last line is for scripts. The exit code is 0 only if no acknowledged write",
      "is lost, no read went back, each increment was counted once, a watch missed",
      "none, and no operation failed or hung."
    })
final class ClusterSoak implements Callable<Integer> {
  /** Kept: a logger's level is forgotten with it. */
  private static final Logger CHANNELS = Logger.getLogger("dev.ringfetch.rpc");

  @Option(
      names = "--kills",
      converter = AtLeast.Zero.class,
      defaultValue = "10",
      description = "Faults, at least: SIGKILL, SIGSTOP, cuts. Default: ${DEFAULT-VALUE}.")
  private int kills;

  @Option(
      names = "--restarts",
      converter = AtLeast.Zero.class,
      defaultValue = "1",
      description =
          "Rolling restarts: each node ends in order, and starts again. Default: ${DEFAULT-VALUE}.")
  private int restarts;

  @Option(
      names = "--nodes",
      converter = AtLeast.One.class,
      defaultValue = "3",
      description = "Nodes, each with the index. Default: ${DEFAULT-VALUE}.")
  private int nodes;

  @Option(
      names = "--writers",
      converter = AtLeast.One.class,
      defaultValue = "2",
      description = "Threads that write. Default: ${DEFAULT-VALUE}.")
  private int writers;

  @Option(
      names = "--readers",
      converter = AtLeast.One.class,
      defaultValue = "2",
      description = "Threads that read. Default: ${DEFAULT-VALUE}.")
  private int readers;

  @Option(
      names = "--direct-readers",
      paramLabel = "N",
      converter = AtLeast.Zero.class,
      defaultValue = "1",
      description = "Threads that read in memory. Default: ${DEFAULT-VALUE}.")
  private int directReaders;

  @Option(names = "--seed", description = "Of what fails, and of the load. Default: 1.")
  private long seed = 1;

  @Option(
      names = "--networks",
      description = "Of each node its own, which is cut, too. Needs root, and Linux.")
  private boolean networks;

  private int killed;
  private int stopped;
  private int cut;
  private int restarted;

  @Override
  public Integer call() throws IOException, InterruptedException {
    CHANNELS.setLevel(Level.WARNING); // the end of each ring to a killed node is expected here
    try (TemporaryCluster temporary = TemporaryCluster.open("soak")) {
      if (networks) {
        temporary.cluster().networks(new NodeNetworks());
      }
      return temporary.run(this::run) ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    } catch (IndexException e) {
      throw new ClusterFailure("an operation of the soak itself has failed: " + e.getMessage(), e);
    }
  }

  private boolean run(LocalCluster cluster) throws IOException, InterruptedException {
    final LocalCluster.NodeOptions options = LocalCluster.NodeOptions.DEFAULT.replicas(nodes);
    cluster.up(nodes, options);
    final String target = String.join(",", cluster.addresses());
    say("up: nodes %s, seed %d", target, seed);
    try (Workload workload =
        new Workload(Workload.INDEX, target, writers, readers, directReaders, seed)) {
      workload.start();
      final var unused = awaitComplete(cluster);
      boolean complete = false;
      try (CounterWatch watch = new CounterWatch(target)) {
        fail(cluster, options);
        for (int i = 0; i < restarts; i++) {
          restartAll(cluster, options);
        }
        workload.stop();
        final boolean isRight = check(cluster, workload, watch);
        complete = true;
        return isRight;
      } finally {
        if (!complete) {
          sayLogs(cluster);
        }
      }
    }
  }

  private boolean check(LocalCluster cluster, Workload workload, CounterWatch watch)
      throws IOException, InterruptedException {
    final Workload.Verdict verdict;
    final boolean hasAll;
    try (IndexClient fresh = Workload.client(String.join(",", cluster.addresses()))) {
      verdict = workload.verify(fresh);
      hasAll = watch.awaitAll(fresh);
    }
    final long missed = watch.wrong() + (hasAll ? 0 : 1);
    report(workload, verdict, watch.changes(), missed);
    return missed == 0 && workload.isRight(verdict);
  }

  private void fail(LocalCluster cluster, LocalCluster.NodeOptions options)
      throws IOException, InterruptedException {
    final Random random = new Random(seed);
    while (killed + stopped + cut < kills) {
      final String leader = awaitComplete(cluster).index(Workload.INDEX).orElseThrow().leader();
      TimeUnit.MILLISECONDS.sleep(random.nextInt(1_000));
      final List<ClusterFault> faults = ClusterFault.draw(random, cluster, leader);
      final long beginNs = System.nanoTime();
      for (final ClusterFault fault : faults) {
        TimeUnit.MILLISECONDS.sleep(fault.delayMs());
        fault.begin(cluster);
        switch (fault.kind()) {
          case KILLED -> killed++;
          case STOPPED -> stopped++;
          case CUT_OFF, KEPT_APART -> cut++;
        }
      }
      for (final ClusterFault fault : faults) {
        TimeUnit.MILLISECONDS.sleep(fault.downMs());
        fault.end(cluster, options);
      }
      final var unused = awaitComplete(cluster);
      say(
          "%4d %s: complete after %.1f s",
          killed + stopped + cut, faults, (System.nanoTime() - beginNs) / 1e9);
    }
  }

  private void restartAll(LocalCluster cluster, LocalCluster.NodeOptions options)
      throws IOException {
    for (final ClusterProcess node : cluster.nodes()) {
      final var unused = awaitComplete(cluster);
      final long beginNs = System.nanoTime();
      node.requestEnd();
      node.awaitEnd();
      cluster.start(node.name(), node.port(), options);
      restarted++;
      final String leader = awaitComplete(cluster).index(Workload.INDEX).orElseThrow().leader();
      say(
          "%s restarted: complete after %.1f s, %s leads",
          node.name(), (System.nanoTime() - beginNs) / 1e9, leader);
    }
  }

  private static ClusterView awaitComplete(LocalCluster cluster) throws IOException {
    return cluster.awaitAnswers(
        "members are not complete",
        view -> view.index(Workload.INDEX).filter(ClusterView.IndexView::isComplete).isPresent());
  }

  private static void sayLogs(LocalCluster cluster) throws IOException {
    for (final ClusterProcess process : cluster.processes()) {
      System.err.println(process.name() + ", " + process.state() + ": " + process.lastSaid());
    }
  }

  private void report(Workload workload, Workload.Verdict verdict, long watched, long missed) {
    final Histogram writes = workload.writes().total();
    final Histogram reads = workload.reads().total();
    say(
        "RESULT kills=%d stops=%d cuts=%d restarts=%d seed=%d writes=%d increments=%d reads=%d"
            + " direct_reads=%d watched=%d write_worst_ms=%.0f read_worst_ms=%.0f lost=%d"
            + " went_back=%d miscounted=%d missed=%d failed=%d unknown=%d",
        killed,
        stopped,
        cut,
        restarted,
        seed,
        workload.acknowledged(),
        workload.increments(),
        reads.getTotalCount(),
        workload.directReads(),
        watched,
        Workload.millis(writes.getMaxValue()),
        Workload.millis(reads.getMaxValue()),
        verdict.lost(),
        workload.wentBack(),
        verdict.miscounted(),
        missed,
        workload.failures(),
        workload.unknown());
  }

  @FormatMethod
  private static void say(String format, Object... arguments) {
    System.out.printf(Locale.ROOT, format + "%n", arguments);
    System.out.flush();
  }
}
