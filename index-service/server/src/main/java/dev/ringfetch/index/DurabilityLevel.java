package dev.ringfetch.index;

import dev.ringfetch.index.v1.Durability;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The converter of a level of durability. */
public final class DurabilityLevel implements ITypeConverter<Durability> {
  /** Used by picocli. */
  public DurabilityLevel() {}

  @Override
  public Durability convert(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "memory" -> Durability.MEMORY;
      case "interval" -> Durability.INTERVAL;
      case "disk" -> Durability.DISK;
      case "leader-disk" -> Durability.LEADER_DISK;
      default ->
          throw new TypeConversionException(
              "'" + text + "' is not one of memory, interval, disk, leader-disk");
    };
  }
}
