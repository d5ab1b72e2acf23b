package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.Point;
import dev.ringfetch.index.layout.BoxDescriptor;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Points and boxes on the command line, as numbers with commas between, and the values of spatial
 * indexes, which begin with their boxes.
 */
final class Coordinates {
  /** The box of all places. */
  static final Box EVERYWHERE = Box.around(new Point(0, 0), BoxDescriptor.LIMIT);

  private Coordinates() {}

  private static double[] parse(String text) {
    final String[] parts = text.split(",", -1);
    final double[] numbers = new double[parts.length];
    try {
      for (int i = 0; i < parts.length; i++) {
        numbers[i] = number(parts[i]);
      }
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
    return numbers;
  }

  /** The number of a text. */
  static double number(String text) {
    try {
      return Double.parseDouble(text.strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("'" + Printable.shorten(text) + "' is not a number", e);
    }
  }

  /** The box of a point, or of two opposite corners. */
  static Box box(double... corners) {
    final int last = corners.length - 2;
    return new Box(
        Math.min(corners[0], corners[last]),
        Math.min(corners[1], corners[last + 1]),
        Math.max(corners[0], corners[last]),
        Math.max(corners[1], corners[last + 1]));
  }

  /** The bytes of a value of a spatial index. */
  static ByteString located(Box box, ByteString value) {
    return BoxDescriptor.bytes(box.minX(), box.minY(), box.maxX(), box.maxY()).concat(value);
  }

  /** The box that the bytes of a value of a spatial index begin with. */
  static Box box(ByteString located) {
    final byte[] bytes = located.substring(0, BoxDescriptor.LENGTH).toByteArray();
    return new Box(
        BoxDescriptor.bound(bytes, 0, 0),
        BoxDescriptor.bound(bytes, 0, 1),
        BoxDescriptor.bound(bytes, 0, 2),
        BoxDescriptor.bound(bytes, 0, 3));
  }

  /** The value behind the box. */
  static ByteString value(ByteString located) {
    return located.substring(BoxDescriptor.LENGTH);
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
      try {
        return box(numbers);
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
