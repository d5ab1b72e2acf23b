package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.v1.OpenRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A server, and channels over gRPC channels into which a test may look. */
abstract class RingFixture {
  private static final String SESSION_SERVICE = "ringfetch.v1.SessionService";

  @TempDir Path directory;

  private final List<RingChannel> channels = new CopyOnWriteArrayList<>();
  private Server server;

  @AfterEach
  void close() throws Exception {
    for (final RingChannel channel : channels) {
      channel.shutdownNow();
    }
    if (server != null) {
      server.shutdownNow();
    }
    for (final RingChannel channel : channels) {
      assertTrue(channel.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
    if (server != null) {
      assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
  }

  final RingServer serve(ServerCallHandler<byte[], byte[]> handler) throws IOException {
    return serve(handler, builder -> builder);
  }

  final RingServer serve(
      ServerCallHandler<byte[], byte[]> handler, UnaryOperator<RingServerBuilder> options)
      throws IOException {
    final RingServer started =
        options
            .apply(
                RingServerBuilder.forPort(0)
                    .shmDirectory(directory)
                    .spinTime(Duration.ZERO)
                    .addService(service(handler)))
            .build()
            .start();
    server = started;
    return started;
  }

  static ServerServiceDefinition service(ServerCallHandler<byte[], byte[]> handler) {
    return ServerServiceDefinition.builder(Bytes.SERVICE).addMethod(Bytes.METHOD, handler).build();
  }

  final void serve(Server started) {
    server = started;
  }

  final RingChannelBuilder builder(ClientInterceptor... beneath) {
    return RingChannelBuilder.over(
            ManagedChannelBuilder.forAddress("localhost", server.getPort())
                .usePlaintext()
                .intercept(beneath),
            "test")
        .shmDirectory(directory)
        .spinTime(Duration.ZERO);
  }

  final RingChannel build(RingChannelBuilder builder) {
    final RingChannel channel = builder.build();
    channels.add(channel);
    return channel;
  }

  /** A channel with a ring. */
  final RingChannel connect(RingChannelBuilder builder) throws Exception {
    final RingChannel channel = build(builder);
    assertTrue(channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).isOpen());
    return channel;
  }

  static byte[] call(RingChannel channel, int length) {
    return ClientCalls.blockingUnaryCall(
        channel, Bytes.METHOD, CallOptions.DEFAULT, new byte[length]);
  }

  /** A call over gRPC, whatever rings there are. */
  static ClientCall<byte[], byte[]> newGrpcCall(RingChannel channel) {
    return channel
        .life()
        .newGrpcCall(
            Bytes.METHOD,
            CallOptions.DEFAULT,
            channel.pick(Bytes.METHOD, CallOptions.DEFAULT, new Metadata()),
            Counter.CHANNEL_CALLS_FALLBACK);
  }

  static void assertTerminates(RingChannel channel) throws InterruptedException {
    assertTrue(channel.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  /** For what nobody tells. */
  static void await(String what, BooleanSupplier condition) {
    final long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertTrue(
          System.nanoTime() - start < TimeUnit.SECONDS.toNanos(TransportHarness.TIMEOUT_S), what);
      Thread.onSpinWait();
    }
  }

  /** What a test does to the calls of a gRPC channel. */
  interface Beneath {
    <Q, R> ClientCall<Q, R> call(ClientCall<Q, R> call);
  }

  /** Changes the calls by which sessions are opened. */
  static ClientInterceptor onSessions(Beneath change) {
    return on(true, change);
  }

  /** Changes all other calls. */
  static ClientInterceptor onCalls(Beneath change) {
    return on(false, change);
  }

  private static ClientInterceptor on(boolean sessions, Beneath change) {
    return new ClientInterceptor() {
      @Override
      public <Q, R> ClientCall<Q, R> interceptCall(
          MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
        final ClientCall<Q, R> call = next.newCall(method, options);
        return SESSION_SERVICE.equals(method.getServiceName()) == sessions
            ? change.call(call)
            : call;
      }
    };
  }

  /** A server's end of a handshake's stream that says nothing. */
  static final class Silent implements StreamObserver<OpenRequest> {
    @Override
    public void onNext(OpenRequest step) {}

    @Override
    public void onError(Throwable t) {}

    @Override
    public void onCompleted() {}
  }
}
