package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.BinaryLog;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.InternalConfigurator;
import io.grpc.InternalConfiguratorRegistry;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The streams of sessions, and the interceptors and the binary log of the gRPC channel. */
@Timeout(120)
final class ControlChannelTest extends RingFixture {
  private static final String CALL = Bytes.METHOD.getFullMethodName();
  private static final String OPEN = SessionService.OPEN.getFullMethodName();

  private final Methods intercepted = new Methods();
  private final Methods logged = new Methods();

  @Test
  void streamOfASessionPassesNoInterceptorAndNoLog() throws Exception {
    serve(Bytes.digesting());
    callOverRingAndGrpc(builder(intercepted).setBinaryLog(new Log(logged)));
    assertEquals(List.of(CALL), intercepted.seen);
    assertEquals(List.of(CALL), logged.seen);
  }

  @Test
  void givenBuilderKeepsItsInterceptorsAndItsLog() throws Exception {
    final RingServer server = serve(Bytes.digesting());
    callOverRingAndGrpc(
        RingChannelBuilder.over(
                ManagedChannelBuilder.forAddress("localhost", server.getPort())
                    .usePlaintext()
                    .intercept(intercepted)
                    .setBinaryLog(new Log(logged)),
                "test")
            .shmDirectory(directory));
    assertEquals(List.of(OPEN, CALL), intercepted.seen);
    assertEquals(List.of(OPEN, CALL), logged.seen);
  }

  /** In a process of its own: interceptors for all channels can be registered once. */
  @Tag("slow")
  @Test
  void interceptorsOfTheProcessSeeNoStreamOfASession() throws Exception {
    assertEquals(
        "[" + CALL + ", " + CALL + "]",
        JavaProcess.run(ControlChannelTest.class, List.of(), "", null));
  }

  /** Makes a call on a ring and one over gRPC; says which calls an interceptor saw. */
  public static void main(String[] args) throws Exception {
    final Methods methods = new Methods();
    InternalConfiguratorRegistry.setConfigurators(
        List.of(
            new InternalConfigurator() {
              @Override
              public void configureChannelBuilder(ManagedChannelBuilder<?> builder) {
                builder.intercept(methods);
              }
            }));
    try (RingHarness harness = new RingHarness()) {
      harness.handle(Served.digesting()).start();
      final RingChannel channel = (RingChannel) harness.channel();
      assertEquals(1, call(channel, 1).length);
      newGrpcCall(channel).cancel("seen", null);
    }
    System.out.println(methods.seen);
  }

  private void callOverRingAndGrpc(RingChannelBuilder builder) throws Exception {
    final RingChannel channel = connect(builder);
    assertEquals(1, call(channel, 1).length);
    assertTrue(channel.ringCalls() > 0);
    newGrpcCall(channel).cancel("seen", null);
  }

  /** Interceptor that notes the methods of calls. */
  private static final class Methods implements ClientInterceptor {
    final List<String> seen = new CopyOnWriteArrayList<>();

    @Override
    public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
        MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
      seen.add(method.getFullMethodName());
      return next.newCall(method, options);
    }
  }

  /** Binary log of the methods of calls. */
  private static final class Log extends BinaryLog {
    private final Methods methods;

    Log(Methods methods) {
      this.methods = methods;
    }

    @Override
    public Channel wrapChannel(Channel channel) {
      return ClientInterceptors.intercept(channel, methods);
    }

    @Override
    public <ReqT, RespT> ServerMethodDefinition<?, ?> wrapMethodDefinition(
        ServerMethodDefinition<ReqT, RespT> method) {
      return method;
    }

    @Override
    public void close() {}
  }
}
