package dev.ringfetch.index;

import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.service.JournalMetrics;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option of the endpoint for metrics and probes, and the endpoint if the option is set. */
final class MetricsOptions implements AutoCloseable {
  @Option(
      names = "--metrics",
      paramLabel = "PORT",
      description = "Port of metrics and probes (HTTP), at --bind.")
  private @Nullable Integer port;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  private @Nullable MetricsEndpoint endpoint; // null: the option is not set

  /** Starts the endpoint, if the option is set. */
  void start(ListenOptions listening, ServerHealth health, @Nullable Path data) throws IOException {
    if (port == null) {
      return;
    }
    if (port < 0 || port > ListenOptions.MAX_PORT) {
      throw misuse(
          "--metrics is out of range: " + port + " is not in 0.." + ListenOptions.MAX_PORT);
    }
    try {
      endpoint = new MetricsEndpoint(health, data);
    } catch (NoClassDefFoundError e) { // optional dependencies
      throw misuse(
          "--metrics needs the artifact micrometer-registry-prometheus and the module"
              + " jdk.httpserver: missing: "
              + e.getMessage());
    }
    endpoint.start(listening.sockets(port));
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

  /** The line at the start that says where the metrics are; empty without them. */
  String line() {
    return endpoint == null ? "" : "metrics: " + endpoint.url() + System.lineSeparator();
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
