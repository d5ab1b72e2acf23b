package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The endpoint of metrics and probes: what it answers, and to hostile clients. */
@Timeout(300)
final class MetricsEndpointTest {
  private static final int DEADLINE_MILLIS = 60_000;
  private static final int SCRAPERS = 4;
  private static final int ROUNDS = 10;

  private static final List<String> HOSTILE =
      List.of(
          "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001", // the begin of a TLS handshake
          "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
          "GET\r\n\r\n",
          "GET /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
          "GET /metrics HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n",
          "GET http://[ HTTP/1.1\r\n\r\n",
          "GET /metrics HTTP/1.1\r\nHost: a"); // and nothing more

  private final ServerHealth health = new ServerHealth();
  private final HttpClient client = HttpClient.newHttpClient();
  private MetricsEndpoint endpoint;
  private URI address;

  /** Else the test would wait as long as the program does. */
  @BeforeAll
  static void waitShorterForRequests() {
    System.setProperty("sun.net.httpserver.maxReqTime", "1");
  }

  @BeforeEach
  void start() throws IOException {
    endpoint = new MetricsEndpoint(health, null);
    address =
        URI.create(
            endpoint.listen(List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))));
  }

  @AfterEach
  void stop() {
    endpoint.close();
  }

  private HttpResponse<String> send(String path, HttpRequest.Builder request) throws Exception {
    return client.send(
        request.uri(address.resolve(path)).timeout(Duration.ofMillis(DEADLINE_MILLIS)).build(),
        BodyHandlers.ofString());
  }

  private void answers(int status, String text, String path) throws Exception {
    final HttpResponse<String> response = send(path, HttpRequest.newBuilder());
    assertEquals(status, response.statusCode(), response::body);
    assertTrue(response.body().contains(text), response::body);
  }

  @Test
  void aServerIsReadyFromTheMomentOnThatItTakesCallsUntilItEnds() throws Exception {
    answers(503, "reads its journal", "/health/ready");
    answers(200, "ringfetch_index_ready 0.0\n", "/metrics");
    health.start();
    health.recovered();
    answers(503, "has not reached its coordinator", "/health/ready");
    answers(200, "live", "/health/live");
    health.serve();
    answers(200, "ready", "/health/ready");
    answers(200, "ringfetch_index_ready 1.0\n", "/metrics");
    health.endWriting(); // reads go on
    answers(200, "ready", "/health/ready");
    health.stop();
    answers(503, "stopping", "/health/ready");
    answers(200, "live", "/health/live");
    health.serve(); // the node has reached its coordinator too late
    health.recovered();
    answers(503, "stopping", "/health/ready");
    answers(200, "ringfetch_index_ready 0.0\n", "/metrics");
  }

  /** Those that a handler on bytes answers, those that the service does, and those of no end. */
  @Test
  void callsOfAServerAloneAreMeasured() throws Exception {
    final Indexes indexes = new Indexes(IndexMemory.ofProcess(LocalServer.MEMORY));
    endpoint.measure(indexes);
    final Server server =
        IndexServer.addServices(ServerBuilder.forPort(0), indexes, health.grpc()).build().start();
    final ManagedChannel channel =
        ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
    try {
      final IndexGrpc.IndexBlockingStub index =
          IndexGrpc.newBlockingStub(channel).withDeadlineAfter(60, TimeUnit.SECONDS);
      final ByteString key = ByteString.copyFromUtf8("key");
      assertTrue(index.put(PutRequest.newBuilder().setKey(key).build()).getCreated());
      for (int i = 0; i < 3; i++) {
        assertTrue(index.get(GetRequest.newBuilder().setKey(key).build()).hasEntry());
      }
      assertThrows(StatusRuntimeException.class, () -> index.get(GetRequest.getDefaultInstance()));
      final ClientCall<WatchRequest, WatchResponse> watch =
          channel.newCall(IndexGrpc.getWatchMethod(), CallOptions.DEFAULT);
      watch.start(new ClientCall.Listener<>() {}, new Metadata());
      watch.sendMessage(WatchRequest.getDefaultInstance());
      assertEquals(1, index.count(CountRequest.getDefaultInstance()).getEntries()); // it is there
      watch.cancel("the test ends it", null);
      assertScraped("Put", "OK", 1);
      assertScraped("Get", "OK", 3);
      assertScraped("Get", "INVALID_ARGUMENT", 1);
      assertScraped("Watch", "CANCELLED", 1);
      assertScrapesAtOnceAreWhole("ringfetch_index_entries{index=\"default\"} 1.0\n");
    } finally {
      channel.shutdownNow();
      server.shutdownNow();
      assertTrue(server.awaitTermination(60, TimeUnit.SECONDS));
      indexes.close();
    }
  }

  /** Waits for it: an answer may come before its call is counted. */
  private void assertScraped(String method, String status, int count) throws Exception {
    final String sample =
        "ringfetch_index_calls_seconds_count{method=\""
            + method
            + "\",service=\""
            + IndexGrpc.SERVICE_NAME
            + "\",status=\""
            + status
            + "\"} "
            + count
            + "\n";
    final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MILLIS);
    String scrape;
    do {
      scrape = send("/metrics", HttpRequest.newBuilder()).body();
    } while (!scrape.contains(sample) && System.nanoTime() < endNs);
    assertTrue(scrape.contains(sample), sample + scrape);
  }

  private void assertScrapesAtOnceAreWhole(String sample) {
    final HttpRequest request =
        HttpRequest.newBuilder(address).timeout(Duration.ofMillis(DEADLINE_MILLIS)).build();
    for (int round = 0; round < ROUNDS; round++) {
      final List<CompletableFuture<HttpResponse<String>>> scrapes =
          Stream.generate(() -> client.sendAsync(request, BodyHandlers.ofString()))
              .limit(SCRAPERS)
              .toList();
      for (final CompletableFuture<HttpResponse<String>> scrape : scrapes) {
        final String text = scrape.join().body();
        assertTrue(text.contains(sample), text);
      }
    }
  }

  @Test
  void otherPathsAndMethodsAreRefused() throws Exception {
    answers(404, "/metrics", "/");
    answers(404, "/metrics", "/metrics/../x");
    for (final String method : List.of("POST", "PUT", "DELETE")) {
      final HttpRequest.Builder request =
          HttpRequest.newBuilder().method(method, BodyPublishers.ofString("x"));
      assertEquals(405, send("/metrics", request).statusCode(), method);
    }
  }

  @Test
  void headHasTheHeadersOfGet() throws Exception {
    final HttpRequest.Builder request =
        HttpRequest.newBuilder().method("HEAD", BodyPublishers.noBody());
    final HttpResponse<String> head = send("/metrics", request);
    assertEquals(200, head.statusCode());
    assertEquals("", head.body());
    assertTrue(head.headers().firstValueAsLong("Content-Length").orElse(0) > 100, head::toString);
    final HttpResponse<String> get = send("/metrics", HttpRequest.newBuilder());
    assertEquals(
        get.headers().firstValue("Content-Type"), head.headers().firstValue("Content-Type"));
  }

  @Test
  void hostileBytesEndTheirConnectionsAlone() throws Exception {
    health.serve();
    final List<Socket> hostile = new ArrayList<>();
    try {
      for (final String bytes : HOSTILE) {
        hostile.add(connect(bytes));
      }
      answers(200, "ready", "/health/ready");
      for (final Socket each : hostile) {
        awaitEnd(each);
      }
    } finally {
      for (final Socket each : hostile) {
        each.close();
      }
    }
    answers(200, "ready", "/health/ready");
  }

  @Test
  void aRequestWithoutEndIsEnded() throws Exception {
    final byte[] chunk = new byte[64 * 1024];
    new Random(38).nextBytes(chunk);
    try (Socket hostile = connect("GET /metrics HTTP/1.1\r\nX: ")) {
      for (int i = 0; i < 1024; i++) {
        hostile.getOutputStream().write(chunk);
      }
      awaitEnd(hostile);
    } catch (SocketException e) {
      assertTrue(
          String.valueOf(e.getMessage()).matches(".*(reset|Broken pipe|abort).*"), e::toString);
    }
    answers(404, "/metrics", "/");
  }

  /** They wait with half a request each; those beyond the limit are closed at once. */
  @Test
  void aFloodOfConnectionsEnds() throws Exception {
    final List<Socket> hostile = new ArrayList<>();
    try {
      for (int i = 0; i < 4 * HttpPort.MAX_THREADS; i++) {
        hostile.add(connect("GET /metrics"));
      }
      for (final Socket each : hostile) {
        awaitEnd(each);
      }
    } finally {
      for (final Socket each : hostile) {
        each.close();
      }
    }
    answers(404, "/metrics", "/");
  }

  private Socket connect(String bytes) throws IOException {
    final Socket socket = new Socket(address.getHost(), address.getPort());
    socket.setSoTimeout(DEADLINE_MILLIS);
    socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
    return socket;
  }

  /** Reads what the server answers, until it closes the connection. */
  private static void awaitEnd(Socket socket) throws IOException {
    final InputStream in = socket.getInputStream();
    try {
      while (in.read() >= 0) {
        // an answer: 400 Bad Request
      }
    } catch (SocketException e) { // closed with bytes that nobody has read
      assertTrue(String.valueOf(e.getMessage()).contains("reset"), e::toString);
    }
  }
}
