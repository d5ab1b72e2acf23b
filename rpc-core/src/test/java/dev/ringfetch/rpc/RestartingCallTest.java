package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.ringfetch.counters.Counter;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ClientStreamTracer;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls of every kind whose session ends between their start and their first frame. */
final class RestartingCallTest extends RingFixture {
  private final Served.Handler handler = Served.digesting();

  /** Ends the ring's session in the midst of the start of a call, once. */
  private static final class Ending extends ClientStreamTracer.Factory {
    final AtomicInteger attempts = new AtomicInteger();
    final List<Status> ends = new ArrayList<>();
    private final RingChannel channel;

    Ending(RingChannel channel) {
      this.channel = channel;
    }

    @Override
    public ClientStreamTracer newClientStreamTracer(
        ClientStreamTracer.StreamInfo info, Metadata headers) {
      if (attempts.incrementAndGet() == 1) {
        channel.ring().session().end("the test wants it");
      }
      headers.put(Bytes.ascii("attempt"), attempts.toString());
      return new ClientStreamTracer() {
        @Override
        public void streamClosed(Status status) {
          synchronized (ends) {
            ends.add(status);
          }
        }
      };
    }
  }

  private MethodDescriptor<byte[], byte[]> serve(MethodType type) throws Exception {
    final MethodDescriptor<byte[], byte[]> method = Bytes.method(Bytes.SERVICE + "/Any", type);
    serve(
        Bytes.digesting(),
        builder ->
            builder.addService(
                ServerServiceDefinition.builder("any.Service")
                    .addMethod(
                        method.toBuilder().setFullMethodName("any.Service/Any").build(), handler)
                    .build()));
    return method.toBuilder().setFullMethodName("any.Service/Any").build();
  }

