package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.verbs.VerbsRound;
import dev.ringfetch.examples.verbs.WorkRequests;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * The results of one peer's rounds.
 *
 * @param peer whose rounds they were.
 * @param p50 of the rounds, in microseconds.
 * @param p99 of the rounds, in microseconds.
 * @param p999 of the rounds, in microseconds.
 * @param perSecond calls in a second.
 * @param clientCores processor time of the client's process, as a part of the rounds' time.
 * @param serverCores of the server's.
 * @param calls of all rounds.
 * @param client posted in all rounds.
 * @param server posted in all rounds.
 * @param torn answers of all rounds that were READ before they were whole.
 */
record VerbsRow(
    VerbsPeer peer,
    Spread p50,
    Spread p99,
    Spread p999,
    Spread perSecond,
    Spread clientCores,
    Spread serverCores,
    long calls,
    WorkRequests client,
    WorkRequests server,
    long torn) {
  private static final int PAYLOAD = 32;

  /** Far above what memory alone takes where both sides run. */
  private static final double MEMORY_US = 100;

  /** Sums them up. */
  static VerbsRow of(VerbsPeer peer, List<Costed<VerbsRound>> rounds) {
    return new VerbsRow(
        peer,
        Spread.of(rounds, costed -> costed.value().figures().p50Us()),
        Spread.of(rounds, costed -> costed.value().figures().p99Us()),
        Spread.of(rounds, costed -> costed.value().figures().p999Us()),
        Spread.of(rounds, costed -> costed.value().figures().perSecond()),
        Spread.of(rounds, Costed::clientCores),
        Spread.of(rounds, Costed::serverCores),
        rounds.stream().mapToLong(costed -> costed.value().figures().calls()).sum(),
        posted(rounds, VerbsRound::client),
        posted(rounds, VerbsRound::server),
        rounds.stream().mapToLong(costed -> costed.value().torn()).sum());
  }

  private static WorkRequests posted(
      List<Costed<VerbsRound>> rounds, Function<VerbsRound, WorkRequests> side) {
    return rounds.stream()
        .map(Costed::value)
        .map(side)
        .reduce(WorkRequests.NONE, WorkRequests::plus);
  }

  /** The heads of {@link #line}. */
  static String head() {
    return String.format(
        "%-14s %-8s %-6s %-27s %-30s %9s  %-9s  %-28s %s",
        "peer",
        "mode",
        "over",
        "p50 us",
        "p99 us",
        "calls/s",
        "cores c/s",
        "client W/R/S +control !signaled",
        "server");
  }

  /** For people. */
  String line() {
    return String.format(
            Locale.ROOT,
            "%-14s %-8s %-6s %-27s %-30s %,9.0f  %.2f/%.2f  %-28s %s%s",
            peer.text(),
            peer.mode(),
            peer.link(),
            p50.text(2),
            p99.text(1),
            perSecond.median(),
            clientCores.median(),
            serverCores.median(),
            posts() ? client.perCall(calls) : "-",
            posts() ? server.perCall(calls) : "-",
            torn == 0 ? "" : "  (" + torn + " torn READs)")
        .stripTrailing();
  }

  /** For scripts. */
  String result() {
    final String figures =
        String.format(
            Locale.ROOT,
            "RESULT peer=%s mode=%s over=%s payload=%d inflight=1 p50_us=%.2f p99_us=%.2f"
                + " p999_us=%.2f calls_s=%.0f cpu_client=%.2f cpu_server=%.2f",
            peer.text(),
            peer.mode(),
            peer.link(),
            PAYLOAD,
            p50.median(),
            p99.median(),
            p999.median(),
            perSecond.median(),
            clientCores.median(),
            serverCores.median());
    return posts()
        ? figures + " " + client.fields("client", calls) + " " + server.fields("server", calls)
        : figures;
  }

  /**
   * Whether both sides cannot have run at the same time: memory alone took too long. Then all
   * latencies of the run are those of a scheduler.
   */
  boolean alternates() {
    return peer == VerbsPeer.raw && p50.median() > MEMORY_US;
  }

  /** Whether it works with work requests at all. */
  private boolean posts() {
    return !client.equals(WorkRequests.NONE) || !server.equals(WorkRequests.NONE);
  }
}
