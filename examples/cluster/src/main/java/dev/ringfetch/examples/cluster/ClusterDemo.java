package dev.ringfetch.examples.cluster;

import com.google.errorprone.annotations.FormatMethod;
import com.google.protobuf.ByteString;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.quickstart.ClassImage;
import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.cli.ClusterView;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The demo of a cluster: a coordinator and nodes in processes of their own, writers and readers in
 * this one. It kills the leader again and again, or stops it for a time, and proves by the clients'
 * records that nothing was lost.
 */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Kill leaders under load, and prove that nothing acknowledged is lost.",
    footer = {
      "",
      "The last line is for scripts. The exit code is 0 only if no acknowledged write is lost, no",
      "read went back, each increment was counted once, and no operation failed."
    })
final class ClusterDemo implements Callable<Integer> {
  private static final String CLASSES = "classes";
  private static final int BATCH = 1_000;
  private static final String PROBE = "probe";

  @Option(
      names = "--seconds",
      converter = AtLeast.One.class,
      defaultValue = "30",
      description = "How long, at least. Default: ${DEFAULT-VALUE}.")
  private int seconds;

  @Option(
      names = "--kill-every",
      paramLabel = "SECONDS",
      converter = AtLeast.One.class,
      defaultValue = "5",
      description = "Between two kills, and until all is complete. Default: ${DEFAULT-VALUE}.")
  private int killEvery;

  @Option(
      names = "--kills",
      converter = AtLeast.One.class,
      defaultValue = "1",
      description = "How many, at least. Default: ${DEFAULT-VALUE}.")
  private int leastKills;

  @Option(
      names = "--pause",
      paramLabel = "SECONDS",
      converter = AtLeast.One.class,
      description = "Stop leaders for that time (SIGSTOP), instead of killing them.")
  private Integer pauseSeconds;

  @Option(
      names = "--nodes",
      converter = AtLeast.One.class,
      defaultValue = "3",
      description = "Nodes, each with all indexes. Default: ${DEFAULT-VALUE}.")
  private int nodes;

  @Option(
      names = "--writers",
      converter = AtLeast.Zero.class,
      defaultValue = "4",
      description = "Threads that write. Default: ${DEFAULT-VALUE}.")
  private int writers;

  @Option(
      names = "--readers",
      converter = AtLeast.Zero.class,
      defaultValue = "4",
      description = "Threads that read. Default: ${DEFAULT-VALUE}.")
  private int readers;

  @Option(
      names = "--direct-readers",
      paramLabel = "N",
      converter = AtLeast.Zero.class,
      defaultValue = "0",
      description = "Threads that read in memory. Default: ${DEFAULT-VALUE}.")
  private int directReaders;

  @Option(
      names = "--entries",
      converter = AtLeast.One.class,
      description = "Classes to load before, at the most. Default: all.")
  private int entries = Integer.MAX_VALUE;

  @Option(names = "--seed", description = "Of the writers' and readers' choices. Default: 1.")
  private long seed = 1;

  /** Kept: a logger's level is forgotten with it. */
  private static final Logger CHANNELS = Logger.getLogger("dev.ringfetch.rpc");

  private LiveLine live; // null: before there is load

  /**
   * A change of leader under load.
   *
   * @param writtenNs from the signal to the first acknowledgement of a write that began after it
   */
  private record FailOver(long writtenNs) {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    CHANNELS.setLevel(Level.WARNING); // the end of each ring to a killed node is no news here
    try (TemporaryCluster temporary = TemporaryCluster.open("demo")) {
      return temporary.run(this::run) ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    } catch (IndexException e) {
      throw new ClusterFailure("an operation of the demo itself has failed: " + e.getMessage(), e);
    }
  }

