package dev.ringfetch.examples.load;

import dev.ringfetch.examples.process.Answer;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * The result of a round of calls.
 *
 * @param calls how many.
 * @param p50Us half of them took at most that long, in microseconds.
 * @param p99Us 99 of 100 took at most that long, in microseconds.
 * @param p999Us 999 of 1000 took at most that long, in microseconds.
 * @param perSecond calls in a second.
 */
public record Figures(long calls, double p50Us, double p99Us, double p999Us, double perSecond) {
  private static final double NS_PER_US = 1_000;
  private static final double NS_PER_S = 1_000_000_000;

  /**
   * Figures of a histogram.
   *
   * @param latencies in nanoseconds.
   * @param elapsedNs from the begin of the first call to the end of the last.
   */
  public static Figures of(Histogram latencies, long elapsedNs) {
    return new Figures(
        latencies.getTotalCount(),
        latencies.getValueAtPercentile(50) / NS_PER_US,
        latencies.getValueAtPercentile(99) / NS_PER_US,
        latencies.getValueAtPercentile(99.9) / NS_PER_US,
        latencies.getTotalCount() * NS_PER_S / elapsedNs);
  }

  /** Reads what {@link #answer} made. */
  public static Figures parse(Answer answer) {
    return new Figures(
        answer.count("calls"),
        answer.figure("p50"),
        answer.figure("p99"),
        answer.figure("p999"),
        answer.figure("perSecond"));
  }

  /** As a child process says it. */
  public Answer answer() {
    return new Answer()
        .with("calls", calls)
        .with("p50", p50Us)
        .with("p99", p99Us)
        .with("p999", p999Us)
        .with("perSecond", perSecond);
  }

  /** Of each figure the median over some rounds; calls are added up. */
  public static Figures median(List<Figures> rounds) {
    return new Figures(
        rounds.stream().mapToLong(Figures::calls).sum(),
        median(rounds, Figures::p50Us),
        median(rounds, Figures::p99Us),
        median(rounds, Figures::p999Us),
        median(rounds, Figures::perSecond));
  }

  private static double median(List<Figures> rounds, ToDoubleFunction<Figures> figure) {
    return median(rounds.stream().mapToDouble(figure).toArray());
  }

  /** The median of some numbers. */
  public static double median(double... numbers) {
    final double[] sorted = numbers.clone();
    Arrays.sort(sorted);
    final int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }
}
