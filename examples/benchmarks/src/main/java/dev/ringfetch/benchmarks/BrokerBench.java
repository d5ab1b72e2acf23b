package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.broker.BrokerClient;
import dev.ringfetch.benchmarks.broker.KafkaServer;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.ProcessUse;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.examples.process.TemporaryDirectory;
import dev.ringfetch.index.v1.Durability;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** A benchmark of topics of an index by Kafka's interfaces, beside Kafka itself. */
@Command(
    name = "broker",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = "Appends and reads of topics by Kafka's interfaces, beside Kafka itself.")
final class BrokerBench implements Callable<Integer> {
  private static final int RATE = 1_000; // records a second, for latency

  private final PrintStream out = System.out;

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withRounds(5)
          .withMillis(1_000)
          .withWarmUp("Milliseconds of each before the first round. Default: %s.", 3_000);

  /** A server with its client. */
  private record Side(String name, long pid, ChildProcess client, AutoCloseable server) {}

  /**
   * The figures of one turn.
   *
   * @param appendCpuUs processor time of the server for a record; the same of reads.
   */
  private record Round(
      double appends,
      double appendCpuUs,
      double reads,
      double readCpuUs,
      double p50Us,
      double p99Us) {}

  @Override
  public Integer call() throws Exception {
    Machine.print(out);
    final Optional<String> kafka = KafkaServer.classPath();
    final List<Side> sides = new ArrayList<>();
    try (TemporaryDirectory directory = new TemporaryDirectory("bench-broker-")) {
      try {
        sides.add(index(directory.path(), "memory", Durability.MEMORY));
        sides.add(index(directory.path(), "interval", Durability.INTERVAL));
        if (kafka.isPresent()) {
          sides.add(kafka(kafka.get(), directory.path()));
        } else {
          out.println("no jars of Kafka's server: its rows are left out");
        }
        measure(sides);
      } finally {
        for (final Side side : sides) {
          side.client.close();
          side.server.close();
        }
      }
    }
    return CommandLine.ExitCode.OK;
  }

  private static Side index(Path directory, String name, Durability durability) throws IOException {
    final JournalServer server =
        JournalServer.start(directory.resolve(name), name, new Rings(), ServerClasses.plain());
    return new Side(
        name, server.pid(), client(BrokerClient.RING, server.target(), durability), server);
  }

  private static Side kafka(String classPath, Path directory) throws IOException {
    final KafkaServer server =
        KafkaServer.start(classPath, Files.createDirectory(directory.resolve("kafka")));
    return new Side(
        "kafka",
        server.pid(),
        client(BrokerClient.KAFKA, server.target(), Durability.MEMORY),
        server);
  }

  private static ChildProcess client(String kind, String target, Durability durability)
      throws IOException {
    return ChildProcess.start(
        List.of(), BrokerClient.class, List.of(kind, target, durability.name()));
  }

  private void measure(List<Side> sides) {
    sides.forEach(side -> turn(side, -1, options.warmUp()));
    out.printf(
        Locale.ROOT,
        "records of 100 bytes, 4 partitions; latency at %,d a second; %d rounds of %d ms, by turns;"
            + " median [least .. most]%n",
        RATE,
        options.rounds(),
        options.millis());
    final Map<Side, List<Round>> rounds =
        Turns.take(sides, options.rounds(), (side, round) -> turn(side, round, options.millis()));
    rounds.forEach(this::print);
  }

  private Round turn(Side side, int round, int millis) {
    final String topic = "bench-" + (round + 1);
    side.client.ask("create", topic);
    final long beforeAppends = cpuNs(side);
    final Answer appended = side.client.ask("append", topic, millis);
    final long beforeReads = cpuNs(side);
    final long count = appended.count("count");
    final Answer read = side.client.ask("read", topic, count);
    final long afterReads = cpuNs(side);
    side.client.ask("delete", topic);
    final String quiet = topic + "-paced";
    side.client.ask("create", quiet);
    final Answer paced = side.client.ask("paced", quiet, millis, RATE);
    side.client.ask("delete", quiet);
    return new Round(
        count * 1e9 / appended.count("ns"),
        (beforeReads - beforeAppends) / 1e3 / count,
        count * 1e9 / read.count("ns"),
        (afterReads - beforeReads) / 1e3 / count,
        paced.figure("p50_us"),
        paced.figure("p99_us"));
  }

  private static long cpuNs(Side side) {
    try {
      return ProcessUse.of(side.pid).cpuNs();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void print(Side side, List<Round> rounds) {
    line(side, rounds, "appends/s", 0, Round::appends);
    line(side, rounds, "reads/s", 0, Round::reads);
    line(side, rounds, "end to end p50, us", 0, Round::p50Us);
    line(side, rounds, "end to end p99, us", 0, Round::p99Us);
    line(side, rounds, "server us/append", 2, Round::appendCpuUs);
    line(side, rounds, "server us/read", 3, Round::readCpuUs);
    out.printf(
        Locale.ROOT,
        "RESULT broker=%s appends_s=%.0f reads_s=%.0f p50_us=%.0f p99_us=%.0f append_cpu_us=%.3f"
            + " read_cpu_us=%.3f%n",
        side.name,
        median(rounds, Round::appends),
        median(rounds, Round::reads),
        median(rounds, Round::p50Us),
        median(rounds, Round::p99Us),
        median(rounds, Round::appendCpuUs),
        median(rounds, Round::readCpuUs));
  }

  private void line(
      Side side, List<Round> rounds, String what, int digits, ToDoubleFunction<Round> figure) {
    out.printf("%-10s %-20s %s%n", side.name, what, Spread.of(rounds, figure).text(digits));
  }

  private static double median(List<Round> rounds, ToDoubleFunction<Round> figure) {
    return Spread.of(rounds, figure).median();
  }
}
