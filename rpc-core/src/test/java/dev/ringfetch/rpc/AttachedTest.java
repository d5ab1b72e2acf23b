package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import dev.ringfetch.system.ShmTempDirFactory;
import dev.ringfetch.system.Warnings;
import io.grpc.BinaryLog;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.CompositeChannelCredentials;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingChannelBuilder2;
import io.grpc.ForwardingServerBuilder;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.InternalServer;
import io.grpc.LoadBalancerProvider;
import io.grpc.LoadBalancerRegistry;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.NameResolverRegistry;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rings that are attached to builders of gRPC: when there are some, and when there are none. */
@Timeout(120)
final class AttachedTest {
  private static final Context.Key<String> SEEN = Context.key("seen");

  @TempDir(factory = ShmTempDirFactory.class)
  private Path directory;

  private final List<Server> servers = new ArrayList<>();
  private final List<ManagedChannel> channels = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (final ManagedChannel channel : channels) {
      assertTrue(channel.shutdown().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
    for (final Server server : servers) {
      assertTrue(server.shutdown().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
    RingFixture.await("nothing is left of the rings", () -> files().isEmpty());
  }

  private List<Path> files() {
    try (Stream<Path> present = Files.walk(directory)) {
      return present.filter(Files::isRegularFile).toList();
    } catch (IOException | UncheckedIOException e) { // one is being deleted
      return List.of(directory);
    }
  }

  private ServerBuilder<?> serverBuilder(int port) {
    return Grpc.newServerBuilderForPort(port, InsecureServerCredentials.create())
        .addService(RingFixture.service(Bytes.digesting()));
  }

  private Server start(ServerBuilder<?> builder) throws IOException {
    final Server started = builder.build().start();
    servers.add(started);
    return started;
  }

  private void attach(ServerBuilder<?> builder) {
    RingServerBuilder.over(builder).shmDirectory(directory).spinTime(Duration.ZERO).attach();
  }

  private Server serve() throws IOException {
    final ServerBuilder<?> builder = serverBuilder(0);
    attach(builder);
    return start(builder);
  }

  private static ManagedChannelBuilder<?> channelBuilder(Server server) {
    return ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext();
  }

  private RingChannelBuilder rings(ManagedChannelBuilder<?> builder) {
    return RingChannelBuilder.over(builder, "test").shmDirectory(directory).spinTime(Duration.ZERO);
  }

  private ManagedChannel build(ManagedChannelBuilder<?> builder) {
    final ManagedChannel built = builder.build();
    channels.add(built);
    return built;
  }

  private static void call(Channel channel) {
    final byte[] request = Bytes.random(7, 40);
    assertArrayEquals(
        Bytes.digest(request),
        ClientCalls.blockingUnaryCall(channel, Bytes.METHOD, CallOptions.DEFAULT, request));
  }

  /** Calls until a ring carries one. */
  private static RingChannel awaitRing(Channel channel, ChannelAttachment attachment) {
    RingFixture.await(
        "a call on a ring",
        () -> {
          call(channel);
          return attachment.rings() != null && attachment.rings().ringCalls() > 0;
        });
    return attachment.rings();
  }

  @Test
  void interceptorsThatAreAddedLaterSeeCallsOnRings() throws Exception {
    final ServerBuilder<?> server = serverBuilder(0);
    attach(server);
    final AtomicInteger seen = new AtomicInteger();
    server.intercept(
        new ServerInterceptor() {
          @Override
          public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
              ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
            seen.incrementAndGet();
            assertEquals(
                Bytes.METHOD.getFullMethodName(), call.getMethodDescriptor().getFullMethodName());
            return Contexts.interceptCall(
                Context.current().withValue(SEEN, "yes"), call, headers, next);
          }
        });
    final ManagedChannelBuilder<?> builder = channelBuilder(start(server));
    final ChannelAttachment attachment = rings(builder).attachment();
    final AtomicInteger sent = new AtomicInteger();
    builder.intercept(
        new ClientInterceptor() {
          @Override
          public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
              MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
            sent.incrementAndGet();
            return next.newCall(method, options);
          }
        });
    final ManagedChannel channel = build(builder);
    final RingChannel ring = awaitRing(channel, attachment);
    final long before = ring.ringCalls();
    final int sentBefore = sent.get();
    final int seenBefore = seen.get();
    for (int i = 0; i < 10; i++) {
      call(channel);
    }
    assertEquals(10, ring.ringCalls() - before);
    assertEquals(10, sent.get() - sentBefore);
    assertEquals(10, seen.get() - seenBefore);
  }

  @Test
  void theRingsEndWhenTheChannelIsIdleAndTheNextCallsOpenOthers() throws Exception {
    final ManagedChannelBuilder<?> builder = channelBuilder(serve());
    final ChannelAttachment attachment = rings(builder).attachment();
    final ManagedChannel channel = build(builder);
    assertNull(attachment.rings());
    final RingChannel first = awaitRing(channel, attachment);
    channel.enterIdle();
    assertTrue(first.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertNull(attachment.rings());
    final RingChannel second = awaitRing(channel, attachment);
    channel.shutdown();
    assertTrue(second.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    final StatusRuntimeException thrown =
        assertThrows(StatusRuntimeException.class, () -> call(channel));
    assertEquals(Status.Code.UNAVAILABLE, thrown.getStatus().getCode());
    assertNull(attachment.rings());
  }

  @Test
  void eachBackendOfAPolicyHasItsRing() throws Exception {
    final Names names = new Names();
    names.resolve(
        List.of(serve().getPort(), serve().getPort(), start(serverBuilder(0)).getPort()), null);
    NameResolverRegistry.getDefaultRegistry().register(names);
    try {
      final ManagedChannelBuilder<?> builder =
          ManagedChannelBuilder.forTarget(Names.TARGET).usePlaintext();
      final ChannelAttachment attachment =
          rings(builder).defaultLoadBalancingPolicy("round_robin").attachment();
      final ManagedChannel channel = build(builder);
      RingFixture.await(
          "rings to two of three",
          () -> {
            call(channel);
            return attachment.rings() != null
                && attachment.rings().transports().stream()
                        .filter(to -> to.transport().isRing())
                        .count()
                    == 2;
          });
      final RingChannel ring = attachment.rings();
      final long before = ring.ringCalls();
      for (int i = 0; i < 30; i++) {
        call(channel);
      }
      assertEquals(20, ring.ringCalls() - before);
    } finally {
      NameResolverRegistry.getDefaultRegistry().deregister(names);
    }
  }

  @Test
  void aServerWithoutRingsServesOverGrpc() throws Exception {
    final ManagedChannelBuilder<?> builder = channelBuilder(start(serverBuilder(0)));
    final ChannelAttachment attachment = rings(builder).attachment();
    final ManagedChannel channel = build(builder);
    call(channel);
    RingFixture.await(
        "the reason",
        () -> {
          call(channel);
          return attachment.rings().transport().reason().equals("the server has no Ringfetch");
        });
    assertEquals(0, attachment.rings().ringCalls());
  }

  @Test
  void aClientWithoutRingsIsServedOverGrpc() throws Exception {
    final Server server = serve();
    call(build(channelBuilder(server)));
    assertEquals(List.of(), files(), "a server whose clients ask for no ring opens nothing");
  }

  /** This one's client does not see that gRPC's connection goes away. */
  @Test
  void aServerThatShutsDownEndsTheSessionsOfEachClient() throws Exception {
    final Server server = serve();
    final RingChannel channel = rings(channelBuilder(server)).build();
    channels.add(channel);
    channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    call(channel);
    server.shutdown();
    assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertTrue(channel.ringCalls() > 0);
  }

  /**
   * An orderly shutdown leaves alone what has lost its connection before, as a ring's calls may.
   */
  @Test
  void aCallOutlivesItsConnectionAndAnOrderlyShutdown() throws Exception {
    final Held held = new Held();
    final Server server = serve(held);
    final ListenableFuture<byte[]> answer;
    try (Relay relay = new Relay(server.getPort())) {
      answer = hold(relay.port(), held);
    }
    server.shutdown();
    assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertThrows( // the rings look at the server's state four times
        TimeoutException.class, () -> answer.get(1, TimeUnit.SECONDS));
    held.calls.get(0).onNext(Bytes.EMPTY);
    held.calls.get(0).onCompleted();
    assertEquals(0, answer.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).length);
  }

  @Test
  void shutdownNowEndsCallsOnRingsAlsoThoseThatHaveLostTheirConnection() throws Exception {
    final Held held = new Held();
    final Server server = serve(held);
    final List<ListenableFuture<byte[]>> answers = new ArrayList<>();
    try (Relay relay = new Relay(server.getPort())) {
      answers.add(hold(relay.port(), held));
    }
    answers.add(hold(server.getPort(), held));
    server.shutdownNow();
    for (final ListenableFuture<byte[]> answer : answers) {
      final ExecutionException thrown =
          assertThrows(
              ExecutionException.class,
              () -> answer.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      assertEquals(Status.Code.UNAVAILABLE, Status.fromThrowable(thrown).getCode());
    }
  }

  /** Its last client may ask for a ring when the port is closed already. */
  @Test
  void aServerThatHasTerminatedOpensNothing() throws Exception {
    final AtomicReference<BinaryLog> log = new AtomicReference<>();
    attach(
        new TestServerBuilder(serverBuilder(0)) {
          @Override
          public TestServerBuilder setBinaryLog(BinaryLog set) {
            log.set(set);
            return this;
          }
        });
    final Server ended = serverBuilder(0).build().start().shutdownNow();
    assertTrue(ended.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    final ServerMethodDefinition<?, ?> open =
        ServerMethodDefinition.create(SessionService.OPEN, (call, headers) -> null);
    assertThrows(
        IllegalStateException.class,
        () ->
            Context.current()
                .withValue(InternalServer.SERVER_CONTEXT_KEY, ended)
                .call(() -> log.get().wrapMethodDefinition(open)));
    assertEquals(List.of(), files());
  }

  /** A server or a proxy chooses the description of a status; gRPC's own is no call of this one. */
  @Test
  void theRingsOutliveAShutdownOfTheChannelOfAProxy() throws Exception {
    final ServerBuilder<?> builder = serverBuilder(0);
    builder.addService(
        ServerServiceDefinition.builder(SessionService.NAME)
            .addMethod(
                SessionService.OPEN,
                (call, headers) -> {
                  call.close(
                      Status.UNAVAILABLE.withDescription("Channel shutdownNow invoked"),
                      new Metadata());
                  return new ServerCall.Listener<>() {};
                })
            .build());
    final ManagedChannelBuilder<?> client = channelBuilder(start(builder));
    final ChannelAttachment attachment = rings(client).attachment();
    final ManagedChannel channel = build(client);
    RingFixture.await(
        "the reason",
        () -> {
          call(channel);
          return attachment.rings().transport().reason().contains("shutdownNow");
        });
    assertFalse(attachment.rings().isShutdown());
  }

  @Test
  void buildersThatTakeNoBinaryLogAreLeftToGrpc() throws Exception {
    try (Warnings warnings = new Warnings(Misconfiguration.class)) {
      final TestServerBuilder server =
          new TestServerBuilder(serverBuilder(0)) {
            @Override
            public TestServerBuilder setBinaryLog(BinaryLog log) {
              throw new UnsupportedOperationException("of a test");
            }
          };
      attach(server);
      final ManagedChannelBuilder<?> client =
          new TestChannelBuilder(channelBuilder(start(server))) {
            @Override
            public TestChannelBuilder setBinaryLog(BinaryLog log) {
              throw new UnsupportedOperationException("of a test");
            }
          };
      final AtomicInteger seen = new AtomicInteger();
      assertNull(
          rings(client)
              .intercept(
                  new ClientInterceptor() {
                    @Override
                    public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
                        MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
                      seen.incrementAndGet();
                      return next.newCall(method, options);
                    }
                  })
              .attachment());
      call(build(client));
      assertEquals(1, seen.get(), "an interceptor of Ringfetch's builder");
      assertEquals(List.of(), files());
      assertEquals(2, warnings.messages().size(), () -> warnings.messages().toString());
    }
  }

  private Server serve(Held held) throws IOException {
    final ServerBuilder<?> builder =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(RingFixture.service(ServerCalls.asyncUnaryCall(held::call)));
    attach(builder);
    return start(builder);
  }

  /** Returns the answer of a call on a ring that the server holds. */
  private ListenableFuture<byte[]> hold(int port, Held held) {
    final ManagedChannelBuilder<?> builder =
        ManagedChannelBuilder.forAddress("localhost", port).usePlaintext();
    final ChannelAttachment attachment = rings(builder).acrossProxies(true).attachment();
    final ManagedChannel channel = build(builder);
    final RingChannel ring = awaitRing(channel, attachment);
    final long before = ring.ringCalls();
    final int heldBefore = held.calls.size();
    final ListenableFuture<byte[]> answer =
        ClientCalls.futureUnaryCall(
            channel.newCall(Bytes.METHOD, CallOptions.DEFAULT), Bytes.EMPTY);
    RingFixture.await("the server has the call", () -> held.calls.size() > heldBefore);
    assertEquals(1, ring.ringCalls() - before);
    return answer;
  }

  /**
   * A framework may set a config of its own at the end: then nothing says which backend is picked.
   */
  @Test
  void anotherServiceConfigKeepsCallsOnGrpc() throws Exception {
    final ManagedChannelBuilder<?> builder = channelBuilder(serve());
    final ChannelAttachment attachment = rings(builder).attachment();
    builder.defaultServiceConfig(Map.of());
    final ManagedChannel channel = build(builder);
    for (int i = 0; i < 3; i++) {
      call(channel);
    }
    assertNull(attachment.rings());
    assertEquals(List.of(), files());
  }

  /** Quarkus does so: its customizers return the config that it sets in the end. */
  @Test
  void theConfigOfAttachKeepsTheRingsWhenAFrameworkSetsItInTheEnd() throws Exception {
    final ManagedChannelBuilder<?> builder = channelBuilder(serve());
    final Map<String, ?> config = rings(builder).attach();
    builder.defaultServiceConfig(Map.of());
    builder.defaultServiceConfig(config);
    final ManagedChannel channel = build(builder);
    RingFixture.await(
        "a ring",
        () -> {
          call(channel);
          return !files().isEmpty();
        });
  }

  @Test
  void aRegistryWithoutThePolicyIsNamedInTheLog() throws Exception {
    final LoadBalancerRegistry registry = LoadBalancerRegistry.getDefaultRegistry();
    final LoadBalancerProvider tap = registry.getProvider(TapProvider.POLICY);
    registry.deregister(tap);
    try (Warnings warnings = new Warnings(Misconfiguration.class)) {
      final ManagedChannelBuilder<?> builder = channelBuilder(serve());
      assertEquals(Map.of(), rings(builder).attach());
      call(build(builder));
      assertEquals(1, warnings.messages().size(), () -> warnings.messages().toString());
      assertTrue(
          warnings.messages().get(0).endsWith(ServiceConfig.UNREGISTERED),
          () -> warnings.messages().toString());
    } finally {
      registry.register(tap);
    }
  }

  @Test
  void theSecondChannelOfABuilderHasNoRings() throws Exception {
    final ManagedChannelBuilder<?> builder = channelBuilder(serve());
    final ChannelAttachment attachment = rings(builder).attachment();
    final ManagedChannel first = build(builder);
    awaitRing(first, attachment);
    final ManagedChannel second = build(builder);
    assertNull(attachment.rings());
    call(second);
    call(first);
    assertNull(attachment.rings());
  }

  @Test
  void bundledCallCredentialsKeepCallsOnGrpc() throws Exception {
    final Metadata.Key<String> token = Bytes.ascii("token");
    final AtomicInteger lacking = new AtomicInteger();
    final ServerBuilder<?> server =
        serverBuilder(0)
            .intercept(
                new ServerInterceptor() {
                  @Override
                  public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
                      ServerCall<ReqT, RespT> call,
                      Metadata headers,
                      ServerCallHandler<ReqT, RespT> next) {
                    if (!headers.containsKey(token)) {
                      lacking.incrementAndGet();
                    }
                    return next.startCall(call, headers);
                  }
                });
    attach(server);
    final ManagedChannelBuilder<?> builder =
        Grpc.newChannelBuilder(
            "localhost:" + start(server).getPort(),
            CompositeChannelCredentials.create(
                InsecureChannelCredentials.create(),
                new CallCredentials() {
                  @Override
                  public void applyRequestMetadata(
                      RequestInfo request, Executor executor, MetadataApplier applier) {
                    applier.apply(Bytes.metadata("token", "secret"));
                  }
                }));
    final ChannelAttachment attachment = rings(builder).attachment();
    final ManagedChannel channel = build(builder);
    call(channel);
    RingFixture.await(
        "the reason",
        () -> {
          call(channel);
          return attachment.rings().transport().reason().contains("call credentials");
        });
    call(channel);
    assertEquals(0, attachment.rings().ringCalls());
    assertEquals(0, lacking.get());
  }

  @Test
  void inProcessServersHaveRings() throws Exception {
    final String name = InProcessServerBuilder.generateName();
    final ServerBuilder<?> server =
        InProcessServerBuilder.forName(name).addService(RingFixture.service(Bytes.digesting()));
    attach(server);
    start(server);
    final ManagedChannelBuilder<?> builder = InProcessChannelBuilder.forName(name);
    final ChannelAttachment attachment = rings(builder).attachment();
    assertNotNull(awaitRing(build(builder), attachment));
  }

  @Test
  void onlyABuilderOfAnotherCanBeAttachedTo() {
    assertThrows(
        IllegalStateException.class, () -> RingChannelBuilder.forTarget("localhost:1").attach());
    assertThrows(
        IllegalStateException.class,
        () -> rings(ManagedChannelBuilder.forTarget("localhost:1")).requireFabric().attach());
  }

  /** A server's builder of another transport. */
  private static class TestServerBuilder extends ForwardingServerBuilder<TestServerBuilder> {
    private final ServerBuilder<?> grpc;

    TestServerBuilder(ServerBuilder<?> grpc) {
      this.grpc = grpc;
    }

    @Override
    protected ServerBuilder<?> delegate() {
      return grpc;
    }
  }

  /** A channel's builder of another transport. */
  private static class TestChannelBuilder extends ForwardingChannelBuilder2<TestChannelBuilder> {
    private final ManagedChannelBuilder<?> grpc;

    TestChannelBuilder(ManagedChannelBuilder<?> grpc) {
      this.grpc = grpc;
    }

    @Override
    protected ManagedChannelBuilder<?> delegate() {
      return grpc;
    }
  }

  /** A handler that keeps calls without a request, and digests the requests of others. */
  private static final class Held {
    private final List<StreamObserver<byte[]>> calls = new CopyOnWriteArrayList<>();

    void call(byte[] request, StreamObserver<byte[]> responses) {
      if (request.length == 0) {
        calls.add(responses);
      } else {
        responses.onNext(Bytes.digest(request));
        responses.onCompleted();
      }
    }
  }
}
