package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A benchmark of the bytes that a call allocates, on both sides. */
@Command(
    name = "allocation",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = "Counts the bytes that a call allocates, on both sides; 32 bytes of value.")
final class AllocationBench implements Callable<Integer> {
  /** More samples: a thread is asked when it takes a new piece of the heap. */
  private static final List<String> SMALL_PIECES = List.of("-XX:-ResizeTLAB", "-XX:TLABSize=32k");

  private final PrintStream out = System.out;

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withRounds(5)
          .withWarmUp("Calls before the first round. Default: %s.", 50_000);

  @Option(
      names = "--calls",
      defaultValue = "20000",
      description = "Calls in a round. Default: ${DEFAULT-VALUE}.")
  private int calls;

  @Option(names = "--objects", description = "Also list what is allocated, and where.")
  private boolean objects;

  /** Bytes that a call allocates in the client's process, and in the server's. */
  private record Bytes(double client, double server) {}

  @Override
  public Integer call() throws IOException {
    Machine.print(out);
    out.printf(
        "bytes per call, direct executors; %d rounds of %,d calls; median [least .. most]%n%n",
        options.rounds(), calls);
    try (Pair pair =
        Pair.start(true, List.of(Contender.values()), objects ? SMALL_PIECES : List.of())) {
      for (final Contender contender : pair.contenders()) {
        pair.ask(contender, "calls", options.warmUp());
      }
      print(
          Turns.take(
              pair.contenders(), options.rounds(), (contender, round) -> measure(pair, contender)));
      if (objects) {
        for (final Contender contender : Contender.values()) {
          list(pair, contender);
        }
      }
    }
    return CommandLine.ExitCode.OK;
  }

  private Bytes measure(Pair pair, Contender contender) {
    final long client = pair.ask(contender, "allocated").count("bytes");
    final long server = serverBytes(pair, contender);
    pair.ask(contender, "calls", calls);
    final double serverPerCall = (double) (serverBytes(pair, contender) - server) / calls;
    final double clientPerCall =
        (double) (pair.ask(contender, "allocated").count("bytes") - client) / calls;
    return contender == Contender.none
        ? new Bytes(clientPerCall - serverPerCall, serverPerCall)
        : new Bytes(clientPerCall, serverPerCall);
  }

  private static long serverBytes(Pair pair, Contender contender) {
    return contender == Contender.none
        ? pair.ask(contender, "describe").count("serverBytes")
        : pair.askServer("allocated").count("bytes");
  }

  private void print(Map<Contender, List<Bytes>> measured) {
    final Spread client = Spread.of(measured.get(Contender.none), Bytes::client);
    final Spread server = Spread.of(measured.get(Contender.none), Bytes::server);
    out.printf(
        "%-9s %-28s %-28s %14s %14s%n",
        "transport", "client", "server", "client adds", "server adds");
    measured.forEach(
        (contender, bytes) -> {
          final Spread atClient = Spread.of(bytes, Bytes::client);
          final Spread atServer = Spread.of(bytes, Bytes::server);
          out.printf(
              Locale.ROOT,
              "%-9s %-28s %-28s %,14.0f %,14.0f%n",
              contender,
              atClient.text(0),
              atServer.text(0),
              atClient.median() - client.median(),
              atServer.median() - server.median());
        });
  }

  private void list(Pair pair, Contender contender) {
    pair.ask(contender, "sample-begin");
    pair.askServer("sample-begin");
    final int sampled = 10 * calls;
    pair.ask(contender, "calls", sampled);
    final Answer client = pair.ask(contender, "sample-end");
    final Answer server = pair.askServer("sample-end");
    list(contender + ", client's process", client, sampled);
    if (contender != Contender.none) {
      list(contender + ", server's process", server, sampled);
    }
  }

  private void list(String title, Answer samples, int sampled) {
    out.printf("%n%s: bytes per call (sampled: only large ones are near the truth)%n", title);
    samples.fields().keySet().stream()
        .filter(name -> samples.count(name) >= sampled)
        .sorted((one, other) -> Long.compare(samples.count(other), samples.count(one)))
        .forEach(
            name ->
                out.printf(
                    Locale.ROOT, "%8.0f  %s%n", (double) samples.count(name) / sampled, name));
  }
}
