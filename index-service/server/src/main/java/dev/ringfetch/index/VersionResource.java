package dev.ringfetch.index;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version of this build, read from a resource that the build writes. */
public final class VersionResource implements IVersionProvider {
  @Override
  public String[] getVersion() throws IOException {
    final Properties properties = new Properties();
    try (InputStream in = VersionResource.class.getResourceAsStream("version.properties")) {
      properties.load(in);
    }
    return new String[] {"ringfetch index-server " + properties.getProperty("version")};
  }
}
