package dev.ringfetch.index.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.coordinator.Party;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.rpc.Authority;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException.NoAuthException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes and clients that reach a ZooKeeper by TLS and SASL, or do not. */
@Timeout(300)
final class SecureZooKeeperTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration SESSION = Duration.ofSeconds(2);
  private static final Authority AUTHORITY = new Authority("authority");
  private static final Authority OTHER = new Authority("other");
  private static final Node NODE =
      Node.newBuilder().setId(7).setIncarnation(1).setAddress("host:1").build();

  private static final String TLS =
      """
      zookeeper.client.secure = true
      zookeeper.ssl.trustStore.location = DIRECTORY/ca.pem
      """;
  private static final String CERTIFICATE =
      "zookeeper.ssl.keyStore.location = DIRECTORY/client.pem\n";
  private static final String USER = "user = ringfetch\npassword = word-of-ringfetch\n";

  @TempDir private static Path directory;
  private static SecureZooKeeper zooKeeper;
  private static final AtomicInteger FILES = new AtomicInteger();

  @BeforeAll
  static void start() throws Exception {
    AUTHORITY.write(directory.resolve("ca.pem"));
    OTHER.write(directory.resolve("other-ca.pem"));
    SecureZooKeeper.pem(directory.resolve("client.pem"), "client", AUTHORITY);
    SecureZooKeeper.pem(directory.resolve("guest.pem"), "guest", AUTHORITY);
    SecureZooKeeper.pem(directory.resolve("other.pem"), "client", OTHER);
    zooKeeper =
        SecureZooKeeper.start(
            directory,
            AUTHORITY,
            "user_ringfetch=\"word-of-ringfetch\" user_guest=\"word-of-guest\"");
  }

  @AfterAll
  static void stop() {
    zooKeeper.close();
  }

  private static Path file(String content) throws IOException {
    final Path file = directory.resolve("config" + FILES.incrementAndGet());
    Files.writeString(file, content.replace("DIRECTORY", directory.toString()));
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
  }

  private static URI address(String cluster, String content) throws IOException {
    return URI.create(
        "zk://127.0.0.1:" + zooKeeper.port() + "/" + cluster + "?config=" + file(content));
  }

  private static List<String> find(String cluster, String content, Duration limit)
      throws IOException {
    return new ZooKeeperNodeFinder().find(address(cluster, content), limit);
  }

  @Test
  void aNodeAndAClientWithCertificateAndPasswordServe() throws Exception {
    final Party node =
        new Party(
            new ZooKeeperProvider().open(address("served", TLS + CERTIFICATE + USER)),
            new Random(SEED));
    try {
      node.awaitConnected();
      final GroupState won = node.await(Result.DONE, node.create("index", 1));
      node.await(Result.DONE, node.establish(won));
      node.coordinator().announce(NODE);
      node.await("the node", () -> NODE.equals(node.nodes().get(7L)));
      assertEquals(List.of("host:1"), find("served", TLS + CERTIFICATE + USER, LIMIT));
      final String guest =
          TLS + CERTIFICATE.replace("client", "guest") + USER.replace("ringfetch", "guest");
      try (CuratorFramework client =
          CuratorFrameworkFactory.builder()
              .connectString("127.0.0.1:" + zooKeeper.port())
              .retryPolicy(new RetryOneTime(100))
              .zkClientConfig(ZooKeeperConfig.read(file(guest)).client())
              .build()) {
        client.start();
        final String path = "/ringfetch/served/groups/" + Long.toHexString(won.getGroup());
        assertThrows(NoAuthException.class, () -> client.getData().forPath(path));
        assertThrows(NoAuthException.class, () -> client.setData().forPath(path, new byte[0]));
      }
    } finally {
      node.coordinator().close();
    }
  }

  @Test
  void aNodeThatHasLostItsSessionReturns() throws Exception {
    final TcpProxy proxy = new TcpProxy(zooKeeper.port());
    final Party node =
        new Party(
            new ZooKeeperCoordinator(
                new ZooKeeperAddress(
                    proxy.address(),
                    "returned",
                    SESSION,
                    ZooKeeperConfig.read(file(TLS + CERTIFICATE + USER)))),
            new Random(SEED));
    try {
      node.awaitConnected();
      node.coordinator().announce(NODE);
      node.await("the node", () -> NODE.equals(node.nodes().get(7L)));
      proxy.cut();
      node.await("away", () -> !node.isConnected());
      while (!find("returned", TLS + CERTIFICATE + USER, LIMIT).isEmpty()) {
        Thread.sleep(100); // its session goes on
      }
      proxy.resume();
      node.awaitConnected();
      node.await("the node", () -> NODE.equals(node.nodes().get(7L)));
      final GroupState won = node.await(Result.DONE, node.create("index", 1));
      node.await(Result.DONE, node.establish(won));
    } finally {
      node.coordinator().close();
      proxy.close();
    }
  }

  @Test
  void aRenewedCertificateCountsFromTheNextConnectionOn() throws Exception {
    final Path shown = directory.resolve("renewed.pem");
    Files.copy(directory.resolve("client.pem"), shown);
    final TcpProxy proxy = new TcpProxy(zooKeeper.port());
    final Party node =
        new Party(
            new ZooKeeperCoordinator(
                new ZooKeeperAddress(
                    proxy.address(),
                    "renewed",
                    SESSION,
                    ZooKeeperConfig.read(
                        file(TLS + CERTIFICATE.replace("client", "renewed") + USER)))),
            new Random(SEED));
    try {
      node.awaitConnected();
      Files.copy(directory.resolve("other.pem"), shown, StandardCopyOption.REPLACE_EXISTING);
      proxy.cut();
      node.await("away", () -> !node.isConnected());
      proxy.resume();
      assertThrows(
          IOException.class,
          () -> find("renewed", TLS + CERTIFICATE.replace("client", "renewed") + USER, SESSION));
      assertFalse(node.isConnected(), "the certificate of another authority");
      SecureZooKeeper.pem(shown, "client", AUTHORITY);
      node.awaitConnected();
    } finally {
      node.coordinator().close();
      proxy.close();
    }
  }

  /** No answer comes in three times as long as one takes beside it with a right file. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "zookeeper.client.secure = false\n" + USER,
        TLS + USER,
        TLS + "zookeeper.ssl.keyStore.location = DIRECTORY/other.pem\n" + USER,
        "zookeeper.client.secure = true\n"
            + "zookeeper.ssl.trustStore.location = DIRECTORY/other-ca.pem\n"
            + CERTIFICATE
            + USER,
        TLS + CERTIFICATE,
        TLS + CERTIFICATE + "user = ringfetch\npassword = word-of-guest\n",
        TLS + CERTIFICATE + "user = nobody\npassword = word-of-ringfetch\n"
      })
  void whoShowsNoCertificateOrPasswordOrAWrongOneIsNotServed(String content) throws Exception {
    Duration limit = Duration.ofSeconds(3);
    boolean isLongEnough;
    do {
      final CompletableFuture<Long> right =
          CompletableFuture.supplyAsync(SecureZooKeeperTest::rightFindNs);
      final Duration tried = limit;
      final IOException refused =
          assertThrows(IOException.class, () -> find("refused", content, tried));
      assertTrue(refused.getMessage().startsWith("no answer within"), refused::getMessage);
      isLongEnough = right.get(90, TimeUnit.SECONDS) < limit.toNanos() / 3;
      limit = limit.multipliedBy(2);
    } while (!isLongEnough);
  }

  /** How long the nodes take to be found with a right file. */
  private static long rightFindNs() {
    final long beginNs = System.nanoTime();
    try {
      assertEquals(List.of(), find("refused", TLS + CERTIFICATE + USER, LIMIT));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return System.nanoTime() - beginNs;
  }

  @Test
  void aWrongPasswordIsLoggedAndNoPasswordIs() throws Exception {
    final List<String> lines = Collections.synchronizedList(new ArrayList<>());
    final Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord line) {
            lines.add(
                line.getMessage()
                    + List.of(line.getParameters() == null ? new Object[0] : line.getParameters())
                    + line.getThrown());
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    final Logger root = Logger.getLogger("");
    root.addHandler(handler);
    try {
      assertThrows(
          IOException.class,
          () ->
              find(
                  "refused",
                  TLS + CERTIFICATE + "user = ringfetch\npassword = word-of-others\n",
                  Duration.ofSeconds(3)));
    } finally {
      root.removeHandler(handler);
    }
    final String all = String.join("\n", lines);
    assertTrue(all.contains("ZooKeeper refuses the user or the password"), all);
    assertTrue(all.contains("zk://127.0.0.1:" + zooKeeper.port() + "/refused"), all);
    assertFalse(all.contains("word-of"), all);
  }
}
