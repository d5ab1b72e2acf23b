package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import dev.ringfetch.session.ClientSession;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A connection over which a ring was opened: its pings, and how long it and its session last. */
final class ConnectionRulesTest extends RingFixture {
  private static final int PING_INTERVAL_MS = 400;
  private static final long IDLE_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int PINGS =
      6; // after the third without a pulse between them the server would go
  private static final byte[] PING = {0, 0, 8, 6, 0, 0, 0, 0, 0, 7, 7, 7, 7, 7, 7, 7, 7};

  @Test
  void aServerBearsThePingsOfAClientWhoseCallsAreOnARing() throws Exception {
    final RingServer server = serve(Bytes.digesting());
    final List<Channel> connections = new CopyOnWriteArrayList<>(); // one for each address
    final EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    try {
      final RingChannel channel =
          connect(
              RingChannelBuilder.over(
                      NettyChannelBuilder.forAddress("localhost", server.getPort())
                          .usePlaintext()
                          .eventLoopGroup(group)
                          .channelFactory(
                              () -> {
                                final NioSocketChannel connection = new NioSocketChannel();
                                connections.add(connection);
                                return connection;
                              }),
                      "pinging")
                  .shmDirectory(directory)
                  .pulse(Duration.ofMillis(200)));
      final CompletableFuture<Status> end = new CompletableFuture<>();
      final ClientCall<byte[], byte[]> open = RingFixture.newGrpcCall(channel);
      open.start(
          new ClientCall.Listener<>() {
            @Override
            public void onClose(Status status, Metadata trailers) {
              end.complete(status);
            }
          },
          new Metadata());
      final ClientSession session = channel.ring().session();
      for (int i = 0; i < PINGS; i++) {
        connections.stream().filter(Channel::isActive).forEach(ConnectionRulesTest::ping);
        assertEquals(i, call(channel, i).length);
        Thread.sleep(PING_INTERVAL_MS);
      }
      assertFalse(end.isDone(), () -> end.join().toString());
      assertEquals(null, session.endReason());
      open.cancel("done", null);
    } finally {
      close(); // first: a channel whose threads have ended does not end
      final Future<?> unused = group.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    }
  }

  @Test
  void anIdleSessionEndsAndItsConnectionToo() throws Exception {
    final RingServer server =
        serve(Bytes.digesting(), options -> options.maxConnectionIdle(1, TimeUnit.SECONDS));
    final RingChannel channel = connect(builder());
    assertEquals(1, call(channel, 1).length);
    final ClientSession session = channel.ring().session();
    final long startNs = System.nanoTime();
    while (System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(1500)) {
      assertEquals(1, call(channel, 1).length); // which keeps it
      Thread.sleep(20);
    }
    assertEquals(null, session.endReason());
    await("end", session::hasEnded);
    await("server's", () -> server.sessionCount() == 0);
    await("idle", () -> channel.getState(false) == ConnectivityState.IDLE);
    assertEquals(1, call(channel, 1).length);
    connectAgain(channel);
  }

  @Test
  void aSessionWithACallIsNotIdle() throws Exception {
    final CompletableFuture<Void> go = new CompletableFuture<>();
    serve(
        ServerCalls.asyncUnaryCall(
            (request, responses) -> {
              go.join();
              responses.onNext(request);
              responses.onCompleted();
            }),
        options -> options.rules(new ConnectionRules(IDLE_NS, Long.MAX_VALUE, Long.MAX_VALUE)));
    final RingChannel channel = connect(builder());
    final ClientSession session = channel.ring().session();
    final ListenableFuture<byte[]> response =
        ClientCalls.futureUnaryCall(
            channel.newCall(Bytes.METHOD, CallOptions.DEFAULT), new byte[1]);
    Thread.sleep(TimeUnit.NANOSECONDS.toMillis(5 * IDLE_NS));
    assertFalse(session.isDraining());
    go.complete(null);
    assertEquals(1, response.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).length);
    await("end", session::hasEnded);
  }

  @Test
  void noTimeIsShorterThanOfGrpc() {
    final ConnectionRules rules = ConnectionRules.NONE.withIdle(1).withAge(1).withGrace(1);
    assertEquals(new ConnectionRules(1_000_000_000, 1_000_000_000, 1), rules);
  }

  @Test
  void anOldSessionGivesWayToANewOne() throws Exception {
    serve(Bytes.digesting(), options -> options.maxConnectionAge(1, TimeUnit.SECONDS));
    final RingChannel channel = connect(builder());
    final ClientSession session = channel.ring().session();
    await(
        "another session",
        () -> {
          assertEquals(1, call(channel, 1).length);
          final var ring = channel.ring();
          return ring != null && ring.session() != session;
        });
    await("end", session::hasEnded);
  }

  @Test
  @Tag("slow")
  void aSubscriptionOutlivesAMinuteOfCallsOnARing() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(builder().keepAliveTime(10, TimeUnit.SECONDS));
    final CompletableFuture<Status> end = new CompletableFuture<>();
    final ClientCall<byte[], byte[]> open = RingFixture.newGrpcCall(channel);
    open.start(
        new ClientCall.Listener<>() {
          @Override
          public void onClose(Status status, Metadata trailers) {
            end.complete(status);
          }
        },
        new Metadata());
    for (int i = 0; i < 60; i++) {
      assertEquals(i, call(channel, i).length);
      Thread.sleep(1000);
    }
    assertFalse(end.isDone(), () -> end.join().toString());
    open.cancel("done", null);
  }

  /** Beside gRPC's own handlers, which do not know of it. */
  private static void ping(Channel connection) {
    final Future<?> unused =
        connection.pipeline().firstContext().writeAndFlush(Unpooled.copiedBuffer(PING));
  }

  private static void connectAgain(RingChannel channel) throws Exception {
    assertTrue(channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).isOpen());
  }
}
