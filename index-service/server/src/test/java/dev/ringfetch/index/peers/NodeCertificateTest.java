package dev.ringfetch.index.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.tls.TlsFiles;
import dev.ringfetch.index.v1.Introduction;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.ReplicationGrpc;
import dev.ringfetch.rpc.Authority;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Callers with a certificate of the authority that say that they are a node. */
@Timeout(120)
final class NodeCertificateTest {
  private static final Authority AUTHORITY = new Authority("authority");
  private static final Node SELF = Node.newBuilder().setId(1).setIncarnation(11).build();
  private static final Node LEADER = Node.newBuilder().setId(2).setIncarnation(12).build();

  @TempDir Path directory;
  private final AtomicInteger disconnected = new AtomicInteger();
  private volatile @Nullable Node announced;
  private GrpcPeers peers;
  private Server server;

  private TlsFiles files(String host) throws IOException {
    final Path certificate = directory.resolve("cert.pem");
    final Path key = directory.resolve("key.pem");
    AUTHORITY.issue("somebody", host).write(certificate, key);
    return new TlsFiles(certificate, key, AUTHORITY.write(directory.resolve("ca.pem")));
  }

  @BeforeEach
  void start() throws IOException {
    final TlsFiles own = files("localhost");
    peers = new GrpcPeers(SELF, new Arrivals(), null);
    peers.credentials(own.channel());
    server =
        Grpc.newServerBuilderForPort(0, own.server()).addService(peers.service()).build().start();
  }

  @AfterEach
  void end() throws InterruptedException {
    peers.close();
    assertTrue(server.shutdownNow().awaitTermination(60, TimeUnit.SECONDS));
  }

  /** The code with which the service ends the stream of the leader; OK if it accepts the stream. */
  private Status.Code call(String host) throws Exception {
    final ManagedChannel channel =
        Grpc.newChannelBuilder("localhost:" + server.getPort(), files(host).channel()).build();
    final CompletableFuture<Status.Code> ended = new CompletableFuture<>();
    try {
      final StreamObserver<LeaderMessage> stream =
          ReplicationGrpc.newStub(channel)
              .replicate(
                  new StreamObserver<>() {
                    @Override
                    public void onNext(MemberMessage answer) {
                      ended.complete(Status.Code.OK);
                    }

                    @Override
                    public void onError(Throwable failure) {
                      ended.complete(Status.fromThrowable(failure).getCode());
                    }

                    @Override
                    public void onCompleted() {
                      ended.complete(Status.Code.UNKNOWN);
                    }
                  });
      stream.onNext(
          LeaderMessage.newBuilder()
              .setIntroduction(
                  Introduction.newBuilder()
                      .setLeader(LEADER)
                      .setNode(SELF.getId())
                      .setIncarnation(SELF.getIncarnation()))
              .build());
      return ended.get(60, TimeUnit.SECONDS);
    } finally {
      channel.shutdownNow();
    }
  }

  private void announce(String address) {
    announced = LEADER.toBuilder().setAddress(address).build();
  }

  @Test
  void aNodeShowsACertificateOfItsAddress() throws Exception {
    announce("node2.example:50051");
    assertEquals(Status.Code.OK, call("node2.example"));
    assertEquals(Status.Code.OK, call("NODE2.example"));
    assertEquals(Status.Code.OK, call("*.example"));
    announce("10.0.0.2:50051");
    assertEquals(Status.Code.OK, call("10.0.0.2"));
    announce("[fd00::2]:50051");
    assertEquals(Status.Code.OK, call("fd00:0:0::2"));
  }

  @Test
  void aClientIsNoNode() throws Exception {
    announce("node2.example:50051");
    for (final String host :
        new String[] {
          "client.example", "node2.example.org", "*.node2.example", "*.com", "2.example", "10.0.0.2"
        }) {
      assertEquals(Status.Code.PERMISSION_DENIED, call(host), host);
    }
    announce("a.node2.example:50051");
    assertEquals(Status.Code.PERMISSION_DENIED, call("*.example"));
    announce("10.0.0.2:50051");
    assertEquals(Status.Code.PERMISSION_DENIED, call("10.0.0.3"));
    announce("example:50051");
    assertEquals(Status.Code.PERMISSION_DENIED, call("*.example"));
  }

  @Test
  void aNodeThatIsNotAnnouncedIsNotKnown() throws Exception {
    assertEquals(Status.Code.PERMISSION_DENIED, call("node2.example"));
    announce("node2.example:50051");
    announced = announced.toBuilder().setIncarnation(13).build(); // another process
    assertEquals(Status.Code.PERMISSION_DENIED, call("node2.example"));
  }

  /** Retries go on, as the files may change. */
  @Test
  void aNodeWhoseCertificateIsRefusedIsLoggedOnce() throws Exception {
    final Node other = LEADER.toBuilder().setAddress("127.0.0.1:" + server.getPort()).build();
    final List<String> logged = new CopyOnWriteArrayList<>();
    final Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord line) {
            logged.add(new SimpleFormatter().formatMessage(line));
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    final Logger logger = Logger.getLogger(GrpcPeers.class.getName());
    logger.addHandler(handler);
    try {
      peers.connect(other); // the certificate is for localhost
      while (disconnected.get() < 3) {
        peers.work();
        Thread.sleep(1);
      }
      assertEquals(1, logged.size(), logged::toString);
      assertTrue(logged.get(0).contains("address=" + other.getAddress()), logged::toString);
    } finally {
      logger.removeHandler(handler);
    }
  }

  /** All callers are nodes by their numbers. */
  private final class Arrivals implements IdlePeerListener {
    @Override
    public void onDisconnected(long node) {
      disconnected.incrementAndGet();
    }

    @Override
    public @Nullable Node announced(long node) {
      return announced;
    }
  }
}
