package dev.ringfetch.examples.chain;

import dev.ringfetch.examples.chain.Processes.Round;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Side;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * The results of one side's rounds at one load.
 *
 * @param percent of the most calls that the chain over gRPC makes.
 * @param rate calls that were due in a second.
 */
record Row(Side side, int percent, int rate, List<Round> rounds) {
  private static final double US_PER_MS = 1000;

  /** Names of the columns, in two lines. */
  static String head() {
    final StringBuilder parts = new StringBuilder();
    for (final Part part : Part.values()) {
      parts.append(String.format("%10s", part));
    }
    return String.format(
        "%-5s %5s %8s %8s %10s %10s |%s%10s%10s",
        "", "load", "due/s", "calls/s", "p50 us", "p99 us", parts, "all", "us a call");
  }

  /** A figure's median over the rounds. */
  double median(ToDoubleFunction<Round> figure) {
    return Figures.median(rounds.stream().mapToDouble(figure).toArray());
  }

  double p50() {
    return median(round -> round.figures().p50Us());
  }

  double p99() {
    return median(round -> round.figures().p99Us());
  }

  double used(Part part) {
    return median(round -> round.used().get(part));
  }

  double used() {
    return median(Round::sum);
  }

  /** Processor time of all processes for one call, in microseconds. */
  private double usedForCall() {
    return median(round -> round.sum() * US_PER_MS / round.figures().perSecond());
  }

  /** For people. */
  String line() {
    final StringBuilder parts = new StringBuilder();
    for (final Part part : Part.values()) {
      parts.append(number(used(part), 1));
    }
    return String.format(
        Locale.ROOT,
        "%-5s %4d%% %,8d %,8.0f %s %s |%s%s%s",
        side,
        percent,
        rate,
        median(round -> round.figures().perSecond()),
        rate == 0 ? number("-") : number(p50(), 0),
        rate == 0 ? number("-") : number(p99(), 0),
        parts,
        number(used(), 1),
        rate == 0 ? number("-") : number(usedForCall(), 0));
  }

  private static String number(double figure, int digits) {
    return number(String.format(Locale.ROOT, "%,." + digits + "f", figure));
  }

  private static String number(String text) {
    return String.format("%10s", text);
  }

  /** For scripts. */
  String result() {
    final StringBuilder parts = new StringBuilder();
    for (final Part part : Part.values()) {
      parts.append(String.format(Locale.ROOT, " cpu_%s_ms=%.2f", part, used(part)));
    }
    return String.format(
        Locale.ROOT,
        "RESULT chain=%s percent=%d rate=%d calls_s=%.0f p50_us=%.1f p99_us=%.1f%s",
        side,
        percent,
        rate,
        median(round -> round.figures().perSecond()),
        rate == 0 ? 0 : p50(),
        rate == 0 ? 0 : p99(),
        parts);
  }
}
