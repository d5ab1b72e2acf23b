package dev.ringfetch.examples.load;

import dev.ringfetch.examples.process.Answer;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * What a round of calls gave.
 *
 * @param calls how many.
 * @param p50Us half of them took at most that long, in microseconds.
 * @param p99Us 99 of 100 took at most that long, in microseconds.
 * @param perSecond calls in a second.
 */
public record Figures(long calls, double p50Us, double p99Us, double perSecond) {
  /** Reads what {@link #answer} made. */
  public static Figures parse(Answer answer) {
    return new Figures(
        answer.count("calls"),
        answer.figure("p50"),
        answer.figure("p99"),
        answer.figure("perSecond"));
  }

  /** As a child process says it. */
  public Answer answer() {
    return new Answer()
        .with("calls", calls)
        .with("p50", p50Us)
        .with("p99", p99Us)
        .with("perSecond", perSecond);
  }

  /** Of each figure the median over some rounds; calls are added up. */
  public static Figures median(List<Figures> rounds) {
    return new Figures(
        rounds.stream().mapToLong(Figures::calls).sum(),
        median(rounds, Figures::p50Us),
        median(rounds, Figures::p99Us),
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
