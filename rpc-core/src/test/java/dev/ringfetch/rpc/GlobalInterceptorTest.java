package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InternalConfigurator;
import io.grpc.InternalConfiguratorRegistry;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Interceptors that are registered for all servers of a process run where they run over gRPC: after
 * the server's own. In a process of its own: they can be registered once.
 */
@Timeout(120)
final class GlobalInterceptorTest {
  @Tag("slow")
  @Test
  void orderIsTheSameOverRingAndGrpc() throws Exception {
    final String grpc = run("grpc");
    assertEquals("[second, first, global two, global one]", grpc);
    assertEquals(grpc, run("ring"));
  }

  @Tag("slow")
  @Test
  void orderIsTheSameWhereTheClientIsNotOurs() throws Exception {
    assertEquals("[second, first, global two, global one]", run("fallback"));
  }

  private static String run(String transport) throws Exception {
    return JavaProcess.run(
        GlobalInterceptorTest.class, List.of("-Dtransport=" + transport), "", null);
  }

  /** Makes a call, and says in which order the interceptors saw it. */
  public static void main(String[] args) throws Exception {
    final List<String> log = Collections.synchronizedList(new ArrayList<>());
    InternalConfiguratorRegistry.setConfigurators(
        List.of(
            new InternalConfigurator() {
              @Override
              public void configureServerBuilder(ServerBuilder<?> builder) {
                builder.intercept(new Logging("global one", log));
                builder.intercept(new Logging("global two", log));
              }
            }));
    try (TransportHarness harness =
        switch (System.getProperty("transport")) {
          case "grpc" -> new GrpcHarness();
          case "ring" -> new RingHarness();
          default -> new ServerOnlyHarness();
        }) {
      harness.server(
          builder ->
              builder.intercept(new Logging("first", log)).intercept(new Logging("second", log)));
      harness.handle(Served.digesting()).start();
      new Exchange(harness.channel()).send(new byte[1]).response();
      System.out.println(log);
      harness.verify(harness.channel());
    }
  }

  /** Sees the calls of the test's method only: not those that open sessions. */
  private record Logging(String name, List<String> log) implements ServerInterceptor {
    @Override
    public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
        ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
      if (call.getMethodDescriptor().getFullMethodName().equals(Bytes.METHOD.getFullMethodName())) {
        log.add(name);
      }
      return next.startCall(call, headers);
    }
  }

  /** A server of ours, to which a channel of gRPC speaks. */
  private static final class ServerOnlyHarness extends PlainHarness {
    @Override
    ServerBuilder<?> newServerBuilder(int port, ServerCredentials credentials) {
      return RingServerBuilder.newServerBuilderForPort(port, credentials);
    }

    @Override
    ManagedChannelBuilder<?> newChannelBuilder(String target, ChannelCredentials credentials) {
      return Grpc.newChannelBuilder(target, credentials);
    }
  }
}
