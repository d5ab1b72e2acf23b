package dev.ringfetch.examples.cluster;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * A benchmark of replication: puts to an index of one node, and of three nodes by calls and
 * one-sidedly. Each side is a cluster of its own; they take turns.
 */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Measure puts: of one node, and of three by calls and one-sidedly.",
      "Sides take turns; medians of the rounds."
    },
    footer = {"", "The last lines are for scripts."})
final class ReplicationBench implements Callable<Integer> {
  private static final String INDEX = "bench";
  private static final int KEYS = 10_000;

  @Option(
      names = "--rounds",
      converter = AtLeast.One.class,
      defaultValue = "5",
      description = "Of each side. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--millis",
      converter = AtLeast.One.class,
      defaultValue = "1000",
      description = "Of a round. Default: ${DEFAULT-VALUE}.")
  private int millis;

  @Option(
      names = "--threads",
      split = ",",
      defaultValue = "1,16",
      description = "That put, a row each. Default: ${DEFAULT-VALUE}.")
  private List<Integer> threads;

  /** A side: a cluster, and a client of it. */
  private record Side(LocalCluster cluster, IndexClient client, HashIndex<String, Long> index) {}

  @Override
  public Integer call() throws IOException {
    final Path directory = Files.createTempDirectory("ringfetch-bench-cluster-");
    final Map<String, Side> sides = new LinkedHashMap<>();
    try {
      sides.put("one-node", side(directory.resolve("one"), 1, "auto", ""));
      sides.put("rpc", side(directory.resolve("rpc"), 3, "rpc", "rpc"));
      sides.put("one-sided", side(directory.resolve("memory"), 3, "one-sided", "one-sided shm"));
      final List<String> results = new ArrayList<>();
      for (final int count : threads) {
        final Map<String, List<Figures>> taken =
            Turns.take(
                sides.keySet(), rounds + 1, (name, round) -> round(sides.get(name).index, count));
        taken.forEach((name, figures) -> results.add(row(count, name, figures)));
      }
      results.forEach(System.out::println);
    } finally {
      for (final Side side : sides.values()) {
        side.client.close();
        side.cluster.down();
        side.cluster.delete();
        side.cluster.close();
      }
      Files.deleteIfExists(directory);
    }
    return CommandLine.ExitCode.OK;
  }

  /** The first round of each side is for the compilers. */
  private static String row(int count, String name, List<Figures> figures) {
    final Figures median = Figures.median(figures.subList(1, figures.size()));
    System.out.printf(
        Locale.ROOT,
        "%2d threads  %-10s p50 %6.1f us  p99 %7.1f us  %8.0f puts/s%n",
        count,
        name,
        median.p50Us(),
        median.p99Us(),
        median.perSecond());
    return String.format(
        Locale.ROOT,
        "RESULT row=replicated-put-%d side=%s p50_us=%.1f p99_us=%.1f per_s=%.0f",
        count,
        name,
        median.p50Us(),
        median.p99Us(),
        median.perSecond());
  }

  private static Side side(Path directory, int nodes, String replication, String shown)
      throws IOException {
    final LocalCluster cluster = LocalCluster.open(directory, true);
    cluster.up(nodes, LocalCluster.NodeOptions.DEFAULT.replicas(nodes).replication(replication));
    final IndexClient client = Workload.client(String.join(",", cluster.addresses()));
    final HashIndex<String, Long> index = client.hash(INDEX, Codec.string(), Codec.int64());
    index.put("key", 0L);
    cluster.awaitAnswers(
        "records go another way than " + replication,
        view ->
            view.index(INDEX)
                .filter(
                    one ->
                        one.isComplete()
                            && one.followers().stream()
                                .allMatch(each -> each.replicatedBy().equals(shown)))
                .isPresent());
    return new Side(cluster, client, index);
  }

  private Figures round(HashIndex<String, Long> index, int count) {
    final long beginNs = System.nanoTime();
    final long endNs = beginNs + TimeUnit.MILLISECONDS.toNanos(millis);
    final Measured measured = new Measured();
    final List<Thread> writers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      final int first = i;
      writers.add(new Thread(() -> put(index, first, endNs, measured), "bench-writer-" + i));
    }
    writers.forEach(Thread::start);
    for (final Thread writer : writers) {
      try {
        writer.join(millis + Workload.DEADLINE.toMillis());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ClusterFailure("interrupted", e);
      }
    }
    final Histogram total = measured.total();
    return Figures.of(total, System.nanoTime() - beginNs);
  }

  private static void put(HashIndex<String, Long> index, int first, long endNs, Measured measured) {
    long number = first;
    while (true) {
      final long beginNs = System.nanoTime();
      if (beginNs - endNs >= 0) {
        return;
      }
      index.put("key-" + number++ % KEYS, number);
      measured.ended(beginNs);
    }
  }
}
