package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Spread;
import java.util.List;
import java.util.Locale;

/**
 * The rounds of both peers with one load in one place, and the ratios of the ring to gRPC in the
 * same round.
 *
 * @param ringShare the share of the ring's calls that went over the ring, from 0 to 1.
 */
record BusyCell(
    Place place,
    Load load,
    List<Figures> ring,
    List<Figures> grpc,
    double ringShare,
    double others) {
  private static final double MAX_P50 = 0.7;
  private static final double MAX_P99 = 1.1;
  private static final double MIN_RATE = 1.0;
  private static final double MIN_SHARE = 0.9;

  /** Names of the columns. */
  static String head() {
    return String.format(
        "%-9s %-8s %6s  %-21s %-23s %-21s  %5s %5s %5s  %5s %6s",
        "place",
        "mode",
        "bytes",
        "p50 us, ring: grpc",
        "p99 us",
        "calls/s",
        "p50",
        "p99",
        "rate",
        "rings",
        "others");
  }

  private double p50() {
    return Spread.ofRatios(ring, grpc, Figures::p50Us).median();
  }

  private double p99() {
    return Spread.ofRatios(ring, grpc, Figures::p99Us).median();
  }

  private double rate() {
    return Spread.ofRatios(ring, grpc, Figures::perSecond).median();
  }

  /** Whether the ring is as good a guest as it promises. */
  boolean isReached() {
    return p50() <= MAX_P50 && p99() <= MAX_P99 && rate() >= MIN_RATE && ringShare >= MIN_SHARE;
  }

  private String mode() {
    if (load.mode() == Mode.future) {
      return "future";
    }
    return load.inFlight() == 1 ? "blocking" : "async";
  }

  /** For people. */
  String line() {
    final Figures of = Figures.median(ring);
    final Figures to = Figures.median(grpc);
    return String.format(
        Locale.ROOT,
        "%-9s %-8s %6d  %9.1f: %-10.1f %10.1f: %-11.1f %,10.0f: %-9.0f  %5.2f %5.2f %5.2f  %4.0f%%"
            + " %5.0f%%%s",
        place,
        mode(),
        load.payload(),
        of.p50Us(),
        to.p50Us(),
        of.p99Us(),
        to.p99Us(),
        of.perSecond(),
        to.perSecond(),
        p50(),
        p99(),
        rate(),
        100 * ringShare,
        100 * others,
        isReached() ? "" : "  NOT REACHED");
  }

  /** For scripts. */
  String result() {
    return String.format(
        Locale.ROOT,
        "RESULT place=%s neighbours=%d mode=%s payload=%d inflight=%d p50_ratio=%.3f p99_ratio=%.3f"
            + " rate_ratio=%.3f ring_share=%.3f p50_us=%.3f p99_us=%.3f calls_s=%.0f others=%.2f"
            + " reached=%b",
        place,
        place.neighbours(),
        mode(),
        load.payload(),
        load.inFlight(),
        p50(),
        p99(),
        rate(),
        ringShare,
        Figures.median(ring).p50Us(),
        Figures.median(ring).p99Us(),
        Figures.median(ring).perSecond(),
        others,
        isReached());
  }

  /** The bars, for people. */
  static String bars() {
    return String.format(
        Locale.ROOT,
        "bars: p50 at most %.1f of gRPC's, p99 at most %.1f, rate at least %.1f, calls on rings at"
            + " least %.0f %%",
        MAX_P50,
        MAX_P99,
        MIN_RATE,
        100 * MIN_SHARE);
  }
}
