package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.tls.TlsFiles;
import dev.ringfetch.rpc.Authority;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ServerCredentials;
import io.grpc.Status;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Clients of a server with mutual TLS: with the right certificate, and without. */
@Timeout(300)
final class TlsTest {
  private static final Authority AUTHORITY = new Authority("authority");
  private static final Authority OTHER = new Authority("other");

  /** Nothing; records that are longer than what follows, or shorter; and HTTP/2 in plaintext. */
  private static final byte[][] BEGINNINGS = {
    {},
    {22, 3, 1, 64, 0},
    {22, 3, 3, 0, 4, 1, 0, 0, 0},
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII)
  };

  @TempDir Path directory;

  /** The files of one side. */
  private TlsFiles files(Authority.Identity identity, Authority trusted) throws IOException {
    final Path certificate = directory.resolve("cert.pem");
    final Path key = directory.resolve("key.pem");
    if (identity != null) {
      identity.write(certificate, key);
    }
    return new TlsFiles(
        identity == null ? null : certificate,
        identity == null ? null : key,
        trusted.write(directory.resolve("ca.pem")));
  }

  private TlsFiles server() throws IOException {
    return files(AUTHORITY.issue("server"), AUTHORITY);
  }

  private static HashIndex<String, Long> index(IndexClient client) {
    return client.hash("tls", Codec.string(), Codec.int64());
  }

  @Test
  void aClientWithACertificateReadsTheServersMemory() throws Exception {
    assertEquals(Set.of(Access.DIRECT), routesOfReads(builder -> {}));
  }

  /** The answers are the same where encrypted calls are kept off shared memory: all are calls. */
  @Test
  void memoryIsNotReadWhereEncryptedCallsStayOffIt() throws Exception {
    assertEquals(Set.of(Access.RPC), routesOfReads(RingServerBuilder::plaintextFabrics));
  }

  /** Reads a key, searches, and finds the nearest entries; returns by which routes. */
  private Set<Access> routesOfReads(Consumer<RingServerBuilder> settings) throws Exception {
    final ChannelCredentials known = files(AUTHORITY.issue("client"), AUTHORITY).channel();
    final Set<Access> routes = EnumSet.noneOf(Access.class);
    try (TestServer server = TestServer.start(directory, server().server(), settings);
        IndexClient client =
            server
                .builder()
                .credentials(known)
                .metrics(
                    (operation, index, route, code, ns) -> {
                      if (!operation.isWriting()) {
                        routes.add(route);
                      }
                    })
                .build()) {
      final SpatialIndex<String, Long> places =
          client.spatial("places", Codec.string(), Codec.int64()).access(Access.DIRECT);
      places.put("a", Box.of(1, 1), 1L);
      places.put("b", Box.of(1, 3), 2L);
      assertEquals(Box.of(1, 3), places.get("b").orElseThrow().box());
      final var found = places.intersecting(new Box(0, 0, 2, 2)).toList();
      assertEquals(List.of(1L), found.stream().map(entry -> entry.value().value()).toList());
      assertEquals(2, places.nearest(new Point(0, 0), 3).size());
    }
    return routes;
  }

  /** Fails unless each operation ends UNAVAILABLE with the reason, once there is time for it. */
  private static void assertStranger(
      String reason, TestServer server, ChannelCredentials credentials) {
    for (long millis = 200; ; millis *= 2) {
      try (IndexClient client =
          server.builder().credentials(credentials).deadline(Duration.ofMillis(millis)).build()) {
        final HashIndex<String, Long> index = index(client);
        assertUnavailable(reason, () -> index.get("a"));
        assertUnavailable(reason, () -> index.put("a", 1L));
        assertUnavailable(reason, () -> index.access(Access.DIRECT).get("a"));
        return;
      } catch (DeadlineException e) { // before the handshake has failed, on a busy machine
        assertTrue(millis < 30_000, e::toString);
      }
    }
  }

  private static void assertUnavailable(String reason, Executable operation) {
    final IndexException refused = assertThrows(IndexException.class, operation);
    if (refused instanceof DeadlineException late) {
      throw late;
    }
    assertEquals(Status.Code.UNAVAILABLE, refused.code(), refused::toString);
    assertTrue(refused.getMessage().contains(reason), refused::toString);
  }

  /** The reason is an alert, unless the end of the connection overtakes it. */
  @Test
  void clientsThatTheServerDoesNotKnowAreRefusedInTime() throws Exception {
    try (TestServer server = TestServer.start(directory, server().server())) {
      assertStranger("", server, files(null, AUTHORITY).channel());
      assertStranger("", server, files(OTHER.issue("client"), AUTHORITY).channel());
      assertStranger("", server, files(AUTHORITY.issueExpired("client"), AUTHORITY).channel());
      assertStranger("", server, InsecureChannelCredentials.create());
    }
  }

  private void assertUntrusted(String reason, ServerCredentials credentials) throws IOException {
    try (TestServer server = TestServer.start(directory, credentials)) {
      assertStranger(reason, server, files(AUTHORITY.issue("client"), AUTHORITY).channel());
    }
  }

  @Test
  void serversThatTheClientDoesNotKnowGetNoCall() throws Exception {
    assertUntrusted("certification path", files(OTHER.issue("server"), AUTHORITY).server());
    assertUntrusted(
        "validity check failed", files(AUTHORITY.issueExpired("server"), AUTHORITY).server());
    assertUntrusted(
        "localhost", files(AUTHORITY.issue("server", "elsewhere.example"), AUTHORITY).server());
    assertUntrusted("not an SSL/TLS record", InsecureServerCredentials.create());
  }

  @Test
  void aReplacedCertificateIsThatOfNewConnections() throws Exception {
    final TlsFiles ofServer = files(AUTHORITY.issue("server"), AUTHORITY);
    final Path certificate = directory.resolve("cert.pem");
    final Path key = directory.resolve("key.pem");
    final Path trusted = directory.resolve("ca.pem");
    final ChannelCredentials before;
    final ChannelCredentials after;
    try (TestServer server = TestServer.start(directory, ofServer.server())) {
      before = new TlsFiles(certificate, key, trusted).channel();
      try (IndexClient old = server.builder().credentials(before).build()) {
        final HashIndex<String, Long> index = index(old);
        index.put("a", 1L);
        final Watch<String, Long> watch = index.watch(WatchOptions.fromNow());
        OTHER.issue("server").write(certificate, key);
        OTHER.write(trusted);
        ofServer.refresh();
        after = new TlsFiles(certificate, key, trusted).channel();
        try (IndexClient fresh = server.builder().credentials(after).build()) {
          assertEquals(Optional.of(1L), index(fresh).get("a"));
          index(fresh).put("a", 2L);
        }
        assertEquals(Optional.of(2L), index.get("a")); // over the old connection
        assertTrue(watch.next(Duration.ofSeconds(60)).isPresent());
        watch.close();
        assertStranger("certification path", server, before);
        final Path formerCertificate = directory.resolve("former.pem");
        final Path formerKey = directory.resolve("former-key.pem");
        AUTHORITY.issue("former").write(formerCertificate, formerKey);
        final TlsFiles former = new TlsFiles(formerCertificate, formerKey, trusted);
        assertStranger("", server, former.channel());
      }
    }
  }

  /** Bytes that are no handshake, seed after seed, beside a client that goes on. */
  @Test
  void hostileBytesDoNoHarmToOthers() throws Exception {
    try (TestServer server = TestServer.start(directory, server().server());
        IndexClient client =
            server
                .builder()
                .credentials(files(AUTHORITY.issue("client"), AUTHORITY).channel())
                .build()) {
      final HashIndex<String, Long> index = index(client);
      final int port = Integer.parseInt(server.target().replaceAll(".*:", ""));
      for (int seed = 0; seed < 40; seed++) {
        send(port, hostile(new Random(seed), BEGINNINGS[seed % BEGINNINGS.length]));
        index.put("a", (long) seed);
        assertEquals(Optional.of((long) seed), index.get("a"));
      }
    }
  }

  private static byte[] hostile(Random random, byte[] beginning) {
    final byte[] bytes = new byte[beginning.length + 1 + random.nextInt(2_000)];
    random.nextBytes(bytes);
    System.arraycopy(beginning, 0, bytes, 0, beginning.length);
    return bytes;
  }

  /** Sends bytes, and waits until the server ends the connection. */
  private static void send(int port, byte[] bytes) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(bytes);
      socket.shutdownOutput();
      socket.getInputStream().transferTo(OutputStream.nullOutputStream());
    } catch (SocketException e) {
      // The server has reset the connection.
    }
  }
}
