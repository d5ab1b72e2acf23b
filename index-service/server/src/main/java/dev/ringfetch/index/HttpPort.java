package dev.ringfetch.index;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The HTTP ports of a server for programs and people that only look: they answer {@code GET} and
 * {@code HEAD} alone.
 *
 * <p>A connection whose request is not complete within {@value #REQUEST_SECONDS} s is closed, and
 * so is one beyond {@value #MAX_THREADS} that are served at a time.
 */
final class HttpPort implements AutoCloseable {
  /** Requests that are read or answered at a time; a scrape and a few probes are usual. */
  static final int MAX_THREADS = 32;

  static final int OK = 200;
  static final int UNAUTHORIZED = 401;
  static final int FORBIDDEN = 403;
  static final int NOT_FOUND = 404;
  static final int UNAVAILABLE = 503;

  private static final int METHOD_NOT_ALLOWED = 405;
  private static final int REQUEST_SECONDS = 5;
  private static final int NO_BODY = -1;

  static {
    // Of all HTTP servers of the JDK in this process, which is the program's own.
    limit("sun.net.httpserver.maxReqTime", REQUEST_SECONDS);
    limit("sun.net.httpserver.maxRspTime", 2 * REQUEST_SECONDS);
    limit("jdk.httpserver.maxConnections", 2 * MAX_THREADS);
  }

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

  /** The source of answers to requests, asked on many threads. */
  @FunctionalInterface
  interface Handler {
    Answer answer(HttpExchange exchange) throws IOException;
  }

  /** An answer; its text is sent as UTF-8. */
  record Answer(int status, String type, String text) {
    /** An answer for people. */
    static Answer plain(int status, String text) {
      return new Answer(status, "text/plain", text + "\n");
    }
  }

  private static void limit(String property, int value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, Integer.toString(value));
    }
  }

  /**
   * Listens.
   *
   * @param purpose of the port, for messages
   * @return the URL of the first address, with no path
   */
  String listen(List<InetSocketAddress> sockets, String purpose, Handler handler)
      throws IOException {
    final int first = servers.size();
    for (final InetSocketAddress socket : sockets) {
      final HttpServer server;
      try {
        server = HttpServer.create(socket, 0);
      } catch (IOException e) {
        throw new IOException(
            "cannot listen for "
                + purpose
                + " at "
                + ListenOptions.text(socket)
                + ": "
                + FailureReason.of(e),
            e);
      }
      servers.add(server);
      server.setExecutor(threads);
      server.createContext("/", exchange -> answer(exchange, handler));
      server.start();
    }
    return "http://" + ListenOptions.text(servers.get(first).getAddress());
  }

  private static void answer(HttpExchange exchange, Handler handler) throws IOException {
    try (exchange) {
      final boolean isHead = exchange.getRequestMethod().equals("HEAD");
      if (!isHead && !exchange.getRequestMethod().equals("GET")) {
        exchange.getResponseHeaders().set("Allow", "GET, HEAD");
        exchange.sendResponseHeaders(METHOD_NOT_ALLOWED, NO_BODY);
        return;
      }
      final Answer answer = handler.answer(exchange);
      final byte[] body = answer.text().getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", answer.type());
      if (isHead) {
        exchange.getResponseHeaders().set("Content-Length", Integer.toString(body.length));
        exchange.sendResponseHeaders(answer.status(), NO_BODY);
      } else {
        exchange.sendResponseHeaders(answer.status(), body.length);
        exchange.getResponseBody().write(body);
      }
    }
  }

  /** Ends connections and threads. */
  @Override
  public void close() {
    servers.forEach(server -> server.stop(0));
    threads.shutdownNow();
  }
}
