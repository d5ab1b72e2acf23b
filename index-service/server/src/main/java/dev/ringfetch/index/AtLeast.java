package dev.ringfetch.index;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A whole number on the command line that has a lower limit. */
public abstract class AtLeast implements ITypeConverter<Integer> {
  private final int least;

  private AtLeast(int least) {
    this.least = least;
  }

  @Override
  public Integer convert(String text) {
    final int number;
    try {
      number = Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new TypeConversionException("'" + text + "' is not a whole number");
    }
    if (number < least) {
      throw new TypeConversionException("'" + text + "' is less than " + least);
    }
    return number;
  }

  /** A number that may be 0. */
  public static final class Zero extends AtLeast {
    /** Creates the converter; called by picocli. */
    public Zero() {
      super(0);
    }
  }

  /** A number that is positive. */
  public static final class One extends AtLeast {
    /** Creates the converter; called by picocli. */
    public One() {
      super(1);
    }
  }
}
