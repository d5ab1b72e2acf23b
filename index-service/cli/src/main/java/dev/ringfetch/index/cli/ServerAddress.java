package dev.ringfetch.index.cli;

import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The address of a server on the command line: a host, and a port unless it is the default one. For
 * a cluster: several nodes separated by commas, or its coordinator.
 */
final class ServerAddress implements ITypeConverter<String> {
  private static final Pattern FORM =
      Pattern.compile("([\\p{Alnum}._-]+|\\[[\\p{XDigit}:.%]+\\])(?::(\\d{1,5}))?");
  private static final String COORDINATOR = "zk://";
  private static final int PORT_DEFAULT = 50_051;
  private static final int PORT_MAX = 65_535;

  @Override
  public String convert(String text) {
    if (text.startsWith(COORDINATOR)) {
      return text; // the client parses it
    }
    return Arrays.stream(text.split(",", -1))
        .map(ServerAddress::convertOne)
        .collect(Collectors.joining(","));
  }

  /** Whether an address may be that of several nodes; null is none. */
  static boolean isOfCluster(String address) {
    return address != null && (address.contains(",") || address.startsWith(COORDINATOR));
  }

  private static String convertOne(String text) {
    final Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new TypeConversionException("'" + text + "' is not HOST:PORT");
    }
    final int port = matcher.group(2) == null ? PORT_DEFAULT : Integer.parseInt(matcher.group(2));
    if (port < 1 || port > PORT_MAX) {
      throw new TypeConversionException("port " + port + " is not in 1.." + PORT_MAX);
    }
    return matcher.group(1) + ":" + port;
  }
}
