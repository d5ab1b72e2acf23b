package dev.ringfetch.index;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.service.JournalMetrics;
import dev.ringfetch.index.service.MicrometerIndexMetrics;
import dev.ringfetch.index.service.MicrometerJournalMetrics;
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
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP endpoint of a server for Prometheus and Kubernetes: {@code /metrics}, {@code
 * /health/live}, and {@code /health/ready}, which is 503 with the reason while the server takes no
 * calls.
 *
 * <p>A connection whose request is not complete within {@value #REQUEST_SECONDS} s is closed, and
 * so is one beyond {@value #MAX_THREADS} that are served at a time.
 */
final class MetricsEndpoint implements AutoCloseable {
  /** Requests that are read or answered at a time; a scrape and a few probes are usual. */
  static final int MAX_THREADS = 32;

  private static final int REQUEST_SECONDS = 5;

  private static final int NO_BODY = -1;
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int METHOD_NOT_ALLOWED = 405;
  private static final int UNAVAILABLE = 503;

  static {
    // Of all HTTP servers of the JDK in this process, which is the program's own.
    limit("sun.net.httpserver.maxReqTime", REQUEST_SECONDS);
    limit("sun.net.httpserver.maxRspTime", 2 * REQUEST_SECONDS);
    limit("jdk.httpserver.maxConnections", 2 * MAX_THREADS);
  }

  private final ServerHealth health;
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final JournalMetrics journal = new MicrometerJournalMetrics(registry);
  private final JvmGcMetrics gc = new JvmGcMetrics();
  private final RingMetrics rings = new RingMetrics(false);
  private final List<HttpServer> servers = new ArrayList<>(); // one for each address
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          0,
          MAX_THREADS,
          10,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> {
            final Thread thread = new Thread(task, "index-metrics");
            thread.setDaemon(true);
            return thread;
          });
  private volatile @Nullable MicrometerIndexMetrics indexMetrics; // null: not there yet

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

  private static void limit(String property, int value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, Integer.toString(value));
    }
  }

  /** Listens; called once. */
  void start(List<InetSocketAddress> sockets) throws IOException {
    for (final InetSocketAddress socket : sockets) {
      final HttpServer server;
      try {
        server = HttpServer.create(socket, 0);
      } catch (IOException e) {
        throw new IOException(
            "cannot listen for metrics at "
                + ListenOptions.text(socket)
                + ": "
                + FailureReason.of(e),
            e);
      }
      servers.add(server);
      server.setExecutor(threads);
      server.createContext("/", this::answer);
      server.start();
    }
  }

  /** Where Prometheus finds the metrics, at the first address. */
  String url() {
    return "http://" + ListenOptions.text(servers.get(0).getAddress()) + "/metrics";
  }

  JournalMetrics journal() {
    return journal;
  }

  /** Adds the metrics of the indexes. */
  void measure(Indexes indexes) {
    indexMetrics = MicrometerIndexMetrics.of(indexes, registry);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      if (!exchange.getRequestMethod().equals("GET")) {
        exchange.getResponseHeaders().set("Allow", "GET");
        exchange.sendResponseHeaders(METHOD_NOT_ALLOWED, NO_BODY);
        return;
      }
      switch (exchange.getRequestURI().getPath()) {
        case "/metrics" -> send(exchange, OK, "text/plain; version=0.0.4; charset=utf-8", scrape());
        case "/health/live" -> send(exchange, OK, "text/plain", "live\n");
        case "/health/ready" -> {
          final ServerHealth.State state = health.state();
          send(
              exchange,
              state == ServerHealth.State.SERVING ? OK : UNAVAILABLE,
              "text/plain",
              state.text() + "\n");
        }
        default ->
            send(exchange, NOT_FOUND, "text/plain", "/metrics, /health/live, /health/ready\n");
      }
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

  private static void send(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    final byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
  }

  /** Ends connections and threads. */
  @Override
  public void close() {
    servers.forEach(server -> server.stop(0));
    threads.shutdownNow();
    rings.close();
    gc.close();
    registry.close();
  }
}
