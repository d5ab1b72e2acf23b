package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.CompositeChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An application that knows grpc-api alone, with and without the property. */
@Timeout(120)
class DropInTest {
  private static final String RING = "RingServer RingChannel over a ring";
  private static final String NO_RING = "ServerImpl ManagedChannelImpl";
  private static final String ONE = "-Ddrop.in.one=true"; // one of the ways to serve, not all three

  private static String run(List<String> flags, String variable) throws Exception {
    return JavaProcess.run(DropInTest.class, flags, "", variable);
  }

  private static String thrice(String line) {
    return String.join("\n", line, line, line);
  }

  @Test
  void propertyGivesRings() throws Exception {
    assertEquals(thrice(RING), run(List.of("-D" + GrpcBuilders.PROPERTY + "=true"), null));
  }

  @Tag("slow")
  @Test
  void variableGivesRings() throws Exception {
    assertEquals(RING, run(List.of(ONE), "true"));
  }

  @Test
  void withoutThemNothingChanges() throws Exception {
    assertEquals(thrice(NO_RING), run(List.of(), null));
  }

  @Tag("slow")
  @Test
  void propertyCountsBeforeTheVariable() throws Exception {
    assertEquals(NO_RING, run(List.of(ONE, "-D" + GrpcBuilders.PROPERTY + "=false"), "true"));
  }

  /** The application. */
  public static void main(String[] args) throws Exception {
    serve(
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create()),
        port -> Grpc.newChannelBuilder("localhost:" + port, InsecureChannelCredentials.create()));
    if (Boolean.getBoolean("drop.in.one")) {
      return;
    }
    serve(
        ServerBuilder.forPort(0),
        port -> ManagedChannelBuilder.forTarget("localhost:" + port).usePlaintext());
    serveEncrypted();
  }

  /** Knows its client by a certificate, and by a token. */
  private static void serveEncrypted() throws IOException, InterruptedException {
    final CallCredentials token =
        new CallCredentials() {
          @Override
          public void applyRequestMetadata(
              RequestInfo request, Executor executor, MetadataApplier applier) {
            applier.apply(Bytes.metadata("token", "secret"));
          }
        };
    final ServerInterceptor doorman =
        new ServerInterceptor() {
          @Override
          public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
              ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
            final SSLSession tls = call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
            try {
              if ("CN=ann".equals(tls.getPeerPrincipal().getName())
                  && "secret".equals(headers.get(Bytes.ascii("token")))) {
                return next.startCall(call, headers);
              }
            } catch (SSLPeerUnverifiedException e) {
              throw Status.UNAUTHENTICATED.withCause(e).asRuntimeException();
            }
            throw Status.UNAUTHENTICATED.asRuntimeException();
          }
        };
    serve(
        Grpc.newServerBuilderForPort(0, Tls.mutual()).intercept(doorman),
        port ->
            Grpc.newChannelBuilder(
                "localhost:" + port, CompositeChannelCredentials.create(Tls.client("ann"), token)));
  }

  private static void serve(
      ServerBuilder<?> builder, IntFunction<ManagedChannelBuilder<?>> channels)
      throws IOException, InterruptedException {
    final Server server =
        builder
            .addService(
                ServerServiceDefinition.builder(Bytes.SERVICE)
                    .addMethod(Bytes.METHOD, Bytes.digesting())
                    .build())
            .build()
            .start();
    final ManagedChannel channel = channels.apply(server.getPort()).build();
    final long startNs = System.nanoTime();
    do {
      ClientCalls.blockingUnaryCall(channel, Bytes.METHOD, CallOptions.DEFAULT, new byte[1]);
    } while (channel instanceof RingChannel ring
        && ring.ringCalls() == 0
        && System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(TransportHarness.TIMEOUT_S));
    final String way =
        channel instanceof RingChannel ring && ring.ringCalls() > 0 ? " over a ring" : "";
    final String name = channel.getClass().getSimpleName();
    System.out.println(
        server.getClass().getSimpleName()
            + " "
            + (name.startsWith("ManagedChannel") ? "ManagedChannelImpl" : name) // or its wrapper
            + way);
    channel.shutdownNow().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    server.shutdownNow().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
  }
}
