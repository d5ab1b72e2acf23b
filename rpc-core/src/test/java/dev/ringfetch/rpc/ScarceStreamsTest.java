package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.v1.OpenRequest;
import dev.ringfetch.v1.OpenResponse;
import dev.ringfetch.v1.SessionServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that allow few calls on a connection: the application's come before a session's. */
final class ScarceStreamsTest extends RingFixture {
  /**
   * Less than the time after which a step of a handshake ends by itself, with which a wait would
   * end.
   */
  private static final long LONG_NS = HandshakeStream.STEP_TIMEOUT_NS * 4 / 5;

  private void serveFew(int calls) throws Exception {
    serve(
        RingServerBuilder.over(NettyServerBuilder.forPort(0).maxConcurrentCallsPerConnection(calls))
            .shmDirectory(directory)
            .addService(service(Bytes.digesting()))
            .build()
            .start());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void theFirstCallsAreServedAndThenARing(int calls) throws Exception {
    serveFew(calls);
    for (int round = 0; round < 3; round++) {
      final RingChannel channel = build(builder());
      final long startNs = System.nanoTime();
      assertEquals(1, call(channel, 1).length);
      callUntilOnARing(channel);
      assertTrue(System.nanoTime() - startNs < LONG_NS, "ns=" + (System.nanoTime() - startNs));
      // A call over gRPC that is slow to begin, as on a busy machine, has the session's stream end.
      await("a ring that stays", () -> staysOnARing(channel));
      channel.shutdown();
      assertTerminates(channel);
    }
  }

  @Test
  void manyFirstCallsAtOnceAreServed() throws Exception {
    serveFew(1);
    final RingChannel channel = build(builder());
    final ExecutorService callers = Executors.newFixedThreadPool(8);
    try {
      final List<Future<?>> served = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        served.add(
            callers.submit(
                () -> {
                  for (int length = 0; length < 20; length++) {
                    assertEquals(length, call(channel, length).length);
                  }
                }));
      }
      for (final Future<?> one : served) {
        one.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
      }
    } finally {
      callers.shutdownNow();
    }
    callUntilOnARing(channel);
  }

  @Test
  void aCallThatOnlyGrpcCarriesTakesTheSessionsPlace() throws Exception {
    serveFew(1);
    final RingChannel channel = connect(builder());
    final long startNs = System.nanoTime();
    assertEquals(
        3, ClientCalls.blockingUnaryCall(RingFixture.newGrpcCall(channel), new byte[3]).length);
    assertTrue(System.nanoTime() - startNs < LONG_NS, "ns=" + (System.nanoTime() - startNs));
    callUntilOnARing(channel);
  }

  /** The handshake has the only stream, and makes no progress. */
  @Test
  void aHandshakeThatACallWaitsForIsGivenUpAndTheReasonIsTheServersLimit() throws Exception {
    final RingChannel channel = beginHandshake(1);
    assertEquals(2, call(channel, 2).length);
    await("reason", () -> channel.transport().reason().contains("allows so few calls"));
  }

  /** The thread of the connection is busy for a while, as that of a cold JVM. */
  @Test
  void aSlowConnectionIsNotTakenForALackOfStreams() throws Exception {
    final RingChannel channel = beginHandshake(100);
    final CallOptions slow =
        CallOptions.DEFAULT.withStreamTracerFactory(
            new ClientStreamTracer.Factory() {
              @Override
              public ClientStreamTracer newClientStreamTracer(
                  ClientStreamTracer.StreamInfo info, Metadata headers) {
                return new ClientStreamTracer() {
                  @Override
                  public void outboundHeaders() {
                    LockSupport.parkNanos(6 * StreamRoom.PATIENCE_NS);
                  }
                };
              }
            });
    assertEquals(2, ClientCalls.blockingUnaryCall(channel, Bytes.METHOD, slow, new byte[2]).length);
    await(
        "reason",
        () -> {
          final String reason = channel.transport().reason();
          assertFalse(reason.contains("allows so few calls"), reason);
          return reason.contains("handshake: took longer than 375 ms");
        });
  }

  /** Returns a channel whose session's stream the server has accepted, and says nothing on. */
  private RingChannel beginHandshake(int calls) throws Exception {
    final CountDownLatch asked = new CountDownLatch(1);
    serve(
        NettyServerBuilder.forPort(0)
            .maxConcurrentCallsPerConnection(calls)
            .addService(service(Bytes.digesting()))
            .addService(
                new SessionServiceGrpc.SessionServiceImplBase() {
                  @Override
                  public StreamObserver<OpenRequest> open(StreamObserver<OpenResponse> responses) {
                    asked.countDown();
                    return new Refusing(responses);
                  }
                })
            .build()
            .start());
    final RingChannel channel = build(builder());
    assertEquals(1, call(channel, 1).length);
    assertTrue(asked.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    return channel;
  }

  @Test
  void theSessionsStreamComesAfterThatOfTheFirstCall() throws Exception {
    serveFew(1);
    final CountDownLatch seen = new CountDownLatch(1);
    final List<String> order = new ArrayList<>();
    final RingChannel channel =
        build(
            builder(
                new ClientInterceptor() {
                  @Override
                  public <Q, R> ClientCall<Q, R> interceptCall(
                      MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
                    synchronized (order) {
                      order.add(method.getServiceName());
                      if (order.size() == 2) {
                        seen.countDown();
                      }
                    }
                    return next.newCall(method, options);
                  }
                }));
    assertEquals(1, call(channel, 1).length);
    assertTrue(seen.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    synchronized (order) {
      assertEquals(List.of(Bytes.SERVICE, "ringfetch.v1.SessionService"), order);
    }
  }

  @Test
  void aServerWithoutRingfetchDelaysNoCall() throws Exception {
    final Server plain =
        NettyServerBuilder.forPort(0)
            .maxConcurrentCallsPerConnection(1)
            .addService(service(Bytes.digesting()))
            .build()
            .start();
    serve(plain);
    final RingChannel channel = build(builder());
    final long startNs = System.nanoTime();
    for (int i = 0; i < 20; i++) {
      assertEquals(i, call(channel, i).length);
    }
    assertTrue(System.nanoTime() - startNs < LONG_NS, "ns=" + (System.nanoTime() - startNs));
    await("reason", () -> channel.transport().toString().contains("has no Ringfetch"));
    assertEquals(20, channel.grpcCalls());
  }

  private static boolean staysOnARing(RingChannel channel) {
    callUntilOnARing(channel);
    final long before = channel.grpcCalls();
    for (int i = 0; i < 20; i++) {
      assertEquals(i, call(channel, i).length);
    }
    return channel.grpcCalls() == before;
  }

  private static void callUntilOnARing(RingChannel channel) {
    await(
        "a ring",
        () -> {
          final long before = channel.ringCalls();
          assertEquals(2, call(channel, 2).length);
          return channel.ringCalls() > before;
        });
  }

  /** A server's end of a handshake's stream that ends with the client's. */
  private record Refusing(StreamObserver<OpenResponse> responses)
      implements StreamObserver<OpenRequest> {
    @Override
    public void onNext(OpenRequest step) {}

    @Override
    public void onError(Throwable t) {}

    @Override
    public void onCompleted() {
      responses.onCompleted();
    }
  }
}
