package dev.ringfetch.index.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.Heartbeat;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.ReplicationGrpc;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The connections of a node to one that does not answer. */
@Timeout(60)
final class GrpcPeersTest {
  private static final Node SELF = Node.newBuilder().setId(1).setIncarnation(11).build();
  private final AtomicInteger streams = new AtomicInteger();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final GrpcPeers peers = new GrpcPeers(SELF, new Arrivals(), null);
  private RingServer server;
  private Node silent;

  /** A node that takes streams, and answers nothing. */
  private final class Silent extends ReplicationGrpc.ReplicationImplBase {
    @Override
    public StreamObserver<LeaderMessage> replicate(StreamObserver<MemberMessage> answers) {
      streams.incrementAndGet();
      return new StreamObserver<>() {
        @Override
        public void onNext(LeaderMessage message) {}

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onCompleted() {}
      };
    }
  }

  /** Notes that a connection ends. */
  private final class Arrivals implements IdlePeerListener {
    @Override
    public void onDisconnected(long node) {
      ended.countDown();
    }
  }

  @BeforeEach
  void start() throws Exception {
    server = RingServerBuilder.forPort(0).addService(new Silent()).build().start();
    silent =
        Node.newBuilder()
            .setId(2)
            .setIncarnation(12)
            .setAddress("localhost:" + server.getPort())
            .build();
  }

  @AfterEach
  void end() throws Exception {
    peers.close();
    server.shutdownNow();
    assertTrue(server.awaitTermination(20, TimeUnit.SECONDS));
  }

  private void awaitStreams(int count) throws InterruptedException {
    while (streams.get() < count) {
      Thread.sleep(1);
    }
  }

  @Test
  void aStreamWithoutAnAnswerIsGivenUpAndTriedAgain() throws Exception {
    peers.connect(silent);
    awaitStreams(1);
    long nowNs = System.nanoTime();
    peers.work(nowNs);
    for (int i = 0; i < 20 && ended.getCount() > 0; i++) {
      nowNs += peers.silenceNs() / 10;
      peers.work(nowNs);
    }
    assertEquals(0, ended.getCount());
    peers.work(nowNs + TimeUnit.MILLISECONDS.toNanos(GrpcPeers.RETRY_MILLIS));
    awaitStreams(2);
  }

  /** A stream that ends is the node's end for replicas, which are to wait as long as they say. */
  @Test
  void aStreamIsWaitedForLongerThanReplicasWaitForItsNode() throws Exception {
    final Duration timeout = Duration.ofMillis(Replicas.NODE_TIMEOUT_MAX_MS);
    peers.nodeTimeout(timeout);
    peers.connect(silent);
    awaitStreams(1);
    final long beginNs = System.nanoTime();
    final long stepNs = TimeUnit.MILLISECONDS.toNanos(500);
    final long waitNs = Replicas.NODE_TIMEOUTS_MOST * timeout.toNanos();
    for (long ns = 0; ns <= waitNs; ns += stepNs) {
      peers.work(beginNs + ns);
      assertEquals(1, ended.getCount(), "s=" + ns / 1e9);
    }
    for (long ns = waitNs; ended.getCount() > 0 && ns < 2 * waitNs; ns += stepNs) {
      peers.work(beginNs + ns);
    }
    assertEquals(0, ended.getCount());
  }

  /** A node that says what it takes, and notes the groups of messages that come. */
  private static final class Taking implements IdlePeerListener {
    private final Set<Long> groups = ConcurrentHashMap.newKeySet();

    @Override
    public Runnable onMessage(long leader, LeaderMessage message) {
      groups.add(message.getGroup());
      return () -> {};
    }
  }

  /** A node that notes which threads carry out messages, and waits in those of groups. */
  private static final class Waiting implements IdlePeerListener {
    private final BlockingQueue<String> threads = new LinkedBlockingQueue<>();
    private final CountDownLatch goesOn = new CountDownLatch(1);
    private final CountDownLatch gone = new CountDownLatch(1);

