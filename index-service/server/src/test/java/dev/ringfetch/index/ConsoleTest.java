package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.util.JsonFormat;
import dev.ringfetch.index.rights.PasswordHash;
import dev.ringfetch.index.rights.Rights;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.ServerView;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the console answers; {@code .ci/console} opens it in a browser. */
@Timeout(120)
final class ConsoleTest {
  private final ServerHealth health = new ServerHealth();
  private final MetricsEndpoint endpoint = new MetricsEndpoint(health, null);
  private Predicate<String> letsLook = authorization -> true;
  private URI address;

  @BeforeEach
  void listen() throws IOException {
    address =
        URI.create(
            endpoint.listenForBrowsers(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), letsLook));
  }

  @AfterEach
  void stop() {
    endpoint.close();
  }

  private HttpResponse<String> get(String path) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(address.resolve(path)).timeout(Duration.ofMinutes(1)).build(),
            BodyHandlers.ofString());
  }

  private ServerView state() throws Exception {
    final ServerView.Builder state = ServerView.newBuilder();
    JsonFormat.parser().merge(get("/state").body(), state);
    return state.build();
  }

  @Test
  void aPageAsksForStateAndMetrics() throws Exception {
    final HttpResponse<String> page = get("/");
    assertEquals(200, page.statusCode());
    assertTrue(page.body().contains("<script src=\"console.js\""), page.body());
    assertEquals(
        "default-src 'self'", page.headers().firstValue("Content-Security-Policy").orElseThrow());
    assertTrue(get("/console.js").body().contains("fetch('state')"));
    assertTrue(get("/console.css").body().contains("table"));
    assertTrue(get("/metrics").body().contains("ringfetch_index_ready"));
    assertEquals(404, get("/else").statusCode());
    assertTrue(state().getHealth().contains("reads its journal"));
  }

  /** A browser that was told that another name is this host's sends that name. */
  @Test
  void requestsForOtherHostsGetNothing() throws Exception {
    for (final String host : new String[] {"a.example", "localhost.a.example", "127.0.0.1.b", ""}) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), address.getPort())) {
        socket.setSoTimeout(60_000);
        socket
            .getOutputStream()
            .write(
                ("GET /state HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
        final String answer =
            new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(answer.startsWith("HTTP/1.1 403 "), answer);
        assertFalse(answer.contains("version"), answer);
      }
    }
  }

  @Test
  void onAServerOfUsersItIsForThoseWhoMayReadAll(@TempDir Path directory) throws Exception {
    final Path users = directory.resolve("users");
    Files.write(
        users,
        List.of(
            "ann " + PasswordHash.of("secret of ann").text() + " read:*",
            "bob " + PasswordHash.of("secret of bob").text() + " admin:orders"));
    Files.setPosixFilePermissions(users, PosixFilePermissions.fromString("rw-------"));
    try (Rights rights = new Rights(users)) {
      letsLook = rights::letsLook;
      listen();
      final HttpResponse<String> nobody = get("/state");
      assertEquals(401, nobody.statusCode());
      assertTrue(
          nobody.headers().firstValue("WWW-Authenticate").orElseThrow().startsWith("Basic "));
      assertFalse(nobody.body().contains("version"), nobody::body);
      for (final String path : List.of("/", "/state", "/metrics")) {
        assertEquals(401, get(path, "ann:a guess").statusCode());
        assertEquals(401, get(path, "eve:a guess").statusCode());
        assertEquals(401, get(path, "bob:secret of bob").statusCode());
        assertEquals(200, get(path, "ann:secret of ann").statusCode());
      }
    }
  }

  private HttpResponse<String> get(String path, String userAndPassword) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(address.resolve(path))
                .timeout(Duration.ofMinutes(1))
                .header(
                    "Authorization",
                    "Basic "
                        + Base64.getEncoder()
                            .encodeToString(userAndPassword.getBytes(StandardCharsets.UTF_8)))
                .build(),
            BodyHandlers.ofString());
  }

  @Test
  void theStateHasIndexesAndTheSlowestCalls() throws Exception {
    final Indexes indexes = new Indexes(IndexMemory.ofProcess(LocalServer.MEMORY));
    endpoint.measure(indexes);
    final Server server =
        IndexServer.addServices(ServerBuilder.forPort(0), indexes, health.grpc()).build().start();
    final ManagedChannel channel =
        ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
    try {
      for (int i = 0; i < 3; i++) {
        IndexGrpc.newBlockingStub(channel)
            .put(PutRequest.newBuilder().setKey(ByteString.copyFromUtf8("k" + i)).build());
      }
      health.start();
      health.recovered();
      health.serve();
      ServerView state = state();
      while (state.getSlowCallsCount() < 3) { // counted when they have ended, after their answers
        state = state();
      }
      assertEquals("ready", state.getHealth());
      assertTrue(state.getVersion().startsWith("ringfetch index-server "), state::getVersion);
      assertEquals("default", state.getIndexes(0).getName());
      assertEquals(3, state.getIndexes(0).getEntries());
      assertFalse(state.hasCluster());
      assertEquals("ringfetch.index.v1.Index/Put", state.getSlowCalls(0).getMethod());
      assertEquals("OK", state.getSlowCalls(0).getStatus());
    } finally {
      channel.shutdownNow();
      server.shutdownNow();
      indexes.close();
    }
  }
}
