package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.PeerRound.Use;
import dev.ringfetch.examples.load.Spread;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The results of one peer's rounds with one load: the median and the spread of each figure. */
record PeerRow(Peer peer, Load load, List<PeerRound> rounds) {
  private static final String UNKNOWN = "-";

  /** Rounds that are doubtful, because other processes had too much of the machine. */
  long marked() {
    return rounds.stream().filter(PeerRound::isMarked).count();
  }

  /** Whether both processes reported their allocation in each round. */
  boolean tellsAllocation() {
    return rounds.stream()
        .noneMatch(
            round ->
                Double.isNaN(round.client().bytesPerCall())
                    || Double.isNaN(round.server().bytesPerCall()));
  }

  private Spread spread(ToDoubleFunction<PeerRound> figure) {
    return Spread.of(rounds, figure);
  }

  /** The middle one of a figure of the rounds. */
  double median(ToDoubleFunction<PeerRound> figure) {
    return spread(figure).median();
  }

  /** The heads of {@link #line}. */
  static String head() {
    return String.format(
        "%-14s %-8s %-9s %7s %6s %6s %-28s %-30s %9s %-34s %9s %13s %s",
        "peer",
        "mode",
        "executors",
        "payload",
        "flight",
        "rate",
        "p50 us",
        "p99 us",
        "p99.9 us",
        "calls/s",
        "cores c/s",
        "bytes c/s",
        "marked");
  }

  /** For people; c/s: of the client and of the server, (1): of both, which are one process. */
  String line() {
    return String.format(
        Locale.ROOT,
        "%-14s %-8s %-9s %7d %6d %6s %-28s %-30s %,9.1f %-34s %9s %13s %d of %d",
        peer,
        load.mode(),
        load.mode().setup().executors(),
        load.payload(),
        load.inFlight(),
        load.hasRate() ? load.rate() : "-",
        spread(round -> round.figures().p50Us()).text(2),
        spread(round -> round.figures().p99Us()).text(1),
        median(round -> round.figures().p999Us()),
        spread(round -> round.figures().perSecond()).text(0),
        ofBoth("%.2f", Use::cores),
        tellsAllocation() ? ofBoth("%,.0f", Use::bytesPerCall) : UNKNOWN,
        marked(),
        rounds.size());
  }

  private String ofBoth(String format, ToDoubleFunction<Use> figure) {
    final String client =
        String.format(Locale.ROOT, format, median(round -> figure.applyAsDouble(round.client())));
    return client
        + (peer.isOneProcess()
            ? " (1)"
            : String.format(
                Locale.ROOT, "/" + format, median(round -> figure.applyAsDouble(round.server()))));
  }

  /** For scripts. */
  String result() {
    final String figures =
        String.format(
            Locale.ROOT,
            "RESULT peer=%s mode=%s payload=%d inflight=%d p50_us=%.3f p99_us=%.3f p999_us=%.3f"
                + " calls_s=%.0f cpu_client=%.2f cpu_server=%.2f",
            peer,
            load.mode(),
            load.payload(),
            load.inFlight(),
            median(round -> round.figures().p50Us()),
            median(round -> round.figures().p99Us()),
            median(round -> round.figures().p999Us()),
            median(round -> round.figures().perSecond()),
            median(round -> round.client().cores()),
            median(round -> round.server().cores()));
    final String allocation =
        tellsAllocation()
            ? String.format(
                Locale.ROOT,
                " alloc_client=%.0f alloc_server=%.0f",
                median(round -> round.client().bytesPerCall()),
                median(round -> round.server().bytesPerCall()))
            : "";
    final String row =
        figures
            + allocation
            + " executors="
            + load.mode().setup().executors()
            + " marked="
            + marked();
    return load.hasRate() ? row + " rate=" + load.rate() : row;
  }
}
