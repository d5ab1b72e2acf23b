package dev.ringfetch.rpc;

import static dev.ringfetch.rpc.TransportContract.assertStatus;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two servers on one host behind a proxy that reads calls: each gets those that it would get. */
class AcrossProxiesTest {
  private static final int CALLS = 200;
  private static final MethodDescriptor<byte[], byte[]> A = Bytes.method("a.Service/Call");
  private static final MethodDescriptor<byte[], byte[]> B = Bytes.method("b.Service/Call");

  private final RingHarness files = new RingHarness(); // for its directory
  private final List<Server> servers = new ArrayList<>();
  private final List<ManagedChannel> channels = new ArrayList<>();
  private Layer7Proxy proxy;
  private RingChannel channel;

  @AfterEach
  void close() throws Exception {
    channels.forEach(ManagedChannel::shutdownNow);
    for (final ManagedChannel each : channels) {
      assertTrue(each.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
    if (proxy != null) {
      proxy.close();
    }
    servers.forEach(Server::shutdownNow);
    for (final Server server : servers) {
      assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
    files.close();
  }

  /** A server of one method, which counts its calls; the channel that a proxy has to it. */
  private Channel serve(
      MethodDescriptor<byte[], byte[]> method,
      AtomicInteger calls,
      UnaryOperator<RingServerBuilder> options)
      throws Exception {
    final Server server =
        options
            .apply(files.newServerBuilder(0, InsecureServerCredentials.create()))
            .addService(
                ServerServiceDefinition.builder(method.getServiceName())
                    .addMethod(
                        method,
                        Bytes.answering(
                            request -> {
                              calls.incrementAndGet();
                              return request;
                            }))
                    .build())
            .build()
            .start();
    servers.add(server);
    final ManagedChannel made =
        Grpc.newChannelBuilder("localhost:" + server.getPort(), InsecureChannelCredentials.create())
            .build();
    channels.add(made);
    return made;
  }

  private void connect(String target, UnaryOperator<RingChannelBuilder> options) {
    channel =
        options
            .apply(
                RingChannelBuilder.newChannelBuilder(target, InsecureChannelCredentials.create())
                    .shmDirectory(files.directory()))
            .build();
    channels.add(channel);
  }

  private void call(MethodDescriptor<byte[], byte[]> method) {
    ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, new byte[1]);
  }

  /** Until there is a ring, or there will be none. */
  private void awaitHandshake() {
    assertThrows(
        Exception.class,
        () -> channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  private void awaitRing() throws Exception {
    channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
  }

  /** A proxy that routes by service, with a server for each. */
  private void proxyByService(
      AtomicInteger callsA, AtomicInteger callsB, UnaryOperator<RingServerBuilder> options)
      throws Exception {
    final Channel toA = serve(A, callsA, options);
    final Channel toB = serve(B, callsB, options);
    final Function<String, Channel> route = name -> name.startsWith("b.") ? toB : toA;
    proxy = new Layer7Proxy(route);
  }

  @Test
  void thereIsNoRingThroughAProxy() throws Exception {
    final AtomicInteger callsA = new AtomicInteger();
    final AtomicInteger callsB = new AtomicInteger();
    proxyByService(callsA, callsB, builder -> builder);
    connect(proxy.target(), builder -> builder);
    awaitHandshake();
    for (int i = 0; i < CALLS; i++) {
      call(A);
      call(B);
    }
    assertEquals(CALLS, callsA.get());
    assertEquals(CALLS, callsB.get());
    assertEquals(0, channel.ringCalls());
    assertEquals(Transport.GRPC, channel.transport().name());
    assertTrue(
        channel
            .transport()
            .reason()
            .startsWith("a proxy or an address translation stands between: the client is at "),
        channel.transport().reason());
  }

  @Test
  void balancingPerCallStaysSo() throws Exception {
    final AtomicInteger one = new AtomicInteger();
    final AtomicInteger other = new AtomicInteger();
    final Channel toOne = serve(A, one, builder -> builder);
    final Channel toOther = serve(A, other, builder -> builder);
    final AtomicInteger turn = new AtomicInteger();
    proxy =
        new Layer7Proxy(
            name ->
                A.getFullMethodName().equals(name) && turn.getAndIncrement() % 2 == 1
                    ? toOther
                    : toOne);
    connect(proxy.target(), builder -> builder);
    awaitHandshake();
    for (int i = 0; i < 2 * CALLS; i++) {
      call(A);
    }
    assertEquals(CALLS, one.get());
    assertEquals(CALLS, other.get());
  }

  @Test
  void whatTheRingsServerDoesNotNameGoesOverGrpc() throws Exception {
    final AtomicInteger callsA = new AtomicInteger();
    final AtomicInteger callsB = new AtomicInteger();
    proxyByService(callsA, callsB, builder -> builder);
    connect(proxy.target(), builder -> builder.acrossProxies(true));
    awaitRing();
    for (int i = 0; i < CALLS; i++) {
      call(A);
      call(B);
    }
    assertEquals(CALLS, callsA.get());
    assertEquals(CALLS, callsB.get());
    assertEquals(CALLS, channel.ringCalls());
    assertEquals(CALLS, channel.grpcCalls());
    assertEquals(0, channel.count(dev.ringfetch.counters.Counter.CHANNEL_CALLS_FALLBACK));
  }

  @Test
  void theServerMayAllowIt() throws Exception {
    proxyByService(
        new AtomicInteger(), new AtomicInteger(), builder -> builder.acrossProxies(true));
    connect(proxy.target(), builder -> builder);
    awaitRing();
    call(A);
    assertEquals(1, channel.ringCalls());
  }

  @Test
  void aCallThatOnlyARingMayCarryFailsWhereItIsNotNamed() throws Exception {
    serve(A, new AtomicInteger(), builder -> builder);
    connect("localhost:" + servers.get(0).getPort(), RingChannelBuilder::requireFabric);
    awaitRing();
    call(A);
    final StatusRuntimeException thrown = assertThrows(StatusRuntimeException.class, () -> call(B));
    assertStatus(
        Status.Code.UNIMPLEMENTED,
        "the ring's server does not name b.Service/Call",
        thrown.getStatus());
  }

  /** Calls of bytes take the same way. */
  @Test
  void aCallOfBytesGoesOverGrpcWhereItIsNotNamed() throws Exception {
    final AtomicInteger callsB = new AtomicInteger();
    proxyByService(new AtomicInteger(), callsB, builder -> builder);
    connect(proxy.target(), builder -> builder.acrossProxies(true));
    awaitRing();
    final UnaryListener none = org.mockito.Mockito.mock(UnaryListener.class);
    assertEquals(
        Status.Code.OK,
        channel.newUnaryCall(B, none).run(new byte[1], 0, 1, UnaryCall.NO_TIMEOUT).getCode());
    assertEquals(1, callsB.get());
  }
}
