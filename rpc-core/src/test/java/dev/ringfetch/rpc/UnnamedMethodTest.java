package dev.ringfetch.rpc;

import static dev.ringfetch.ring.FrameDescriptor.DESCRIPTION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.rpc.TransportContract.assertStatus;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.ring.ProcessTime;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.ClientStream;
import dev.ringfetch.session.ClientStream.Outcome;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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

  private static final long TIMEOUT_S = 60;

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
    assertEquals(2, channel.count(Counter.CHANNEL_CALLS_KEPT_METHOD));
    assertEquals(0, channel.count(Counter.CHANNEL_CALLS_FALLBACK));
    assertEquals(0, channel.ringCalls());
  }

  @Test
  void areServedByNameToEarlierClients() throws Exception {
    final ClientSession session = start().ring().session();
    assertEquals(
        Status.Code.OK.value(), ProcessTime.status(callByName(session, LATE).inboundCode()));
    assertEquals(1, intercepted.get());
    assertRefused(Status.Code.UNIMPLEMENTED, "Method not found: no.Service/Call", session, NONE);
    assertRefused(Status.Code.ABORTED, "not today", session, BROKEN);
  }

  private static void assertRefused(
      Status.Code code,
      String description,
      ClientSession session,
      MethodDescriptor<byte[], byte[]> method)
      throws Exception {
    final ClientStream answered = callByName(session, method);
    assertEquals(code.value(), ProcessTime.status(answered.inboundCode()));
    assertEquals(SUFFIX | DESCRIPTION, answered.inboundFlags() & (SUFFIX | DESCRIPTION));
    final ByteBuffer answer = answered.inbound().view();
    final byte[] said = new byte[answer.remaining()];
    answer.get(said);
    assertTrue(new String(said, StandardCharsets.UTF_8).contains(description), description);
  }

  /** Calls a method as earlier clients do; returns the stream with the answer. */
  private static ClientStream callByName(
      ClientSession session, MethodDescriptor<byte[], byte[]> method) throws Exception {
    final ClientStream stream = session.open();
    final byte[] name = method.getFullMethodName().getBytes(StandardCharsets.UTF_8);
    stream.outbound().addShort(name.length);
    stream.outbound().addBytes(name, 0, name.length);
    stream.outbound().addBytes(new byte[3], 0, 3);
    final CompletableFuture<Outcome> ended = new CompletableFuture<>();
    stream.prepare(
        (closed, outcome) -> ended.complete(outcome),
        PREFIX | NAMED | MESSAGE | SUFFIX,
        0,
        ClientStream.NO_DEADLINE,
        1024);
    session.send(stream);
    assertEquals(Outcome.ANSWERED, ended.get(TIMEOUT_S, TimeUnit.SECONDS));
    return stream;
  }
}
