package dev.ringfetch.rpc;

import static dev.ringfetch.rpc.TransportContract.assertStatus;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.ClientLimits;
import dev.ringfetch.call.Codecs;
import dev.ringfetch.call.StreamingClientCall;
import dev.ringfetch.session.ClientSession;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.SecurityLevel;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Methods that the server's handshake does not name: its clients call them over gRPC; clients of
 * earlier versions, by their names over the ring.
 */
class UnnamedMethodTest extends RingFixture {
  private static final MethodDescriptor<byte[], byte[]> LATE = Bytes.method("late.Service/Call");
  private static final MethodDescriptor<byte[], byte[]> NONE = Bytes.method("no.Service/Call");
  private static final MethodDescriptor<byte[], byte[]> BROKEN = Bytes.method("bad.Service/Call");

  private final AtomicInteger intercepted = new AtomicInteger();

  /** A ring to a server that finds one more method in its fallback registry. */
  private RingChannel start() throws Exception {
    serve(
        Bytes.digesting(),
        builder ->
            builder
                .intercept(
                    new ServerInterceptor() {
                      @Override
                      public <Q, R> ServerCall.Listener<Q> interceptCall(
                          ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
                        intercepted.incrementAndGet();
                        return next.startCall(call, headers);
                      }
                    })
                .fallbackHandlerRegistry(
                    new HandlerRegistry() {
                      @Override
                      public ServerMethodDefinition<?, ?> lookupMethod(
                          String name, String authority) {
                        if (name.equals(BROKEN.getFullMethodName())) {
                          throw Status.ABORTED.withDescription("not today").asRuntimeException();
                        }
                        return name.equals(LATE.getFullMethodName())
                            ? ServerMethodDefinition.create(LATE, Bytes.digesting())
                            : null;
                      }
                    }));
    return connect(builder());
  }

  private void assertServed(Channel channel) throws Exception {
    assertEquals(3, call(channel, LATE).response().length);
    assertEquals(1, intercepted.get());
    assertStatus(
        Status.Code.UNIMPLEMENTED,
        "Method not found: no.Service/Call",
        call(channel, NONE).await());
    assertStatus(Status.Code.ABORTED, "not today", call(channel, BROKEN).await());
  }

  private static Exchange call(Channel channel, MethodDescriptor<byte[], byte[]> method) {
    return new Exchange(channel, method, CallOptions.DEFAULT).send(new byte[3]);
  }

  @Test
  void goOverGrpc() throws Exception {
    final RingChannel channel = start();
    assertEquals(3, call(channel, LATE).response().length);
    assertStatus(
        Status.Code.UNIMPLEMENTED,
        "Method not found: no.Service/Call",
        call(channel, NONE).await());
    assertEquals(1, intercepted.get());
    assertEquals(2, channel.grpcCalls());
    assertEquals(0, channel.ringCalls());
  }

  @Test
  void areServedByNameToEarlierClients() throws Exception {
    final ClientSession session = start().ring().session();
    final ClientConnection nameless =
        new ClientConnection(
            session, "shm", List.of(), Attributes.EMPTY, SecurityLevel.NONE, Codecs.DEFAULT);
    assertServed(
        new Channel() {
          @Override
          public <Q, R> ClientCall<Q, R> newCall(
              MethodDescriptor<Q, R> method, CallOptions options) {
            return new StreamingClientCall<>(
                method,
                options,
                Runnable::run,
                nameless,
                new ClientLimits(1024, 1024),
                session.open(),
                null);
          }

          @Override
          public String authority() {
            return "earlier";
          }
        });
  }
}
