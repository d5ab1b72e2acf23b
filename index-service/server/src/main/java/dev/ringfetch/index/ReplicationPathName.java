package dev.ringfetch.index;

import dev.ringfetch.index.service.ReplicationPath;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A path of replication on the command line. */
public final class ReplicationPathName implements ITypeConverter<ReplicationPath> {
  /** Creates the converter; called by picocli. */
  public ReplicationPathName() {}

  @Override
  public ReplicationPath convert(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "auto" -> ReplicationPath.AUTO;
      case "one-sided" -> ReplicationPath.ONE_SIDED;
      case "rpc" -> ReplicationPath.RPC;
      default ->
          throw new TypeConversionException("'" + text + "' is none of auto, one-sided, rpc");
    };
  }
}
