package dev.ringfetch.index;

import dev.ringfetch.index.tls.TlsFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of TLS: of a server, and of commands that talk to one. Plaintext without them. */
public final class TlsOptions {
  private static final String CERTIFICATE = "--tls-cert";
  private static final String KEY = "--tls-key";
  private static final String AUTHORITIES = "--tls-ca";

  /** Position in the help of commands; {@link FullHelp} has its own. */
  private static final int ORDER = 103;

  @Option(
      names = CERTIFICATE,
      order = ORDER + 0,
      paramLabel = "FILE",
      description = "Certificate to show, in PEM.")
  private @Nullable Path certificate;

  @Option(
      names = KEY,
      order = ORDER + 1,
      paramLabel = "FILE",
      description = "The certificate's key, in PEM.")
  private @Nullable Path key;

  @Option(
      names = AUTHORITIES,
      order = ORDER + 2,
      paramLabel = "FILE",
      description = "Authorities of the other side's certificates.")
  private @Nullable Path authorities;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  /** Creates options that nothing sets; called by picocli. */
  public TlsOptions() {}

  /**
   * The defaults that an environment has: {@code RINGFETCH_TLS_CERT} for {@code --tls-cert}, and so
   * on. An empty variable counts as not set.
   */
  public static Map<String, String> defaults(Map<String, String> environment) {
    final Map<String, String> defaults = new LinkedHashMap<>();
    for (final String option : new String[] {CERTIFICATE, KEY, AUTHORITIES}) {
      final String variable =
          "RINGFETCH" + option.substring(1).toUpperCase(Locale.ROOT).replace('-', '_');
      final String value = environment.getOrDefault(variable, "");
      if (!value.isEmpty()) {
        defaults.put(option, value);
      }
    }
    return defaults;
  }

  /** The options that are set, with their values. */
  public Map<String, String> given() {
    final Map<String, String> given = new LinkedHashMap<>();
    put(given, CERTIFICATE, certificate);
    put(given, KEY, key);
    put(given, AUTHORITIES, authorities);
    return given;
  }

  private static void put(Map<String, String> given, String option, @Nullable Path file) {
    if (file != null) {
      given.put(option, file.toString());
    }
  }

  /** Reads the files; null if no option is set. */
  public @Nullable TlsFiles read() throws IOException {
    if ((certificate == null) != (key == null)) {
      throw misuse(CERTIFICATE + " and " + KEY + " need each other");
    }
    return given().isEmpty() ? null : new TlsFiles(certificate, key, authorities);
  }

  /**
   * Reads the files of a server; null if no option is set.
   *
   * @param isNode whether the server is a node of a cluster, which verifies the other nodes
   */
  @Nullable TlsFiles readOfServer(boolean isNode) throws IOException {
    if (authorities != null && certificate == null) {
      throw misuse(AUTHORITIES + " of a server needs " + CERTIFICATE + " and " + KEY);
    }
    if (isNode && certificate != null && authorities == null) {
      throw misuse(
          CERTIFICATE
              + " with --cluster needs "
              + AUTHORITIES
              + ", by which nodes verify each other");
    }
    return read();
  }

  private ParameterException misuse(String text) {
    return new ParameterException(spec.commandLine(), text);
  }
}
