package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.ChildFailure;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures calls between two processes of one host by all that can carry them, side by side. */
@Command(
    name = "peers",
    mixinStandardHelpOptions = true,
    description = {
      "Measures calls between two processes of one host, all peers by turns: memory alone, Agrona's",
      "rings, Aeron IPC, gRPC over TCP and the ring. The peers with stubs have direct executors on both sides.",
      "This is what bench does without a name."
    })
final class PeersBench implements Callable<Integer> {
  /** Equal for all, as there are many of them at once. */
  private static final List<String> FLAGS = List.of("-XX:+UseSerialGC", "-Xms256m", "-Xmx256m");

  /** Enough for what has no stub: little code, and millions of calls a second. */
  private static final int SHORT_WARM_UP_MILLIS = 1500;

  private final PrintStream out = System.out;

  @Option(
      names = "--quick",
      description = "Less than two minutes: 32 bytes alone, shorter rounds, less warm-up.")
  private boolean quick;

  @Option(names = "--rounds", defaultValue = "5", description = "Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(names = "--millis", description = "Length of a round. Default: 2000, 1200 if quick.")
  private Integer millis;

  @Option(
      names = "--warm-up",
      description = {
        "Milliseconds before the first round of each peer with each load. Default: 20000, 6500 if",
        "quick; never more than 1500 for peers without stubs."
      })
  private Integer warmUp;

  @Option(
      names = "--peers",
      split = ",",
      description = "Of ${COMPLETION-CANDIDATES}. Default: all; without agrona if quick.")
  private List<Peer> peers;

  @Option(
      names = "--payloads",
      split = ",",
      description = "Of calls one at a time, in bytes. Default: 32,1024,65536; 32 if quick.")
  private List<Integer> payloads;

  @Option(
      names = "--in-flight",
      split = ",",
      description = "Calls of 32 bytes at once, by async stub. Default: 16,64,256; 64 if quick.")
  private List<Integer> depths;

  private final Lineup<Peer, PeerContender> lineup =
      new Lineup<>("bench peers", Peer.class, PeerContender::close);

  /** A row that is to be measured. */
  private record Entry(Peer peer, Load load) {
    @Override
    public String toString() {
      return String.format(
          "%s %s, %d bytes, %d in flight",
          peer.text(), load.mode(), load.payload(), load.inFlight());
    }
  }

  @Override
  public Integer call() throws IOException {
    final int roundMillis = or(millis, 2000, 1200);
    Machine.print(out);
    out.printf(
        "%d rounds of %d ms, by turns; median [least .. most] of them; stubs: Index.Get, direct"
            + " executors; JVMs: %s%n",
        rounds, roundMillis, String.join(" ", FLAGS));
    final List<Peer> taking =
        or(peers, List.of(Peer.values()), List.of(Peer.raw, Peer.aeron, Peer.grpc, Peer.ringfetch));
    try {
      final List<Entry> entries = new ArrayList<>();
      for (final Peer peer : taking) {
        for (final Load load :
            peer.loads(
                or(payloads, List.of(32, 1024, 65536), List.of(32)),
                or(depths, List.of(16, 64, 256), List.of(64)))) {
          entries.add(new Entry(peer, load));
        }
      }
      final boolean complete = prepare(taking, entries, or(warmUp, 20_000, 6_500));
      print(measure(entries, roundMillis));
      return complete ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    } catch (ChildFailure e) {
      lineup.tell(e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    } finally {
      lineup.close();
    }
  }

  /** Starts all and warms them up; takes those out that cannot take part, and says if there are. */
  private boolean prepare(List<Peer> taking, List<Entry> entries, int warmUpMillis)
      throws IOException {
    boolean complete = true;
    for (final Peer peer : taking) {
      final int millis =
          peer.hasStubs() ? warmUpMillis : Math.min(warmUpMillis, SHORT_WARM_UP_MILLIS);
      if (!lineup.add(
          peer,
          peer.text(),
          () -> peer.start(FLAGS),
          contender -> warmUp(peer, contender, entries, millis))) {
        complete = false;
        entries.removeIf(entry -> entry.peer == peer);
      }
    }
    return complete;
  }

  private void warmUp(Peer peer, PeerContender contender, List<Entry> entries, int millis) {
    for (final Entry entry : entries) {
      if (entry.peer == peer) {
        lineup.tell("warming up " + entry);
        final var unused = contender.run(entry.load, millis);
      }
    }
  }

  private List<PeerRow> measure(List<Entry> entries, int roundMillis) {
    final List<PeerRow> rows = new ArrayList<>();
    Turns.take(entries, rounds, (entry, round) -> measure(entry, round, roundMillis))
        .forEach((entry, measured) -> rows.add(new PeerRow(entry.peer, entry.load, measured)));
    return rows;
  }

  private PeerRound measure(Entry entry, int round, int roundMillis) {
    System.err.printf("bench peers: round %d of %d: %s%n", round + 1, rounds, entry);
    try {
      final PeerRound measured = PeerRound.measure(lineup.get(entry.peer), entry.load, roundMillis);
      if (measured.isMarked()) {
        System.err.printf(
            "bench peers: marked: others had %.0f %% of the machine%n", 100 * measured.foreign());
      }
      return measured;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void print(List<PeerRow> rows) {
    out.printf("%n%s%n", PeerRow.head());
    rows.forEach(row -> out.println(row.line()));
    out.printf(
        "%nmarked, as others had more than a tenth of the machine: %d of %d rounds%n",
        rows.stream().mapToLong(PeerRow::marked).sum(),
        rows.stream().mapToLong(row -> row.rounds().size()).sum());
    if (!rows.stream().allMatch(PeerRow::tellsAllocation)) {
      out.println("where bytes are missing, the JVM does not count what threads allocate");
    }
    out.println();
    rows.forEach(row -> out.println(row.result()));
  }

  private <T> T or(T given, T usual, T ifQuick) {
    if (given != null) {
      return given;
    }
    return quick ? ifQuick : usual;
  }
}
