package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientStreamTracer;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.SecurityLevel;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCallHandler;
import io.grpc.ServerCredentials;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.stub.AbstractStub;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * One server and one channel to it, over one transport. What is to be so is said before {@link
 * #start}; where the transports cannot behave alike, the difference is a method here, with its
 * reason.
 */
abstract class TransportHarness implements AutoCloseable {
  /** Far beyond what anything here takes on a busy machine. */
  static final long TIMEOUT_S = 30;

  private final Map<MethodDescriptor<byte[], byte[]>, ServerCallHandler<byte[], byte[]>> handlers =
      new LinkedHashMap<>();
  private ServerCredentials serverCredentials = InsecureServerCredentials.create();
  private ChannelCredentials channelCredentials = InsecureChannelCredentials.create();
  private Consumer<ServerBuilder<?>> serverOptions = builder -> {};
  private Consumer<ManagedChannelBuilder<?>> channelOptions = builder -> {};
  private Server server;
  private ManagedChannel channel;

  abstract ServerBuilder<?> newServerBuilder(int port, ServerCredentials credentials);

  abstract ManagedChannelBuilder<?> newChannelBuilder(
      String target, ChannelCredentials credentials);

  /** What calls say of the fabric that carries them; null over gRPC. */
  abstract String fabric();

  /**
   * Why this transport may fail a test, though what that asks of the others is right; null if it
   * may not.
   */
  String allowedDifference(String test) {
    return null;
  }

  /** Waits until the channel can serve a call at once. */
  abstract void awaitConnected(ManagedChannel channel) throws Exception;

  /** The authority of channels to the server. */
  String authority() {
    return "localhost:" + server().getPort();
  }

  /** Called when the test has passed: did its calls go where they should? */
  abstract void verify(ManagedChannel channel);

  /** Frees what the transport needs beside channel and server. */
  abstract void dispose() throws IOException;

  /**
   * Code of a call that the server's code has broken: too many responses, none, or one that cannot
   * be marshalled; or has ended, by {@code shutdownNow}. A ring says what is wrong. gRPC resets the
   * stream, and the client is told no more than that it is cancelled.
   */
  abstract Status.Code brokenByServer(Status.Code code);

  /**
   * True when a channel that was shut down still serves calls that were started, but not
   * half-closed. Over a ring nobody counts such calls, which a stub never leaves in that state: the
   * session may have ended.
   */
  abstract boolean countsCallsBeforeHalfClose();

  /** Serves the method {@link Bytes#METHOD}. */
  final TransportHarness handle(ServerCallHandler<byte[], byte[]> handler) {
    return handle(Bytes.METHOD, handler);
  }

  final TransportHarness handle(
      MethodDescriptor<byte[], byte[]> method, ServerCallHandler<byte[], byte[]> handler) {
    handlers.put(method, handler);
    return this;
  }

  /** Server and channel speak plaintext unless told this. */
  final TransportHarness secure(ServerCredentials server, ChannelCredentials channel) {
    serverCredentials = server;
    channelCredentials = channel;
    return this;
  }

  /** How well calls are protected. */
  SecurityLevel securityLevel() {
    return channelCredentials instanceof InsecureChannelCredentials
        ? SecurityLevel.NONE
        : SecurityLevel.PRIVACY_AND_INTEGRITY;
  }

  final TransportHarness server(Consumer<ServerBuilder<?>> options) {
    serverOptions = serverOptions.andThen(options);
    return this;
  }

  final TransportHarness channel(Consumer<ManagedChannelBuilder<?>> options) {
    channelOptions = channelOptions.andThen(options);
    return this;
  }

  /** Each call has a tracer on both sides: over a ring it takes the way of streams. */
  final TransportHarness traced() {
    channel(builder -> builder.intercept(new Tracing()));
    return server(builder -> builder.addStreamTracerFactory(new ServerTracers()));
  }

  /** Starts the server, and the channel, and connects. */
  final TransportHarness start() throws Exception {
    return startOn(0);
  }

  /** As {@link #start}, on a port. */
  final TransportHarness startOn(int port) throws Exception {
    server = newServer(port).start();
    channel = connect(channelCredentials);
    return this;
  }

  /** A server as this one, with its services and options; the caller starts it. */
  final Server newServer(int port) {
    final ServerBuilder<?> builder = newServerBuilder(port, serverCredentials);
    if (!handlers.isEmpty()) {
      final ServerServiceDefinition.Builder service =
          ServerServiceDefinition.builder(Bytes.SERVICE);
      handlers.forEach(service::addMethod);
      builder.addService(service.build());
    }
    serverOptions.accept(builder);
    return builder.build();
  }

  /** Another server takes this one's place. */
  final void replaceServer(Server server) {
    this.server = server;
  }

  /** A channel, connected; one that is not {@link #channel} is the caller's to shut down. */
  final ManagedChannel connect(ChannelCredentials credentials) throws Exception {
    final ManagedChannelBuilder<?> builder =
        newChannelBuilder("localhost:" + server.getPort(), credentials);
    channelOptions.accept(builder);
    final ManagedChannel made = builder.build();
    awaitConnected(made);
    return made;
  }

  /** A channel to a port, where there may be no server; the caller's to shut down. */
  final ManagedChannel unconnected(int port) {
    final ManagedChannelBuilder<?> builder =
        newChannelBuilder("localhost:" + port, channelCredentials);
    channelOptions.accept(builder);
    return builder.build();
  }

  final Server server() {
    return server;
  }

  final ManagedChannel channel() {
    return channel;
  }

  /** A generated stub on the channel. */
  final <S extends AbstractStub<S>> S stub(Function<ManagedChannel, S> factory) {
    return factory.apply(channel);
  }

  @Override
  public String toString() {
    return fabric() == null ? getClass().getSimpleName() : fabric();
  }

  /** Ends both sides; they have to terminate whatever the test did. */
  @Override
  public final void close() throws IOException {
    try {
      if (channel != null) {
        channel.shutdownNow();
      }
      if (server != null) {
        server.shutdownNow();
      }
      awaitTermination();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    } finally {
      dispose();
    }
  }

  private void awaitTermination() throws InterruptedException {
    assertTrue(
        channel == null || channel.awaitTermination(TIMEOUT_S, TimeUnit.SECONDS),
        "the channel does not terminate");
    assertTrue(
        server == null || server.awaitTermination(TIMEOUT_S, TimeUnit.SECONDS),
        "the server does not terminate");
  }

  /** Gives each call a tracer that wants to know nothing. */
  private static final class Tracing implements ClientInterceptor {
    @Override
    public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
        MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
      return next.newCall(method, options.withStreamTracerFactory(new ClientTracers()));
    }
  }

  private static final class ClientTracers extends ClientStreamTracer.Factory {
    @Override
    public ClientStreamTracer newClientStreamTracer(
        ClientStreamTracer.StreamInfo info, Metadata headers) {
      return new ClientStreamTracer() {};
    }
  }

  private static final class ServerTracers extends ServerStreamTracer.Factory {
    @Override
    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
      return new ServerStreamTracer() {};
    }
  }
}
