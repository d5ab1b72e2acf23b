package dev.ringfetch.examples.load;

import com.google.errorprone.annotations.FormatMethod;
import java.util.Locale;

/** A picture in SVG, made of lines, dots and texts. */
public final class Svg {
  private static final int AXIS_TITLE = 14;
  private static final int AXIS_NUMBERS = 12; // above the lines
  private static final int AXIS_TICK = 6;

  private final StringBuilder svg = new StringBuilder();

  /** Begins a picture on white. */
  public Svg(int width, int height) {
    add(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
            + " font-family=\"sans-serif\" font-size=\"11\">",
        width, height);
    add("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>");
  }

  /** Adds a scale with its title and its powers of ten, as vertical lines between two heights. */
  public void axis(LogScale scale, String title, int top, int bottom) {
    text(scale.left(), AXIS_TITLE, title);
    for (int power = scale.first(); power <= scale.last(); power++) {
      final double figure = Math.pow(10, power);
      final double x = scale.x(figure);
      line(x, top - AXIS_TICK, x, bottom, "#dddddd", 1);
      text(
          x - 8,
          top - AXIS_NUMBERS,
          power < 0 ? Double.toString(figure) : String.format(Locale.ROOT, "%,.0f", figure));
    }
  }

  /** Adds a text, which has none of XML's own characters. */
  public void text(double x, double y, String text) {
    add("<text x=\"%.1f\" y=\"%.1f\">%s</text>", x, y, text);
  }

  /** Adds a line. */
  public void line(double x1, double y1, double x2, double y2, String colour, int width) {
    add(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%d\"/>",
        x1, y1, x2, y2, colour, width);
  }

  /** Adds a dot. */
  public void dot(double x, double y, String colour) {
    dot(x, y, 3.5, colour);
  }

  /** Adds a dot with this radius. */
  public void dot(double x, double y, double radius, String colour) {
    add("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>", x, y, radius, colour);
  }

  /** Adds lines from point to point. */
  public void polyline(double[] xs, double[] ys, String colour, int width) {
    final StringBuilder points = new StringBuilder();
    for (int i = 0; i < xs.length; i++) {
      points.append(String.format(Locale.ROOT, "%.1f,%.1f ", xs[i], ys[i]));
    }
    add(
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%d\"/>",
        points.toString().strip(), colour, width);
  }

  @FormatMethod
  private void add(String format, Object... figures) {
    svg.append(String.format(Locale.ROOT, format, figures)).append('\n');
  }

  /** The whole file. */
  @Override
  public String toString() {
    return svg + "</svg>\n";
  }
}