  private boolean run(LocalCluster cluster) throws IOException, InterruptedException {
    final LocalCluster.NodeOptions options = LocalCluster.NodeOptions.DEFAULT.replicas(nodes);
    final long beginNs = System.nanoTime();
    cluster.up(nodes, options);
    final String target = String.join(",", cluster.addresses());
    say("up after %.1f s: nodes %s, seed %d", seconds(beginNs), target, seed);
    final List<ClassImage.Location> classes = ClassImage.read(entries);
    final List<FailOver> failOvers = new ArrayList<>();
    final Workload.Verdict verdict;
    final long classesLost;
    try (IndexClient prober = Workload.client(target);
        Workload workload =
            new Workload(Workload.INDEX, target, writers, readers, directReaders, seed)) {
      load(prober, classes);
      workload.start();
      try (LiveLine line = new LiveLine(workload)) {
        live = line;
        line.start();
        failOver(cluster, options, prober, failOvers);
        workload.stop();
      } finally {
        live = null;
      }
      try (IndexClient fresh = Workload.client(String.join(",", cluster.addresses()))) {
        verdict = workload.verify(fresh);
        classesLost = lost(fresh, classes);
      }
      report(workload, failOvers, verdict, classesLost, classes.size());
      return classesLost == 0 && workload.isRight(verdict) && failOvers.size() >= leastKills;
    }
  }

  private void load(IndexClient client, List<ClassImage.Location> classes) {
    final long beginNs = System.nanoTime();
    final HashIndex<ByteString, ByteString> index =
        client.hash(CLASSES, Codec.byteString(), Codec.byteString());
    for (int from = 0; from < classes.size(); from += BATCH) {
      final Map<ByteString, ByteString> batch = new LinkedHashMap<>();
      classes
          .subList(from, Math.min(classes.size(), from + BATCH))
          .forEach(each -> batch.put(each.key(), each.value()));
      index.putAll(batch);
    }
    say("loaded %,d classes into '%s' in %.1f s", classes.size(), CLASSES, seconds(beginNs));
  }

  private static long lost(IndexClient client, List<ClassImage.Location> classes) {
    final HashIndex<ByteString, ByteString> index =
        client.hash(CLASSES, Codec.byteString(), Codec.byteString());
    long lost = 0;
    for (int from = 0; from < classes.size(); from += BATCH) {
      final List<ClassImage.Location> batch =
          classes.subList(from, Math.min(classes.size(), from + BATCH));
      final Map<ByteString, ByteString> found =
          index.getAll(batch.stream().map(ClassImage.Location::key).toList());
      lost += batch.stream().filter(each -> !each.value().equals(found.get(each.key()))).count();
    }
    return lost;
  }

  /** Lets one leader after the other fail, until the time is over. */
  private void failOver(
      LocalCluster cluster,
      LocalCluster.NodeOptions options,
      IndexClient prober,
      List<FailOver> failOvers)
      throws IOException, InterruptedException {
    final HashIndex<String, Long> probes =
        prober.hash(Workload.INDEX, Codec.string(), Codec.int64());
    probes.put(PROBE, 0L); // there may be no writers
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (System.nanoTime() - endNs < 0 || failOvers.size() < leastKills) {
      final ClusterView complete = awaitComplete(cluster);
      TimeUnit.SECONDS.sleep(killEvery);
      if (System.nanoTime() - endNs >= 0 && failOvers.size() >= leastKills) {
        return;
      }
      final String address = complete.index(Workload.INDEX).orElseThrow().leader();
      final Optional<ClusterProcess> leader =
          cluster.nodes().stream().filter(node -> node.address().equals(address)).findFirst();
      if (leader.isEmpty()) {
        continue; // another one leads by now
      }
      probes.put(PROBE, 0L); // the prober's connection is there, as those of the others
      failOvers.add(failOver(cluster, options, leader.get(), probes, failOvers.size() + 1));
    }
    final var unused = awaitComplete(cluster);
  }

