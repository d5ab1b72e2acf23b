package dev.ringfetch.index.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A whole number on the command line, at least 1. */
final class PositiveNumber implements ITypeConverter<Long> {
  @Override
  public Long convert(String text) {
    final long number;
    try {
      number = Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new TypeConversionException("'" + text + "' is not a whole number");
    }
    if (number < 1) {
      throw new TypeConversionException("'" + text + "' is less than 1");
    }
    return number;
  }
}
