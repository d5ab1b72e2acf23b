package dev.ringfetch.index.cli;

import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.Point;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Points and boxes on the command line: numbers with commas between. */
final class Coordinates {
  private Coordinates() {}

  private static double[] parse(String text) {
    final String[] parts = text.split(",", -1);
    final double[] numbers = new double[parts.length];
    for (int i = 0; i < parts.length; i++) {
      try {
        numbers[i] = Double.parseDouble(parts[i].strip());
      } catch (NumberFormatException e) {
        throw new TypeConversionException("'" + Printable.shorten(parts[i]) + "' is not a number");
      }
    }
    return numbers;
  }

  /** A point: X,Y. */
  static final class PointText implements ITypeConverter<Point> {
    @Override
    public Point convert(String text) {
      final double[] numbers = parse(text);
      if (numbers.length != 2) {
        throw new TypeConversionException("'" + Printable.shorten(text) + "' is not X,Y");
      }
      try {
        return new Point(numbers[0], numbers[1]);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /** A box: X,Y for a point, or X1,Y1,X2,Y2 for two corners. */
  static final class BoxText implements ITypeConverter<Box> {
    @Override
    public Box convert(String text) {
      final double[] numbers = parse(text);
      if (numbers.length != 2 && numbers.length != 4) {
        throw new TypeConversionException(
            "'" + Printable.shorten(text) + "' is neither X,Y nor X1,Y1,X2,Y2");
      }
      final int last = numbers.length - 2;
      try {
        return new Box(
            Math.min(numbers[0], numbers[last]),
            Math.min(numbers[1], numbers[last + 1]),
            Math.max(numbers[0], numbers[last]),
            Math.max(numbers[1], numbers[last + 1]));
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /** The text of a box that {@link BoxText} takes. */
  static String text(Box box) {
    final String first = box.minX() + "," + box.minY();
    return box.minX() == box.maxX() && box.minY() == box.maxY()
        ? first
        : first + "," + box.maxX() + "," + box.maxY();
  }
}
