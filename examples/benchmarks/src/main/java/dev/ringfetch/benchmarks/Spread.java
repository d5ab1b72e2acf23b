package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * What several rounds gave for one figure.
 *
 * @param median of the rounds.
 * @param least of the rounds.
 * @param most of the rounds.
 */
record Spread(double median, double least, double most) {
  static Spread of(double... figures) {
    return new Spread(
        Figures.median(figures),
        Arrays.stream(figures).min().orElseThrow(),
        Arrays.stream(figures).max().orElseThrow());
  }

  static <T> Spread of(Collection<T> rounds, ToDoubleFunction<T> figure) {
    return of(rounds.stream().mapToDouble(figure).toArray());
  }

  /** Median, and the range in brackets. */
  String text(int digits) {
    final String number = "%,." + digits + "f";
    return String.format(
        Locale.ROOT, number + " [" + number + " .. " + number + "]", median, least, most);
  }
}
