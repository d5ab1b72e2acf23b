package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingChannelBuilder2;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerTransportFilter;
import io.grpc.stub.ClientCalls;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What a builder's channel or server has is what was set when it was built. */
class BuilderReuseTest extends RingFixture {
  /** Counts what passes. */
  private static final class Counting extends ServerTransportFilter implements ServerInterceptor {
    final AtomicInteger calls = new AtomicInteger();
    final AtomicInteger ready = new AtomicInteger();
    final AtomicInteger terminated = new AtomicInteger();

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      calls.incrementAndGet();
      return next.startCall(call, headers);
    }

    @Override
    public Attributes transportReady(Attributes attributes) {
      ready.incrementAndGet();
      return attributes;
    }

    @Override
    public void transportTerminated(Attributes attributes) {
      terminated.incrementAndGet();
    }
  }

  private void callOverBoth(RingServer server) throws Exception {
    final RingChannel ring =
        connect(
            RingChannelBuilder.newChannelBuilder(
                    "localhost:" + server.getPort(), InsecureChannelCredentials.create())
                .shmDirectory(directory)
                .requireFabric());
    assertEquals(3, call(ring, 3).length);
    final ManagedChannel plain =
        Grpc.newChannelBuilder("localhost:" + server.getPort(), InsecureChannelCredentials.create())
            .build();
    ClientCalls.blockingUnaryCall(plain, Bytes.METHOD, CallOptions.DEFAULT, new byte[1]);
    plain.shutdownNow().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    ring.shutdownNow().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
  }

  private static void end(RingServer server) throws InterruptedException {
    server.shutdownNow();
    assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  @Test
  void aSecondServerIsAsTheFirst() throws Exception {
    final Counting first = new Counting();
    final Counting second = new Counting();
    final RingServerBuilder builder =
        RingServerBuilder.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .shmDirectory(directory)
            .spinTime(Duration.ZERO)
            .addService(service(Bytes.digesting()))
            .addTransportFilter(first)
            .intercept(first);
    final RingServer one = builder.build().start();
    builder.intercept(second).addTransportFilter(second);
    final RingServer other = builder.build().start();
    try {
      callOverBoth(one);
      await("the ends of connections", () -> first.terminated.get() == 2);
      assertEquals(2, first.calls.get(), "one over the ring, one over gRPC");
      assertEquals(2, first.ready.get());
      assertEquals(0, second.calls.get() + second.ready.get(), "what was set later");
      callOverBoth(other);
      await("the ends of connections", () -> second.terminated.get() == 2);
      assertEquals(4, first.calls.get());
      assertEquals(4, first.ready.get());
      assertEquals(4, first.terminated.get());
      assertEquals(2, second.calls.get());
      assertEquals(2, second.ready.get());
    } finally {
      end(one);
      end(other);
    }
  }

  @Test
  void eachServerCountsItsOwnCalls() throws Exception {
    final RingServerBuilder builder =
        RingServerBuilder.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .shmDirectory(directory)
            .addService(service(Bytes.digesting()));
    final RingServer one = builder.build().start();
    final RingServer other = builder.build().start();
    try {
      callOverBoth(other);
      callOverBoth(other);
      callOverBoth(one);
      assertEquals(2, other.count(Counter.SERVER_CALLS_GRPC));
      assertEquals(1, one.count(Counter.SERVER_CALLS_GRPC));
    } finally {
      end(one);
      end(other);
    }
  }

  @Test
  void whatIsSetLaterIsForTheNextChannel() throws Exception {
    final RingServer server = serve(Bytes.digesting());
    try (Relay relay = new Relay(server.getPort())) { // something between
      final RingChannelBuilder builder =
          RingChannelBuilder.newChannelBuilder(
                  "localhost:" + relay.port(), InsecureChannelCredentials.create())
              .shmDirectory(directory);
      final RingChannel channel = build(builder);
      builder.acrossProxies(true);
      assertThrows(
          Exception.class,
          () -> channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      assertTrue(channel.transport().reason().contains("stands between"));
    }
  }

  @Test
  void whatIsSetLaterIsForTheNextServer() throws Exception {
    final RingServerBuilder[] builder = new RingServerBuilder[1];
    final RingServer server = serve(Bytes.digesting(), made -> builder[0] = made);
    builder[0].acrossProxies(true);
    try (Relay relay = new Relay(server.getPort())) {
      final RingChannel channel =
          build(
              RingChannelBuilder.newChannelBuilder(
                      "localhost:" + relay.port(), InsecureChannelCredentials.create())
                  .shmDirectory(directory));
      assertThrows(
          Exception.class,
          () -> channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
  }

  /** Remembers what it has built. */
  private static final class Remembering extends ForwardingChannelBuilder2<Remembering> {
    private final ManagedChannelBuilder<?> builder;
    private ManagedChannel built;

    Remembering() {
      this(Grpc.newChannelBuilder("localhost:1", InsecureChannelCredentials.create()));
    }

    Remembering(ManagedChannelBuilder<?> builder) {
      this.builder = builder;
    }

    void addFactory(Function<String, ClientInterceptor> factory) {
      interceptWithTarget(factory::apply);
    }

    @Override
    protected ManagedChannelBuilder<?> delegate() {
      return builder;
    }

    @Override
    public ManagedChannel build() {
      built = builder.build();
      return built;
    }
  }

  /** As gRPC's own extensions do, through what others cannot name. */
  private static void addFactory(
      RingChannelBuilder builder, Function<String, ClientInterceptor> factory) {
    final Remembering forwarding = new Remembering(builder);
    forwarding.addFactory(factory);
  }

  /** An extension of gRPC's whose interceptors are made for each channel. */
  @Test
  void aFactoryThatThrowsLeavesNothingBehind() {
    final Remembering beneath = new Remembering();
    final RingChannelBuilder builder =
        RingChannelBuilder.over(beneath, "test").shmDirectory(directory);
    addFactory(
        builder,
        target -> {
          throw new IllegalStateException("thrown for " + target);
        });
    final IllegalStateException thrown = assertThrows(IllegalStateException.class, builder::build);
    assertEquals("thrown for test", thrown.getMessage());
    assertTrue(beneath.built == null || beneath.built.isShutdown(), "the channel beneath");
    assertFalse(
        Thread.getAllStackTraces().keySet().stream()
            .anyMatch(thread -> thread.getName().startsWith("ringfetch-client")),
        "a poller is left");
  }

  /** Later, in the constructor: there is a gRPC channel already. */
  @Test
  void anInterceptorThatIsNoneLeavesNothingBehind() {
    final Remembering beneath = new Remembering();
    final RingChannelBuilder builder =
        RingChannelBuilder.over(beneath, "test")
            .shmDirectory(directory)
            .intercept(
                new ClientInterceptor() {
                  @Override
                  public <Q, R> ClientCall<Q, R> interceptCall(
                      MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
                    return next.newCall(method, options);
                  }
                });
    addFactory(builder, target -> null);
    assertThrows(NullPointerException.class, builder::build);
    assertTrue(beneath.built == null || beneath.built.isShutdown(), "the channel beneath");
  }

  /** A callback may delay the end of a poller: a caller that asks does not wait for it. */
  @Test
  void toAskWhetherAServerHasTerminatedTakesNoTime() throws Exception {
    final CountDownLatch inside = new CountDownLatch(1);
    final CountDownLatch leave = new CountDownLatch(1);
    final RingServer server =
        serve(
            Bytes.answering(
                request -> {
                  if (request.length == 1) {
                    inside.countDown();
                    try {
                      leave.await();
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                    }
                  }
                  return request;
                }),
            RingServerBuilder::directExecutor);
    final RingChannel channel = connect(builder());
    final Exchange call = new Exchange(channel).send(new byte[1]);
    assertTrue(inside.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    server.shutdownNow();
    channel.shutdownNow();
    final Thread asking =
        new Thread(
            () -> {
              while (!server.isTerminated()) {
                Thread.onSpinWait();
                if (leave.getCount() != 0) {
                  return; // it has answered
                }
              }
            });
    asking.start();
    asking.join(TimeUnit.SECONDS.toMillis(5));
    final boolean waits = asking.isAlive();
    leave.countDown();
    assertFalse(waits, "isTerminated() waits");
    assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertTrue(server.isTerminated());
    call.await();
  }
}
