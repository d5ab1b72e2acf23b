package dev.ringfetch.examples.quickstart;

import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.examples.verbs.VerbsRound;
import dev.ringfetch.examples.verbs.WorkRequests;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The client processes of one server, one for each transport that can be used. */
final class Clients implements AutoCloseable {
  private final IndexServerProcess server;
  private final boolean direct;
  private final Rings rings;
  private final int entries;
  private final Map<Side, ChildProcess> processes = new EnumMap<>(Side.class);
  private String obstacle;

  Clients(IndexServerProcess server, boolean direct, Rings rings, int entries) {
    this.server = server;
    this.direct = direct;
    this.rings = rings;
    this.entries = entries;
  }

  /** Starts one for each transport and makes its first call; the attempt to get a ring may fail. */
  void connect() throws IOException {
    for (final Side side : Side.values()) {
      final ChildProcess process = start(side);
      try {
        process.ask("connect");
        processes.put(side, process);
      } catch (ChildFailure e) {
        process.close();
        if (side != Side.ring) {
          throw e;
        }
        obstacle = e.getMessage();
      }
    }
  }

  private ChildProcess start(Side side) throws IOException {
    final List<String> arguments =
        new ArrayList<>(Connection.arguments(server.target(), side, direct, rings));
    arguments.addAll(List.of("--entries", Integer.toString(entries)));
    return ChildProcess.start(List.of(), QuickstartClient.class, arguments);
  }

  /** Why there is no ring, or null. */
  String obstacle() {
    return obstacle;
  }

  /** The transports that can be used. */
  List<Side> sides() {
    return List.copyOf(processes.keySet());
  }

  /** The client to demonstrate with: the ring's where there is one. */
  Side best() {
    return sides().get(0);
  }

  /** Makes a client run a command. */
  Answer ask(Side side, String command, Object... arguments) {
    return processes.get(side).ask(command, arguments);
  }

  /** Writes all entries, by a process of its own. */
  Answer load() throws IOException {
    try (ChildProcess loader = start(best())) {
      loader.ask("connect");
      return loader.ask("load");
    }
  }

  /** Reads all entries back, over every transport, the transports by turns. */
  Map<Side, Comparison> compare(int parts) {
    final Map<Side, Comparison> compared = new EnumMap<>(Side.class);
    Turns.take(sides(), parts, (side, part) -> Comparison.of(ask(side, "compare", part, parts)))
        .forEach(
            (side, ofParts) ->
                compared.put(side, ofParts.stream().reduce(Comparison.NONE, Comparison::plus)));
    return compared;
  }

  /**
   * Measures look-ups, all by turns.
   *
   * @param floor to measure as well, or null.
   */
  Map<Entrant, Row> measure(Schedule schedule, Floor floor) {
    final Set<Entrant> entrants = EnumSet.of(Entrant.grpc);
    for (final Side side : sides()) {
      ask(side, "measure", schedule.warmUp(), schedule.millis());
      entrants.add(side == Side.ring ? Entrant.ring : Entrant.grpc);
    }
    if (floor != null) {
      entrants.add(Entrant.floor);
    }
    final Map<Entrant, Row> rows = new EnumMap<>(Entrant.class);
    Turns.take(
            entrants,
            schedule.rounds(),
            (entrant, round) ->
                switch (entrant) {
                  case ring -> ringRound(schedule);
                  case grpc -> VerbsRound.without(Figures.parse(measure(Side.grpc, schedule)));
                  case floor -> floor.round();
                })
        .forEach((entrant, measured) -> rows.put(entrant, Row.of(measured)));
    return rows;
  }

  private VerbsRound ringRound(Schedule schedule) {
    final WorkRequests before = server.posted();
    final Answer measured = measure(Side.ring, schedule);
    return new VerbsRound(
        Figures.parse(measured), WorkRequests.parse(measured), server.posted().since(before), 0);
  }

  private Answer measure(Side side, Schedule schedule) {
    return ask(side, "measure", schedule.calls(), schedule.millis());
  }

  /** True if there was a ring and it carried every call of the ring's client. */
  boolean ringServed() {
    if (!processes.containsKey(Side.ring)) {
      return false;
    }
    final Answer ring = ask(Side.ring, "describe");
    return Boolean.parseBoolean(ring.text("ring"))
        && ring.count("ringCalls") > 0
        && ring.count("grpcCalls") == 0;
  }

  @Override
  public void close() {
    processes.values().forEach(ChildProcess::close);
  }

  /**
   * The result of reading back.
   *
   * @param entries how many were read.
   * @param mismatches how many of them were not there or not as written.
   */
  record Comparison(long entries, long mismatches) {
    static final Comparison NONE = new Comparison(0, 0);

    static Comparison of(Answer answer) {
      return new Comparison(answer.count("compared"), answer.count("mismatches"));
    }

    Comparison plus(Comparison other) {
      return new Comparison(entries + other.entries, mismatches + other.mismatches);
    }
  }
}
