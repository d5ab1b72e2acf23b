package dev.ringfetch.index;

import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.service.JournalMetrics;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of the HTTP ports, and what answers there if one of them is set. */
final class MetricsOptions implements AutoCloseable {
  private static final byte[] LOOPBACK = {127, 0, 0, 1}; // of the console, whatever has which name

  @Option(
      names = "--metrics",
      paramLabel = "PORT",
      description = "Port of metrics and probes (HTTP), at --bind.")
  private @Nullable Integer port;

  @Option(
      names = "--console",
      paramLabel = "PORT",
      description = "Port of a page for browsers of this host (HTTP).")
  private @Nullable Integer consolePort;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  private @Nullable MetricsEndpoint endpoint; // null: no option is set
  private String lines = ""; // of the start

  /** Starts the endpoint, if the option is set. */
  void start(ListenOptions listening, ServerHealth health, @Nullable Path data) throws IOException {
    if (port == null && consolePort == null) {
      return;
    }
    check("--metrics", port);
    check("--console", consolePort);
    try {
      endpoint = new MetricsEndpoint(health, data);
    } catch (NoClassDefFoundError e) { // optional dependencies
      throw misuse(
          "--metrics and --console need the artifact micrometer-registry-prometheus and the module"
              + " jdk.httpserver: missing: "
              + e.getMessage());
    }
    if (port != null) {
      lines += line("metrics: ", endpoint.listen(listening.sockets(port)));
    }
    if (consolePort != null) {
      lines +=
          line(
              "console: ",
              endpoint.listenForBrowsers(
                  new InetSocketAddress(InetAddress.getByAddress(LOOPBACK), consolePort),
                  listening::letsLook));
    }
  }

  private static String line(String name, String url) {
    return name + url + System.lineSeparator();
  }

  private void check(String option, @Nullable Integer given) {
    if (given != null && (given < 0 || given > ListenOptions.MAX_PORT)) {
      throw misuse(
          option + " is out of range: " + given + " is not in 0.." + ListenOptions.MAX_PORT);
    }
  }

  /** The receiver of the journal's measurements. */
  JournalMetrics journal() {
    return endpoint == null ? JournalMetrics.NONE : endpoint.journal();
  }

  /** Measures the indexes; called before services over them are bound. */
  void measure(Indexes indexes) {
    if (endpoint != null) {
      endpoint.measure(indexes);
    }
  }

  /** The lines at the start that say where the ports are; empty without them. */
  String lines() {
    return lines;
  }

  /** Closes the endpoint. */
  @Override
  public void close() {
    if (endpoint != null) {
      endpoint.close();
    }
  }

  private ParameterException misuse(String text) {
    return new ParameterException(spec.commandLine(), text);
  }
}
