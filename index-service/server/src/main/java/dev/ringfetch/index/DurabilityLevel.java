package dev.ringfetch.index;

import dev.ringfetch.index.v1.Durability;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The converter of a level of durability. */
public final class DurabilityLevel implements ITypeConverter<Durability> {
  /** Used by picocli. */
  public DurabilityLevel() {}

  /** The line at the start about the data directory and the level of new indexes. */
  static String line(@Nullable Path data, Durability level) {
    return "data: "
        + (data == null ? "none" : data)
        + "; durability: "
        + level.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

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
