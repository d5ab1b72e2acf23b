package dev.ringfetch.index;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A number of bytes on a command line: digits, and K, M, G or T for a power of 1024. */
public final class ByteCount implements ITypeConverter<Long> {
  private static final Pattern FORM = Pattern.compile("(\\d{1,12})([KMGT]?)");
  private static final String UNITS = "KMGT";

  @Override
  public Long convert(String text) {
    final Matcher matcher = FORM.matcher(text.toUpperCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw new TypeConversionException(
          "'" + text + "' is not a number of bytes, such as 512M or 4G");
    }
    final int unit = matcher.group(2).isEmpty() ? 0 : 1 + UNITS.indexOf(matcher.group(2));
    try {
      return Math.multiplyExact(Long.parseLong(matcher.group(1)), 1L << (10 * unit));
    } catch (ArithmeticException e) {
      throw new TypeConversionException("'" + text + "' is too large");
    }
  }
}
