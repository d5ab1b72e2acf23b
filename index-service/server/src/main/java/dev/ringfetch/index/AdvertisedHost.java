package dev.ringfetch.index;

import dev.ringfetch.index.direct.NodeAddress;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A host on the command line at which others reach a node: a name or an IP address. */
public final class AdvertisedHost implements ITypeConverter<String> {
  /** Creates the converter; called by picocli. */
  public AdvertisedHost() {}

  @Override
  public String convert(String text) {
    try {
      final String unused = NodeAddress.of(text, 1);
      return text;
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(
          "'" + text + "' is not the name or the IP address of a host; the port is that of --port");
    }
  }
}
