package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.ChildFailure;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures calls between two processes of one host by all that can carry them, side by side. */
@Command(
    name = "peers",
    mixinStandardHelpOptions = true,
    description = {
      "Measures calls between two processes of one host, all peers by turns: memory alone, Agrona's",
      "rings, Aeron IPC, gRPC over TCP, over a Unix socket and in one process, and the ring. Modes with",
      "stubs have direct executors on both sides, mode default has default ones. Mode ring is a session",
      "of the ring without stub and call layer, mode direct memory without even that.",
      "This is what bench does without a name."
    })
final class PeersBench implements Callable<Integer> {
  /** Equal for all, as there are many of them at once. */
  private static final List<String> FLAGS = List.of("-XX:+UseSerialGC", "-Xms256m", "-Xmx256m");

  private final PrintStream out = System.out;

  @Option(
      names = "--quick",
      description = "Less than two minutes: 32 bytes alone, shorter rounds, less warm-up.")
  private boolean quick;

  @Option(
      names = "--full",
      description = {
        "Each mode with each length and each number of calls in flight, 64 KiB and more with 1 and 16",
        "at once: an hour. Otherwise lengths are measured one call at a time, and depths with 32 bytes."
      })
  private boolean full;

  @Option(names = "--rounds", defaultValue = "5", description = "Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(names = "--millis", description = "Length of a round. Default: 2000, 1200 if quick.")
  private Integer millis;

  @Option(
      names = "--warm-up",
      description = {
        "Milliseconds before the first round of each peer in each mode, and a quarter of that for",
        "each further length or depth. Default: 20000, 6500 if quick; never more than 1500 in mode",
        "direct."
      })
  private Integer warmUp;

  @Option(
      names = "--peers",
      split = ",",
      description = {
        "Of ${COMPLETION-CANDIDATES}.",
        "Default: all; without agrona, grpc-inprocess and grpc-netty-uds if quick."
      })
  private List<Peer> peers;

  @Option(
      names = "--modes",
      split = ",",
      description = {
        "Of ${COMPLETION-CANDIDATES}. Default: all; blocking,async,direct if quick. default is a",
        "blocking stub one call at a time and an async stub beyond."
      })
  private List<Mode> modes;

  @Option(
      names = "--payloads",
      split = ",",
      description = "Of answers, in bytes. Default: 32,1024,65536,1048576; 32 if quick.")
  private List<Integer> payloads;

  @Option(
      names = "--in-flight",
      split = ",",
      description = "Calls at once, beside one. Default: 16,64,256; 64 if quick.")
  private List<Integer> depths;

  @Option(
      names = "--rates",
      split = ",",
      description = {
        "Calls of 32 bytes in a second, by a thread that makes each when it is due and blocks in it:",
        "latencies are from then on. 0: none. Default: 1000,10000; 0 if quick."
      })
  private List<Integer> rates;

  private final Lineup<Entrant, PeerContender> lineup =
      new Lineup<>("bench peers", PeerContender::close);

  @Override
  public Integer call() throws IOException {
    final Timing timing = new Timing(rounds, or(millis, 2000, 1200), or(warmUp, 20_000, 6_500));
    final List<Entry> entries = entries();
    out.println(timing.describe(entries));
    Machine.print(out);
    out.printf(
        "rounds by turns; median [least .. most] of them; stubs: Index.Get; JVMs: %s%n",
        String.join(" ", FLAGS));
    try {
      final boolean complete = prepare(entries, timing);
      print(measure(entries, timing.millis()));
      return complete ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    } catch (ChildFailure e) {
      lineup.tell(e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    } finally {
      lineup.close();
    }
  }

  /** What is asked for. */
  private List<Entry> entries() {
    final List<Entry> entries = new ArrayList<>();
    for (final Peer peer :
        or(
            peers,
            List.of(Peer.values()),
            List.of(Peer.raw, Peer.aeron, Peer.grpc, Peer.ringfetch))) {
      for (final Mode mode :
          or(modes, List.of(Mode.values()), List.of(Mode.direct, Mode.blocking, Mode.async))) {
        if (peer.takes(mode)) {
          Load.of(
                  mode,
                  or(payloads, List.of(32, 1024, 65536, 1048576), List.of(32)),
                  or(depths, List.of(16, 64, 256), List.of(64)),
                  full)
              .forEach(load -> entries.add(new Entry(peer, load)));
        }
        if (mode == Mode.blocking && peer.takes(mode)) {
          or(rates, List.of(1_000, 10_000), List.of(0)).stream()
              .filter(rate -> rate > 0)
              .forEach(rate -> entries.add(new Entry(peer, Load.atRate(rate))));
        }
      }
    }
    return entries;
  }

  /** Starts all and warms them up; takes those out that cannot take part, and says if there are. */
  private boolean prepare(List<Entry> entries, Timing timing) throws IOException {
    final Map<Entry, Integer> warmUps = timing.warmUps(entries);
    final Set<Entrant> entrants =
        entries.stream().map(Entry::entrant).collect(Collectors.toCollection(LinkedHashSet::new));
    boolean complete = true;
    for (final Entrant entrant : entrants) {
      if (!lineup.add(
          entrant,
          entrant.toString(),
          () -> entrant.start(FLAGS),
          contender -> warmUp(entrant, contender, warmUps))) {
        complete = false;
        entries.removeIf(entry -> entry.entrant().equals(entrant));
      }
    }
    return complete;
  }

  private void warmUp(Entrant entrant, PeerContender contender, Map<Entry, Integer> warmUps) {
    warmUps.forEach(
        (entry, millis) -> {
          if (entry.entrant().equals(entrant)) {
            lineup.tell("warming up " + entry);
            final var unused = contender.run(entry.load(), millis);
          }
        });
  }

  private List<PeerRow> measure(List<Entry> entries, int roundMillis) {
    final List<PeerRow> rows = new ArrayList<>();
    Turns.take(entries, rounds, (entry, round) -> measure(entry, round, roundMillis))
        .forEach((entry, measured) -> rows.add(new PeerRow(entry.peer(), entry.load(), measured)));
    return rows;
  }

  private PeerRound measure(Entry entry, int round, int roundMillis) {
    System.err.printf("bench peers: round %d of %d: %s%n", round + 1, rounds, entry);
    try {
      final PeerRound measured =
          PeerRound.measure(lineup.get(entry.entrant()), entry.load(), roundMillis);
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
        "%nc/s: of client and server; (1): client and server are one process%n"
            + "marked, as others had more than a tenth of the machine: %d of %d rounds%n",
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
