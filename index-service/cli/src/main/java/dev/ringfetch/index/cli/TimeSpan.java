package dev.ringfetch.index.cli;

import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A time on the command line: a number with ms, s, m, h or d; without a unit, seconds. */
final class TimeSpan implements ITypeConverter<Duration> {
  private static final Pattern FORM = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)?");
  private static final Map<String, Long> MILLIS =
      Map.of("ms", 1L, "s", 1_000L, "m", 60_000L, "h", 3_600_000L, "d", 86_400_000L);

  @Override
  public Duration convert(String text) {
    final Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new TypeConversionException("'" + text + "' is not a time, such as 500ms, 5s or 2m");
    }
    final String unit = matcher.group(2) == null ? "s" : matcher.group(2);
    final Duration span = Duration.ofMillis(Long.parseLong(matcher.group(1)) * MILLIS.get(unit));
    if (span.isZero()) {
      throw new TypeConversionException("'" + text + "' is not longer than 0");
    }
    return span;
  }

  /** The text of a time, for messages. */
  static String text(Duration span) {
    return span.toMillis() % 1000 == 0 ? span.toSeconds() + " s" : span.toMillis() + " ms";
  }
}
