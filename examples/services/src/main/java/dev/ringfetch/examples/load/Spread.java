package dev.ringfetch.examples.load;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The spread of one figure over several rounds.
 *
 * @param median of the rounds.
 * @param least of the rounds.
 * @param most of the rounds.
 */
public record Spread(double median, double least, double most) {
  /** Of some figures; there is at least one. */
  public static Spread of(double... figures) {
    return new Spread(
        Figures.median(figures),
        Arrays.stream(figures).min().orElseThrow(),
        Arrays.stream(figures).max().orElseThrow());
  }

  /** Of a figure of each round. */
  public static <T> Spread of(Collection<T> rounds, ToDoubleFunction<T> figure) {
    return of(rounds.stream().mapToDouble(figure).toArray());
  }

  /** Of each round the figure of some by that of others, which had their turns in it, too. */
  public static <T> Spread ofRatios(List<T> rounds, List<T> others, ToDoubleFunction<T> figure) {
    return of(
        IntStream.range(0, rounds.size())
            .mapToDouble(
                round ->
                    figure.applyAsDouble(rounds.get(round))
                        / figure.applyAsDouble(others.get(round)))
            .toArray());
  }

  /** Median, and the range in brackets. */
  public String text(int digits) {
    final String number = "%,." + digits + "f";
    return String.format(
        Locale.ROOT, number + " [" + number + " .. " + number + "]", median, least, most);
  }
}