    @Override
    public Runnable onMessage(long leader, LeaderMessage message) {
      threads.add(Thread.currentThread().getName());
      return () -> {
        try {
          assertTrue(message.hasHeartbeat() || goesOn.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      };
    }

    @Override
    public void onLeaderGone(long leader) {
      gone.countDown();
    }
  }

  /** It has other connections to serve, and a heartbeat is to wake nothing else. */
  @Test
  void theNetworksThreadTakesHeartbeatsAlone() throws Exception {
    final Waiting waiting = new Waiting();
    final Node node = silent.toBuilder().setId(3).setAddress("").build();
    try (GrpcPeers member = new GrpcPeers(node, waiting, null)) {
      final Server other =
          NettyServerBuilder.forPort(0)
              .callExecutor(GrpcPeers.callExecutor())
              .addService(member.service())
              .build()
              .start();
      try {
        peers.connect(node.toBuilder().setAddress("localhost:" + other.getPort()).build());
        final LeaderMessage heartbeat =
            LeaderMessage.newBuilder().setHeartbeat(Heartbeat.getDefaultInstance()).build();
        while (!peers.send(node.getId(), heartbeat)) {
          Thread.sleep(1);
        }
        assertTrue(peers.send(node.getId(), message(5, 1)));
        final String network = waiting.threads.take();
        assertTrue(network.startsWith("grpc-default-worker"), network);
        assertEquals("index-replication", waiting.threads.take());
        peers.disconnect(node.getId());
        assertFalse(waiting.gone.await(200, TimeUnit.MILLISECONDS), "gone before its message ends");
        waiting.goesOn.countDown();
        waiting.gone.await();
      } finally {
        other.shutdownNow();
        assertTrue(other.awaitTermination(20, TimeUnit.SECONDS));
      }
    }
  }

  private static LeaderMessage message(long group, int length) {
    return LeaderMessage.newBuilder()
        .setGroup(group)
        .setSnapshot(ByteString.copyFrom(new byte[length]))
        .build();
  }

  /** It would end the stream, and with it what other groups have under way. */
  @Test
  void aMessageThatTheNodeDoesNotTakeIsNotSentAndTheOthersAre() throws Exception {
    final Taking taking = new Taking();
    final Node node = silent.toBuilder().setId(3).setAddress("").build();
    try (GrpcPeers member = new GrpcPeers(node, taking, null)) {
      final RingServer other =
          RingServerBuilder.forPort(0).addService(member.service()).build().start();
      try {
        peers.connect(node.toBuilder().setAddress("localhost:" + other.getPort()).build());
        while (!peers.send(node.getId(), message(5, 1))) {
          Thread.sleep(1);
        }
        assertFalse(peers.send(node.getId(), message(6, ReplicationService.MESSAGE_LIMIT)));
        assertFalse(peers.send(node.getId(), message(7, 5 << 20)));
        assertTrue(peers.send(node.getId(), message(8, ReplicationService.MESSAGE_LIMIT - 100)));
        while (!taking.groups.contains(8L)) {
          Thread.sleep(1);
        }
        assertEquals(Set.of(5L, 8L), taking.groups);
        assertEquals(1, ended.getCount(), "the connection has ended");
      } finally {
        other.shutdownNow();
        assertTrue(other.awaitTermination(20, TimeUnit.SECONDS));
      }
    }
  }

  @Test
  void aTimeInWhichThisProcessStoodStillIsNoSilence() throws Exception {
    peers.connect(silent);
    awaitStreams(1);
    final long nowNs = System.nanoTime();
    peers.work(nowNs);
    peers.work(nowNs + 3 * peers.silenceNs());
    peers.work(nowNs + 3 * peers.silenceNs() + 1);
    assertEquals(1, ended.getCount());
    assertFalse(peers.send(silent.getId(), LeaderMessage.getDefaultInstance()));
  }
}
