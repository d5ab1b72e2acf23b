package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.ChildFailure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** One run of {@link PeersBench}: the processes, their rounds, and the results. */
final class PeerRun implements AutoCloseable {
  private static final String BENCHMARK = "bench peers";

  private final Timing timing;
  private final List<String> flags;
  private final Pinning pinning;
  private final RoundLogs logs;
  private final Map<Entry, List<PeerRound>> logged = new LinkedHashMap<>();
  private final Map<Entry, Integer> warmUps;
  private final Progress progress;
  private final Lineup<Entrant, PeerContender> lineup;

  /**
   * Creates it; nothing runs yet.
   *
   * @param entries the requested rows.
   * @param flags of the JVMs.
   * @param pinning of the processes, once they are warm.
   * @param logs with the rounds of an earlier run; the new rounds are added.
   */
  PeerRun(List<Entry> entries, Timing timing, List<String> flags, Pinning pinning, RoundLogs logs)
      throws IOException {
    this.timing = timing;
    this.flags = flags;
    this.pinning = pinning;
    this.logs = logs;
    readLogs(entries);
    this.warmUps =
        timing.warmUps(entries.stream().filter(this::isUnfinished).collect(Collectors.toList()));
    this.progress = Progress.ofProcess(BENCHMARK, timing.millis(warmUps, this::missing));
    this.lineup = new Lineup<>(progress::tell, PeerContender::close);
  }

  private void readLogs(List<Entry> entries) throws IOException {
    for (final Entry entry : entries) {
      logged.put(entry, logs.rounds(entry));
    }
  }

  private int missing(Entry entry) {
    return Math.max(0, timing.rounds() - logged.get(entry).size());
  }

  private boolean isUnfinished(Entry entry) {
    return missing(entry) > 0;
  }

  /** One line for people: the rounds to measure, and their duration. */
  String describe() {
    return timing.describe(logged.size(), warmUps, this::missing);
  }

  /**
   * Measures all peers that can take part.
   *
   * @return false, after a message, if a peer cannot take part.
   */
  boolean measure() throws IOException {
    try {
      final boolean complete = prepare();
      final List<Entry> entries = List.copyOf(logged.keySet());
      Turns.take(entries, timing.rounds(), this::round).forEach(logged::put);
      return complete;
    } catch (ChildFailure e) {
      progress.tell(e.getMessage());
      readLogs(List.copyOf(logged.keySet())); // what was done before it
      return false;
    } finally {
      progress.clear();
    }
  }

  /** The rows that have rounds. */
  List<PeerRow> rows() {
    final List<PeerRow> rows = new ArrayList<>();
    logged.forEach(
        (entry, rounds) -> {
          if (!rounds.isEmpty()) {
            rows.add(new PeerRow(entry.peer(), entry.load(), rounds));
          }
        });
    return rows;
  }

  /** Starts and warms up all peers that are needed; removes those that cannot take part. */
  private boolean prepare() throws IOException {
    final Set<Entrant> entrants =
        warmUps.keySet().stream()
            .map(Entry::entrant)
            .collect(Collectors.toCollection(LinkedHashSet::new));
    boolean complete = true;
    for (final Entrant entrant : entrants) {
      if (lineup.add(
          entrant,
          entrant.toString(),
          () -> entrant.start(flags),
          contender -> warmUp(entrant, contender))) {
        if (!pinning.pin(lineup.get(entrant))) {
          progress.tell("taskset does not pin " + entrant);
        }
      } else {
        complete = false;
        logged.keySet().removeIf(entry -> entry.entrant().equals(entrant) && isUnfinished(entry));
      }
    }
    return complete;
  }

  private void warmUp(Entrant entrant, PeerContender contender) {
    warmUps.forEach(
        (entry, millis) -> {
          if (entry.entrant().equals(entrant)) {
            progress.begin("warming up " + entry);
            final var unused = contender.run(entry.load(), millis);
            progress.done(millis);
          }
        });
  }

  private PeerRound round(Entry entry, int round) {
    final List<PeerRound> before = logged.get(entry);
    return round < before.size() ? before.get(round) : measure(entry, round);
  }

  private PeerRound measure(Entry entry, int round) {
    progress.begin(String.format("round %d of %d: %s", round + 1, timing.rounds(), entry));
    try {
      final PeerContender contender = lineup.get(entry.entrant());
      final long startMillis = System.currentTimeMillis();
      final PeerRound measured = PeerRound.measure(contender, entry.load(), timing.millis());
      final Histogram latencies = contender.latencies();
      latencies.setStartTimeStamp(startMillis);
      latencies.setEndTimeStamp(System.currentTimeMillis());
      logs.add(entry, measured, latencies);
      if (measured.isMarked()) {
        progress.tell(
            String.format(
                "marked: others had %.0f %% of the machine, of which peers at rest %.2f cores: %s",
                100 * measured.foreign(), measured.restingCores(), entry));
      }
      progress.done(timing.millis());
      return measured;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    lineup.close();
  }
}
