package dev.ringfetch.index;

import com.google.protobuf.util.JsonFormat;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import dev.ringfetch.index.HttpPort.Answer;
import dev.ringfetch.index.v1.ServerView;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The console of a server: a page for a browser on the same host, which asks for {@code /state} and
 * {@code /metrics} every two seconds. It changes nothing.
 *
 * <p>A request for another host than this one is refused: so a page from elsewhere, whose name
 * somebody has made to stand for this host, gets nothing.
 *
 * @param letsLook whether a request with this authorization, or null, gets an answer
 * @param state of the server
 * @param metrics as text for Prometheus
 */
record Console(
    Predicate<@Nullable String> letsLook, Supplier<ServerView> state, Supplier<String> metrics)
    implements HttpPort.Handler {
  private static final Pattern LOOPBACK =
      Pattern.compile("(localhost|127\\.0\\.0\\.1|\\[::1\\])(:[0-9]+)?");
  private static final JsonFormat.Printer JSON =
      JsonFormat.printer().omittingInsignificantWhitespace();

  @Override
  public Answer answer(HttpExchange exchange) throws IOException {
    final String host = exchange.getRequestHeaders().getFirst("Host");
    if (host == null || !LOOPBACK.matcher(host).matches()) {
      return Answer.plain(HttpPort.FORBIDDEN, "the console is for this host alone");
    }
    final Headers headers = exchange.getResponseHeaders();
    if (!letsLook.test(exchange.getRequestHeaders().getFirst("Authorization"))) {
      headers.set("WWW-Authenticate", "Basic realm=\"Ringfetch\", charset=\"UTF-8\"");
      return Answer.plain(HttpPort.UNAUTHORIZED, "the console is for users who may read all");
    }
    headers.set("Content-Security-Policy", "default-src 'self'");
    headers.set("X-Content-Type-Options", "nosniff");
    headers.set("Cache-Control", "no-store");
    return switch (exchange.getRequestURI().getPath()) {
      case "/" -> resource("console.html", "text/html");
      case "/console.css" -> resource("console.css", "text/css");
      case "/console.js" -> resource("console.js", "text/javascript");
      case "/state" ->
          new Answer(HttpPort.OK, "application/json; charset=utf-8", JSON.print(state.get()));
      case "/metrics" -> new Answer(HttpPort.OK, MetricsEndpoint.TYPE, metrics.get());
      default -> Answer.plain(HttpPort.NOT_FOUND, "/, /state, /metrics");
    };
  }

  private static Answer resource(String name, String type) throws IOException {
    try (InputStream in = Console.class.getResourceAsStream(name)) {
      return new Answer(
          HttpPort.OK,
          type + "; charset=utf-8",
          new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
  }
}