  @ParameterizedTest
  @EnumSource(
      value = MethodType.class,
      names = {"UNARY", "CLIENT_STREAMING", "SERVER_STREAMING", "BIDI_STREAMING"})
  void startAgainOnGrpc(MethodType type) throws Exception {
    final MethodDescriptor<byte[], byte[]> method = serve(type);
    final RingChannel channel = connect(builder());
    final Ending ending = new Ending(channel);
    final CallOptions options = CallOptions.DEFAULT.withStreamTracerFactory(ending);
    final Exchange call = new Exchange(channel, method, options);
    call.send(Bytes.metadata("own", "1"), new byte[9]);
    assertEquals(9, call.response().length);
    assertEquals(1, channel.grpcCalls());
    assertEquals(2, ending.attempts.get());
    final Served served = handler.take();
    assertEquals("1", served.headers.get(Bytes.ascii("own")));
    final List<String> attempts = new ArrayList<>();
    served.headers.getAll(Bytes.ascii("attempt")).forEach(attempts::add);
    assertEquals(List.of("2"), attempts);
    assertEquals("complete", served.awaitEnd());
    assertEquals(0, handler.waiting());
    assertNull(channel.obstacle(), "one lost ring leaves room for the next");
    synchronized (ending.ends) {
      assertEquals(Status.Code.UNAVAILABLE, ending.ends.get(0).getCode());
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = MethodType.class,
      names = {"CLIENT_STREAMING", "BIDI_STREAMING"})
  void aDeadlineGoesAlong(MethodType type) throws Exception {
    final MethodDescriptor<byte[], byte[]> method = serve(type);
    final RingChannel channel = connect(builder());
    final Exchange call =
        new Exchange(
            channel,
            method,
            CallOptions.DEFAULT
                .withDeadlineAfter(300, TimeUnit.MILLISECONDS)
                .withStreamTracerFactory(new Ending(channel)));
    call.start();
    call.call().request(1); // and nothing more
    assertEquals(Status.Code.DEADLINE_EXCEEDED, call.await().getCode());
  }

  @ParameterizedTest
  @EnumSource(
      value = MethodType.class,
      names = {"CLIENT_STREAMING", "BIDI_STREAMING"})
  void aCancelGoesAlong(MethodType type) throws Exception {
    final MethodDescriptor<byte[], byte[]> method = serve(type);
    final RingChannel channel = connect(builder());
    for (int i = 0; i < 20; i++) {
      final Exchange call =
          new Exchange(
              channel,
              method,
              CallOptions.DEFAULT.withStreamTracerFactory(new EndingIfThere(channel)));
      call.start();
      call.call().request(1);
      call.call().cancel("enough", null);
      final Status status = call.await();
      TransportContract.assertStatus(Status.Code.CANCELLED, "enough", status);
      channel.resetConnectBackoff(); // once: again and again, it would keep gRPC's thread busy
      await("another ring", () -> channel.ring() != null);
    }
  }

  /** As {@link Ending}, and does nothing where there is no ring. */
  private static final class EndingIfThere extends ClientStreamTracer.Factory {
    private final RingChannel channel;

    EndingIfThere(RingChannel channel) {
      this.channel = channel;
    }

    @Override
    public ClientStreamTracer newClientStreamTracer(
        ClientStreamTracer.StreamInfo info, Metadata headers) {
      if (channel.ring() != null) {
        channel.ring().session().end("the test wants it");
      }
      return new ClientStreamTracer() {};
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = MethodType.class,
      names = {"UNARY", "CLIENT_STREAMING", "SERVER_STREAMING", "BIDI_STREAMING"})
  void endsWhereOnlyTheRingWillDo(MethodType type) throws Exception {
    final MethodDescriptor<byte[], byte[]> method = serve(type);
    final AtomicInteger sessions = new AtomicInteger();
    final RingChannel channel =
        connect(
            builder(
                    onSessions(
                        new Beneath() {
                          @Override
                          public <Q, R> ClientCall<Q, R> call(ClientCall<Q, R> call) {
                            if (sessions.getAndIncrement() > 0) {
                              throw new IllegalStateException("no other ring");
                            }
                            return call;
                          }
                        }))
                .requireFabric());
    final CallOptions options = CallOptions.DEFAULT.withStreamTracerFactory(new Ending(channel));
    final Exchange call = new Exchange(channel, method, options).send(new byte[9]);
    assertEquals(Status.Code.UNAVAILABLE, call.await().getCode());
    assertEquals(List.of("close"), call.events());
    assertEquals(0, channel.grpcCalls());
  }

  @ParameterizedTest
  @EnumSource(
      value = MethodType.class,
      names = {"UNARY", "CLIENT_STREAMING", "SERVER_STREAMING", "BIDI_STREAMING"})
  void startAgainOnTheNextRing(MethodType type) throws Exception {
    final MethodDescriptor<byte[], byte[]> method = serve(type);
    final RingChannel channel = connect(builder().requireFabric());
    assertEquals(3, call(channel, 3).length); // a ring that has worked is followed at once
    final Ending ending = new Ending(channel);
    final CallOptions options = CallOptions.DEFAULT.withStreamTracerFactory(ending);
    assertEquals(9, new Exchange(channel, method, options).send(new byte[9]).response().length);
    assertEquals(2, ending.attempts.get());
    assertEquals("complete", handler.take().awaitEnd());
    assertEquals(0, handler.waiting());
    assertEquals(0, channel.grpcCalls());
    assertEquals(3, channel.ringCalls());
    assertEquals(1, channel.count(Counter.CHANNEL_CALLS_REPEATED));
  }

  @ParameterizedTest
  @EnumSource(
      value = MethodType.class,
      names = {"CLIENT_STREAMING", "BIDI_STREAMING"})
  void endsWithAWordWhereItCannotStartAgain(MethodType type) throws Exception {
    final MethodDescriptor<byte[], byte[]> method = serve(type);
    final RingChannel channel =
        connect(
            builder(
                onCalls(
                    new Beneath() {
                      @Override
                      public <Q, R> ClientCall<Q, R> call(ClientCall<Q, R> call) {
                        return new SimpleForwardingClientCall<>(call) {
                          @Override
                          public void start(Listener<R> listener, Metadata headers) {
                            throw new IllegalStateException("not here");
                          }
                        };
                      }
                    })));
    final CallOptions options = CallOptions.DEFAULT.withStreamTracerFactory(new Ending(channel));
    final Exchange call = new Exchange(channel, method, options).send(new byte[9]);
    assertEquals("not here", call.await().getCause().getMessage());
    assertEquals(List.of("close"), call.events());
  }
}
