package dev.ringfetch.examples.cluster;

import com.google.errorprone.annotations.FormatMethod;
import dev.ringfetch.index.cli.ClusterView;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexException;
import dev.ringfetch.index.client.OrderedIndex;
import dev.ringfetch.index.client.Range;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The upgrade of a cluster of real processes, node by node, from the jars of an earlier version to
 * those of this program, under the load of clients of both versions.
 *
 * <p>Between the versions it has each of them lead the other one: a node of this version joins
 * earlier ones, leads alone, and earlier ones join it.
 */
@Command(
    name = "upgrade",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Upgrade three nodes with data on disk from an earlier version, under load.",
    footer = {
      "",
      "The exit code is 0 only if, for the clients of both versions, no acknowledged",
      "write is lost, no read went back, each increment was counted once, a watch",
      "missed none, and no operation failed or hung."
    })
final class ClusterUpgrade implements Callable<Integer> {
  private static final int NODES = 3;
  private static final int KEYS = 100; // of each index that a step creates

  /** Kept: a logger's level is forgotten with it. */
  private static final Logger CHANNELS = Logger.getLogger("dev.ringfetch.rpc");

  @Option(
      names = "--from",
      paramLabel = "LIB",
      required = true,
      description = "The directory with the jars of the earlier version: lib of its tar.")
  private Path from;

  @Option(
      names = "--data",
      paramLabel = "PATH",
      required = true,
      description = "Of the nodes and the coordinator: a new directory, which is left.")
  private Path data;

  @Option(names = "--seed", description = "Of the load. Default: 1.")
  private long seed = 1;

  private int steps;

  @Override
  public Integer call() throws IOException, InterruptedException {
    CHANNELS.setLevel(Level.WARNING); // the end of each ring to a node that ends is expected here
    try (TemporaryCluster temporary = TemporaryCluster.open("upgrade")) {
      temporary.cluster().keepData(data);
      return temporary.run(this::run) ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    } catch (IndexException e) {
      throw new ClusterFailure(
          "an operation of the upgrade itself has failed: " + e.getMessage(), e);
    }
  }

  /** The earlier jars, with this package and the histograms that it needs. */
  private String earlierClassPath() {
    return String.join(
        File.pathSeparator,
        location(ClusterUpgrade.class),
        from.toAbsolutePath().resolve("*").toString(),
        location(Histogram.class));
  }

  private static String location(Class<?> type) {
    return type.getProtectionDomain().getCodeSource().getLocation().getPath();
  }

  private boolean run(LocalCluster cluster) throws IOException, InterruptedException {
    final LocalCluster.NodeOptions options = LocalCluster.NodeOptions.DEFAULT.replicas(NODES);
    cluster.nodesWith(Optional.of(earlierClassPath()));
    cluster.up(NODES, options);
    final String target = String.join(",", cluster.addresses());
    say("up: nodes %s, seed %d", target, seed);
    try (Workload workload = new Workload(Workload.INDEX, target, 1, 1, 1, seed);
        EarlierClient earlier = EarlierClient.start(earlierClassPath(), target, seed);
        IndexClient client = Workload.client(target)) {
      workload.start();
      step(cluster, client, "all nodes are earlier ones");
      try (CounterWatch watch = new CounterWatch(target)) {
        start(cluster, end(cluster, 1), options, Optional.empty());
        step(cluster, client, "an earlier node leads a new one");

        final List<ClusterProcess> others = List.of(end(cluster, 2), end(cluster, 3));
        for (final ClusterProcess other : others) {
          start(cluster, other, options, Optional.of(earlierClassPath()));
        }
        step(cluster, client, "a new node leads earlier ones");

        for (int i = 2; i <= NODES; i++) {
          start(cluster, end(cluster, i), options, Optional.empty());
          step(cluster, client, "node " + i + " is a new one");
        }
        workload.stop();
        return check(cluster, workload, earlier, watch);
      }
    }
  }

  /** Ends the node of a number in order. */
  private static ClusterProcess end(LocalCluster cluster, int number) throws IOException {
    final ClusterProcess node = cluster.find(Integer.toString(number));
    node.requestEnd();
    node.awaitEnd();
    return node;
  }

  /** Starts a node that has ended, at its address. */
  private static void start(
      LocalCluster cluster,
      ClusterProcess node,
      LocalCluster.NodeOptions options,
      Optional<String> classPath)
      throws IOException {
    cluster.nodesWith(classPath);
    cluster.start(node.name(), node.port(), options);
  }

  /** Waits until all nodes have all indexes, and creates one more. */
  private void step(LocalCluster cluster, IndexClient client, String what) throws IOException {
    final ClusterView view =
        cluster.awaitAnswers(
            "members are not complete",
            each ->
                each.index(Workload.INDEX).isPresent()
                    && each.indexes().stream().allMatch(ClusterView.IndexView::isComplete));
    say("%s: %s leads", what, view.index(Workload.INDEX).orElseThrow().leader());
    final OrderedIndex<Long, Long> created = index(client, steps++);
    created.putAll(entries(0));
    final long deleted = created.deleteRange(Range.lessThan((long) steps));
    if (deleted != steps) {
      throw new ClusterFailure("not all of a range was deleted: " + deleted + " of " + steps);
    }
  }

  private static Map<Long, Long> entries(long from) {
    return LongStream.range(from, KEYS).boxed().collect(Collectors.toMap(key -> key, key -> key));
  }

  private static OrderedIndex<Long, Long> index(IndexClient client, int step) {
    return client.ordered("step-" + step, Codec.int64(), Codec.int64());
  }

  private boolean check(
      LocalCluster cluster, Workload workload, EarlierClient earlier, CounterWatch watch)
      throws IOException, InterruptedException {
    final String target = String.join(",", cluster.addresses());
    final boolean earlierIsRight = earlier.verify(target);
    try (IndexClient fresh = Workload.client(target)) {
      final Workload.Verdict verdict = workload.verify(fresh);
      long missed = watch.wrong() + (watch.awaitAll(fresh) ? 0 : 1);
      for (int i = 0; i < steps; i++) {
        final Map<Long, Long> expected = entries(i + 1);
        if (!index(fresh, i).getAll(expected.keySet()).equals(expected)
            || index(fresh, i).count() != expected.size()) {
          missed++;
        }
      }
      say("RESULT %s watched=%d missed=%d", workload.counts(verdict), watch.changes(), missed);
      return earlierIsRight && workload.isRight(verdict) && missed == 0;
    }
  }

  @FormatMethod
  private static void say(String format, Object... arguments) {
    System.out.printf(Locale.ROOT, format + "%n", arguments);
    System.out.flush();
  }
}
