package dev.ringfetch.index;

import dev.ringfetch.index.replication.Replicas;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The converter of a node timeout, in milliseconds. */
public final class NodeTimeout implements ITypeConverter<Duration> {
  /** Used by picocli. */
  public NodeTimeout() {}

  @Override
  public Duration convert(String text) {
    final long millis;
    try {
      millis = Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new TypeConversionException("'" + text + "' is not a whole number");
    }
    if (millis < Replicas.NODE_TIMEOUT_MIN_MS) {
      throw new TypeConversionException(
          "'" + text + "' is less than " + Replicas.NODE_TIMEOUT_MIN_MS + " ms");
    }
    if (millis > Replicas.NODE_TIMEOUT_MAX_MS) {
      throw new TypeConversionException(
          "'" + text + "' is more than " + Replicas.NODE_TIMEOUT_MAX_MS + " ms");
    }
    return Duration.ofMillis(millis);
  }
}
