package dev.ringfetch.examples.broker;

import com.google.errorprone.annotations.FormatMethod;
import com.google.protobuf.ByteString;
import dev.ringfetch.examples.cluster.ClusterFailure;
import dev.ringfetch.examples.cluster.ClusterProcess;
import dev.ringfetch.examples.cluster.LocalCluster;
import dev.ringfetch.examples.cluster.TemporaryCluster;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.TemporaryDirectory;
import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.OptionErrors;
import dev.ringfetch.index.cli.ClusterView;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.TopicCommits;
import dev.ringfetch.index.client.TopicOptions;
import dev.ringfetch.index.client.TopicPartition;
import dev.ringfetch.index.client.Topics;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The demo of the broker: a cluster of three nodes, producers and a group of consumers, each a
 * process. It kills the leader of a partition, a producer and a consumer, and proves by what they
 * have written down that each acknowledged record was read in its order, and counted once.
 */
@Command(
    name = "broker",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Topics by Kafka's interfaces, while leader, producer and consumer are killed.",
    footer = {
      "",
      "The last line is for scripts. The exit code is 0 only if each acknowledged record was",
      "read, in order per partition and producer, and counted once in the results that the",
      "consumers store with their offsets, and no record was appended twice."
    })
public final class BrokerDemo implements Callable<Integer> {
  static final String TOPIC = "orders";
  static final String GROUP = "desk";
  private static final int NODES = 3;
  private static final int PROCESSES = 3; // producers, and consumers
  private static final int PARTITIONS = 6;
  private static final int CATCH_UP_SECONDS = 60;
  private static final Duration DEADLINE = Duration.ofSeconds(30); // over a fail-over

  /** Kept: a logger's level is forgotten with it. */
  private static final Logger CHANNELS = Logger.getLogger("dev.ringfetch.rpc");

  @Option(
      names = "--seconds",
      converter = AtLeast.One.class,
      defaultValue = "20",
      description = "How long records are sent. Default: ${DEFAULT-VALUE}.")
  private int seconds;

  @Option(names = "--no-kill", description = "Kill nothing.")
  private boolean killsNothing;

  @Option(
      names = "--rate",
      paramLabel = "N",
      converter = AtLeast.One.class,
      defaultValue = "1000",
      description = "Records a second of each producer. Default: ${DEFAULT-VALUE}.")
  private int rate;

  private final List<ChildProcess> producers = new ArrayList<>();
  private final List<ChildProcess> consumers = new ArrayList<>();
  private final List<Path> acknowledged = new ArrayList<>(); // files of all producers that were
  private final List<Path> read = new ArrayList<>(); // of all consumers
  private Path files;
  private LocalCluster cluster;
  private String target;

