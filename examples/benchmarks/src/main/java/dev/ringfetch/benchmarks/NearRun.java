package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.near.NearClient;
import dev.ringfetch.benchmarks.near.NearRead;
import dev.ringfetch.benchmarks.stores.IndexProcess;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A run of reads near memory: a server, a client, and rows of reads that take turns. */
final class NearRun implements AutoCloseable {
  private static final List<String> FLAGS = List.of("-XX:+UseSerialGC", "-Xms512m", "-Xmx512m");
  private static final long BYTES_PER_ENTRY = 1_000; // of two indexes, twice what is expected
  private static final long MIN_BYTES = 256L << 20;

  private final RunOptions options;
  private final PrintStream out;
  private final ChildProcess server;
  private final ChildProcess client;
  private final List<String> results = new ArrayList<>();
  private long wrong;

  NearRun(int entries, Rings rings, RunOptions options, PrintStream out) throws IOException {
    this.options = options;
    this.out = out;
    out.printf(
        "%,d entries; %d rounds of %d ms by turns, median [least .. most] of them%n%n",
        entries, options.rounds(), options.millis());
    final List<String> arguments = new ArrayList<>(rings.serverArguments());
    arguments.addAll(List.of("--memory", Long.toString(MIN_BYTES + entries * BYTES_PER_ENTRY)));
    server = ChildProcess.start(FLAGS, IndexProcess.class, arguments);
    client = NearClient.start(entries, StoreServers.target(server), rings, FLAGS);
    final Answer unused = client.ask("load");
  }

  /** Measures a row of reads, and each beside the first. */
  void measure(String row, List<NearRead> reads, int hops) {
    reads.forEach(read -> client.ask("run", read, hops, options.warmUp()));
    final Map<NearRead, List<Answer>> taken =
        Turns.take(
            reads,
            options.rounds(),
            (read, round) -> client.ask("run", read, hops, options.millis()));
    out.println(row);
    taken.forEach(
        (read, rounds) -> {
          final Spread p50 = Spread.of(rounds, round -> round.figure("p50"));
          final double rate = Spread.of(rounds, round -> round.figure("perSecond")).median();
          final Spread ratio =
              Spread.ofRatios(rounds, taken.get(reads.get(0)), round -> round.figure("p50"));
          out.printf(
              "  %-14s p50 us %-32s by %s %s%n", read, p50.text(1), reads.get(0), ratio.text(2));
          results.add(
              String.format(
                  Locale.ROOT,
                  "RESULT row=%s read=%s p50_us=%.2f per_s=%.0f by_%s=%.3f",
                  row,
                  read,
                  p50.median(),
                  rate,
                  reads.get(0),
                  ratio.median()));
          wrong += rounds.stream().mapToLong(round -> round.count("wrong")).sum();
        });
  }

  /** Prints the lines for scripts; returns the number of wrong answers. */
  long report() {
    out.println();
    results.forEach(out::println);
    out.println("wrong answers: " + wrong);
    return wrong;
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
