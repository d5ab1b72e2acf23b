package dev.ringfetch.index;

import com.sun.net.httpserver.HttpExchange;
import dev.ringfetch.index.service.IndexAdminService;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.service.JournalMetrics;
import dev.ringfetch.index.service.MicrometerIndexMetrics;
import dev.ringfetch.index.service.MicrometerJournalMetrics;
import dev.ringfetch.index.v1.ServerView;
import dev.ringfetch.micrometer.RingMetrics;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.DiskSpaceMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP endpoint of a server for Prometheus and Kubernetes: {@code /metrics}, {@code
 * /health/live}, and {@code /health/ready}, which is 503 with the reason while the server takes no
 * calls; and the {@link Console} at another port.
 */
final class MetricsEndpoint implements AutoCloseable {
  /** Type of the text for Prometheus. */
  static final String TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final ServerHealth health;
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final JournalMetrics journal = new MicrometerJournalMetrics(registry);
  private final JvmGcMetrics gc = new JvmGcMetrics();
  private final RingMetrics rings = new RingMetrics(false);
  private final HttpPort http = new HttpPort();
  private volatile @Nullable MicrometerIndexMetrics indexMetrics; // null: not there yet
  private volatile @Nullable Indexes indexes; // null: not there yet

  /**
   * Creates an endpoint that does not listen yet.
   *
   * @param data directory, whose disk is measured
   */
  MetricsEndpoint(ServerHealth health, @Nullable Path data) {
    this.health = health;
    Gauge.builder("ringfetch.index.ready", () -> health.isReady() ? 1 : 0)
        .description("1 while the server takes calls")
        .strongReference(true)
        .register(registry);
    rings.bindTo(registry);
    gc.bindTo(registry);
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    new FileDescriptorMetrics().bindTo(registry);
    new UptimeMetrics().bindTo(registry);
    if (data != null) {
      new DiskSpaceMetrics(data.toFile()).bindTo(registry);
    }
  }

  /** Listens for Prometheus and probes; returns where Prometheus finds the metrics. */
  String listen(List<InetSocketAddress> sockets) throws IOException {
    return http.listen(sockets, "metrics", this::answer) + "/metrics";
  }

  /**
   * Listens for browsers; returns where they find the console.
   *
   * @param letsLook whether a request with this authorization, or null, gets an answer
   */
  String listenForBrowsers(InetSocketAddress socket, Predicate<@Nullable String> letsLook)
      throws IOException {
    return http.listen(
            List.of(socket), "the console", new Console(letsLook, this::state, this::scrape))
        + "/";
  }

  JournalMetrics journal() {
    return journal;
  }

  /** Adds the metrics of the indexes. */
  void measure(Indexes measured) {
    indexMetrics = MicrometerIndexMetrics.of(measured, registry);
    indexes = measured;
  }

  private HttpPort.Answer answer(HttpExchange exchange) {
    return switch (exchange.getRequestURI().getPath()) {
      case "/metrics" -> new HttpPort.Answer(HttpPort.OK, TYPE, scrape());
      case "/health/live" -> HttpPort.Answer.plain(HttpPort.OK, "live");
      case "/health/ready" ->
          HttpPort.Answer.plain(
              health.isReady() ? HttpPort.OK : HttpPort.UNAVAILABLE, health.state().text());
      default -> HttpPort.Answer.plain(HttpPort.NOT_FOUND, "/metrics, /health/live, /health/ready");
    };
  }

  /** The state of the server, for its console. */
  private ServerView state() {
    final ServerView.Builder state =
        ServerView.newBuilder().setVersion(version()).setHealth(health.state().text());
    final Indexes measured = indexes;
    final MicrometerIndexMetrics metrics = indexMetrics;
    if (measured != null && metrics != null) {
      state.mergeFrom(new IndexAdminService(measured).view()).addAllSlowCalls(metrics.slowCalls());
    }
    return state.build();
  }

  private static String version() {
    try {
      return new VersionResource().getVersion()[0];
    } catch (IOException e) { // of a resource of this program
      throw new UncheckedIOException(e);
    }
  }

  /** All metrics; by one thread at a time, as a refresh removes gauges and adds them again. */
  private synchronized String scrape() {
    final MicrometerIndexMetrics metrics = indexMetrics;
    if (metrics != null) {
      metrics.refresh();
    }
    return registry.scrape();
  }

  /** Ends connections and threads. */
  @Override
  public void close() {
    http.close();
    rings.close();
    gc.close();
    registry.close();
  }
}
