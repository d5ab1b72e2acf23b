package dev.ringfetch.index;

import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A name of a fabric on the command line. */
public final class FabricName implements ITypeConverter<String> {
  /** All fabrics, the preferred one first. */
  static final List<String> ALL = List.of("shm", "verbs");

  /** Creates the converter; called by picocli. */
  public FabricName() {}

  @Override
  public String convert(String text) {
    if (!ALL.contains(text)) {
      throw new TypeConversionException("'" + text + "' is none of " + String.join(", ", ALL));
    }
    return text;
  }
}