  /** Runs it; ends the JVM. */
  public static void main(String[] args) {
    System.exit(OptionErrors.printedFor(new CommandLine(new BrokerDemo())).execute(args));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    CHANNELS.setLevel(Level.WARNING); // the end of each ring to a killed node is no news here
    try (TemporaryDirectory directory = new TemporaryDirectory("ringfetch-broker-");
        TemporaryCluster temporary = TemporaryCluster.open("broker")) {
      files = directory.path();
      cluster = temporary.cluster();
      return temporary.run(this::run) ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    } catch (ChildFailure | ClusterFailure e) {
      System.err.println("broker: " + e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    } finally { // without a cluster, a producer would try to send what it has for two minutes
      consumers.forEach(ChildProcess::kill);
      producers.forEach(ChildProcess::kill);
    }
  }

  private boolean run(LocalCluster started) throws IOException, InterruptedException {
    started.up(NODES, LocalCluster.NodeOptions.DEFAULT.replicas(NODES));
    target = String.join(",", started.addresses());
    say("up: nodes %s", target);
    try (IndexClient client = IndexClient.builder().target(target).deadline(DEADLINE).build()) {
      client.topics().create(TOPIC, TopicOptions.partitions(PARTITIONS));
      client.topics().commits().index().put("{" + GROUP + "}/created", ByteString.EMPTY);
      for (int i = 0; i < PROCESSES; i++) {
        startConsumer();
        startProducer();
      }
      awaitComplete();
      consumers.forEach(each -> each.ask("start"));
      producers.forEach(each -> each.ask("start"));
      final long beginNs = System.nanoTime();
      say("%d producers, %d consumers, %d partitions", PROCESSES, PROCESSES, PARTITIONS);
      if (killsNothing) {
        sleepUntil(beginNs, 1);
      } else {
        sleepUntil(beginNs, 0.25);
        killLeader();
        sleepUntil(beginNs, 0.5);
        killProducer();
        sleepUntil(beginNs, 0.75);
        killConsumer();
        sleepUntil(beginNs, 1);
      }
      final List<Answer> sent = producers.stream().map(each -> each.ask("stop")).toList();
      final double sendSeconds = (System.nanoTime() - beginNs) / 1e9;
      awaitConsumers(client.topics());
      final double readSeconds = (System.nanoTime() - beginNs) / 1e9;
      final List<Answer> consumed = consumers.stream().map(each -> each.ask("stop")).toList();
      end(consumers);
      end(producers);
      return report(client, sent, sendSeconds, consumed, readSeconds);
    }
  }

  private static void end(List<ChildProcess> processes) {
    processes.forEach(ChildProcess::close);
    processes.clear();
  }

  private void startProducer() throws IOException {
    final String name = "p" + acknowledged.size();
    acknowledged.add(files.resolve(name));
    final List<String> arguments =
        List.of(
            "--target",
            target,
            "--name",
            name,
            "--file",
            files.resolve(name).toString(),
            "--rate",
            Integer.toString(rate));
    producers.add(ChildProcess.start(List.of(), ProducerProcess.class, arguments));
  }

  private void startConsumer() throws IOException {
    final String name = "c" + read.size();
    read.add(files.resolve(name));
    final List<String> arguments =
        List.of("--target", target, "--name", name, "--file", files.resolve(name).toString());
    consumers.add(ChildProcess.start(List.of(), ConsumerProcess.class, arguments));
  }

  private void sleepUntil(long beginNs, double part) throws InterruptedException {
    final long dueNs = beginNs + (long) (TimeUnit.SECONDS.toNanos(seconds) * part);
    TimeUnit.NANOSECONDS.sleep(Math.max(dueNs - System.nanoTime(), 0));
  }

  private void killLeader() throws IOException {
    final String index = new TopicPartition(TOPIC, 0).index();
    final ClusterView view = awaitComplete();
    final String address = view.index(index).orElseThrow().leader();
    final ClusterProcess leader =
        cluster.nodes().stream()
            .filter(node -> node.address().equals(address))
            .findFirst()
            .orElseThrow(() -> new ClusterFailure("no node has the address " + address));
    leader.kill();
    say("killed %s, which leads %s; it starts again", leader.name(), index);
    cluster.start(leader.name(), leader.port(), LocalCluster.NodeOptions.DEFAULT.replicas(NODES));
  }

  /** Waits until each node has each index: then one of them may fail. */
  private ClusterView awaitComplete() throws IOException {
    return cluster.awaitAnswers(
        "members are not complete",
        view ->
            view.indexes().size() > PARTITIONS
                && view.indexes().stream().allMatch(ClusterView.IndexView::isComplete));
  }

  private void killProducer() throws IOException {
    producers.remove(0).kill();
    say("killed a producer; another one begins");
    startProducer();
    producers.get(producers.size() - 1).ask("start");
  }

  private void killConsumer() throws IOException {
    consumers.remove(0).kill();
    say("killed a consumer; another one joins");
    startConsumer();
    consumers.get(consumers.size() - 1).ask("start");
  }

  /** Waits until the group has committed all that there is. */
  private void awaitConsumers(Topics topics) throws InterruptedException {
    final List<TopicPartition> all = new ArrayList<>();
    for (int i = 0; i < PARTITIONS; i++) {
      all.add(new TopicPartition(TOPIC, i));
    }
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(CATCH_UP_SECONDS);
    while (true) {
      final Map<TopicPartition, TopicCommits.Commit> commits =
          topics.commits().committed(GROUP, all);
      final boolean done =
          all.stream()
              .allMatch(
                  each -> {
                    final long end = topics.log(TOPIC, each.partition()).end();
                    final TopicCommits.Commit commit = commits.get(each);
                    return commit == null
                        ? topics.log(TOPIC, each.partition()).first() == end
                        : commit.offset() >= end;
                  });
      if (done) {
        return;
      }
      if (System.nanoTime() - endNs > 0) {
        throw new ClusterFailure(
            "consumers have not read all within " + CATCH_UP_SECONDS + " s: " + commits);
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  private boolean report(
      IndexClient client,
      List<Answer> sent,
      double sendSeconds,
      List<Answer> consumed,
      double readSeconds)
      throws IOException {
    final Proof proof = new Proof(PARTITIONS);
    for (final Path file : acknowledged) {
      proof.acknowledged(SeenRecord.read(file));
    }
    for (final Path file : read) {
      proof.read(SeenRecord.read(file));
    }
    proof.check(client);
    proof.mistakes().forEach(mistake -> say("WRONG: %s", mistake));
    final long failed = sent.stream().mapToLong(each -> each.count("failed")).sum();
    final double p50 =
        Figures.median(consumed.stream().mapToDouble(each -> each.figure("p50_us")).toArray());
    final double p99 =
        Figures.median(consumed.stream().mapToDouble(each -> each.figure("p99_us")).toArray());
    say(
        "%,d records acknowledged, %,d in the topic, %,d reads; %d failed",
        proof.acknowledgedCount(), proof.appendedCount(), proof.readCount(), failed);
    say(
        proof.mistakes().isEmpty()
            ? "each acknowledged record was read in its order, and counted once"
            : "WRONG: see above");
    say(
        "RESULT acknowledged=%d appended=%d reads=%d appends_s=%.0f reads_s=%.0f p50_us=%.0f"
            + " p99_us=%.0f failed=%d mistakes=%d",
        proof.acknowledgedCount(),
        proof.appendedCount(),
        proof.readCount(),
        proof.acknowledgedCount() / sendSeconds,
        proof.readCount() / readSeconds,
        p50,
        p99,
        failed,
        proof.mistakes().size());
    return proof.mistakes().isEmpty() && failed == 0 && proof.acknowledgedCount() > 0;
  }

  @FormatMethod
  private static void say(String format, Object... arguments) {
    System.out.printf(Locale.ROOT, format + "%n", arguments);
    System.out.flush();
  }
}