  private FailOver failOver(
      LocalCluster cluster,
      LocalCluster.NodeOptions options,
      ClusterProcess leader,
      HashIndex<String, Long> probes,
      int number)
      throws IOException {
    final long beginNs = System.nanoTime();
    if (pauseSeconds == null) {
      leader.kill();
    } else {
      leader.pauseProcess();
    }
    probes.put(PROBE, (long) number);
    final long writtenNs = System.nanoTime() - beginNs;
    say(
        "%s %s, process %d: first write after %.0f ms",
        pauseSeconds == null ? "killed" : "stopped",
        leader.name(),
        leader.pid(),
        Workload.millis(writtenNs));
    if (pauseSeconds == null) {
      cluster.start(leader.name(), leader.port(), options);
    } else {
      sleepUntil(beginNs + TimeUnit.SECONDS.toNanos(pauseSeconds));
      leader.resume();
    }
    final ClusterView complete = awaitComplete(cluster);
    say(
        "complete again after %.1f s: %s leads",
        seconds(beginNs), complete.index(Workload.INDEX).orElseThrow().leader());
    return new FailOver(writtenNs);
  }

  private static void sleepUntil(long timeNs) {
    try {
      TimeUnit.NANOSECONDS.sleep(timeNs - System.nanoTime());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterFailure("interrupted", e);
    }
  }

  private ClusterView awaitComplete(LocalCluster cluster) throws IOException {
    return cluster.awaitAnswers(
        "members are not complete",
        view ->
            view.index(Workload.INDEX).isPresent()
                && view.indexes().stream().allMatch(ClusterView.IndexView::isComplete));
  }

  private void report(
      Workload workload,
      List<FailOver> failOvers,
      Workload.Verdict verdict,
      long classesLost,
      int classes) {
    final double[] times =
        failOvers.stream().mapToDouble(each -> Workload.millis(each.writtenNs)).toArray();
    final double median = times.length == 0 ? 0 : Figures.median(times);
    double worst = 0;
    for (final double time : times) {
      worst = Math.max(worst, time);
    }
    final Histogram writes = workload.writes().total();
    final Histogram reads = workload.reads().total();
    say(
        "%,d writes acknowledged, %,d of them increments; %,d reads; %,d comparisons lost",
        workload.acknowledged(),
        workload.increments(),
        reads.getTotalCount(),
        workload.lostComparisons());
    say(
        "%d keys lost, %d of %,d classes lost, %d reads went back, %d counters wrong, %d operations"
            + " failed",
        verdict.lost(),
        classesLost,
        classes,
        workload.wentBack(),
        verdict.miscounted(),
        workload.failures());
    say(
        "RESULT fail_overs=%d fail_over_median_ms=%.1f fail_over_worst_ms=%.1f writes=%d"
            + " increments=%d reads=%d direct_reads=%d write_p50_us=%.1f write_p99_us=%.1f"
            + " read_p50_us=%.1f read_p99_us=%.1f lost=%d lost_classes=%d went_back=%d miscounted=%d failed=%d"
            + " unknown=%d",
        failOvers.size(),
        median,
        worst,
        workload.acknowledged(),
        workload.increments(),
        reads.getTotalCount(),
        workload.directReads(),
        writes.getValueAtPercentile(50) / 1e3,
        writes.getValueAtPercentile(99) / 1e3,
        reads.getValueAtPercentile(50) / 1e3,
        reads.getValueAtPercentile(99) / 1e3,
        verdict.lost(),
        classesLost,
        workload.wentBack(),
        verdict.miscounted(),
        workload.failures(),
        workload.unknown());
  }

  private static double seconds(long sinceNs) {
    return (System.nanoTime() - sinceNs) / 1e9;
  }

  @FormatMethod
  private void say(String format, Object... arguments) {
    final String line = String.format(Locale.ROOT, format, arguments);
    if (live == null) {
      System.out.println(line);
      System.out.flush();
    } else {
      live.say(line);
    }
  }
}
