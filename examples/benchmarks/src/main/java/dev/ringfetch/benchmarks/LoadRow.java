package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Spread;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * The results of one peer's rounds at one rate.
 *
 * @param percent of the most calls that one thread of the peer makes.
 * @param rate calls that were due in a second.
 */
record LoadRow(Contender contender, int percent, int rate, List<Costed<Figures>> rounds) {
  /** Names of the columns. */
  static String head() {
    return String.format(
        "%-4s %5s %9s %9s  %-24s %-28s  %-20s  %s",
        "", "load", "due/s", "calls/s", "p50 us", "p99 us", "cores, client", "cores, server");
  }

  private Spread spread(ToDoubleFunction<Costed<Figures>> figure) {
    return Spread.of(rounds, figure);
  }

  /** For people. */
  String line() {
    return String.format(
        Locale.ROOT,
        "%-4s %4d%% %,9d %,9.0f  %-24s %-28s  %-20s  %s",
        contender,
        percent,
        rate,
        spread(round -> round.value().perSecond()).median(),
        rate == 0 ? "-" : spread(round -> round.value().p50Us()).text(1),
        rate == 0 ? "-" : spread(round -> round.value().p99Us()).text(1),
        spread(Costed::clientCores).text(3),
        spread(Costed::serverCores).text(3));
  }

  /** As {@link PeersBench} calls it. */
  private String peer() {
    return switch (contender) {
      case ring -> Peer.ringfetch.toString();
      case grpc -> Peer.grpc.toString();
      case none -> contender.toString();
    };
  }

  /** For scripts. */
  String result() {
    return String.format(
        Locale.ROOT,
        "RESULT peer=%s mode=blocking payload=%d inflight=1 percent=%d rate=%d p50_us=%.3f"
            + " p99_us=%.3f p999_us=%.3f calls_s=%.0f cpu_client=%.4f cpu_server=%.4f",
        peer(),
        StubCalls.SMALL,
        percent,
        rate,
        spread(round -> round.value().p50Us()).median(),
        spread(round -> round.value().p99Us()).median(),
        spread(round -> round.value().p999Us()).median(),
        spread(round -> round.value().perSecond()).median(),
        spread(Costed::clientCores).median(),
        spread(Costed::serverCores).median());
  }
}
