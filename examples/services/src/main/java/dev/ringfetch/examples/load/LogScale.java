package dev.ringfetch.examples.load;

/**
 * A logarithmic scale of a picture.
 *
 * @param first power of ten at the left end.
 * @param last power of ten at the right end.
 * @param left of the left end.
 * @param width between the ends.
 */
public record LogScale(int first, int last, int left, int width) {
  /** The scale of whole powers of ten that has two figures on it, both more than 0. */
  public static LogScale of(double least, double most, int left, int width) {
    final int first = (int) Math.floor(Math.log10(least));
    return new LogScale(first, Math.max(first + 1, (int) Math.ceil(Math.log10(most))), left, width);
  }

  /** Where a figure is drawn. */
  public double x(double figure) {
    return left + width * (Math.log10(figure) - first) / (last - first);
  }
}
