package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.ClientSession;
import dev.ringfetch.v1.OpenRequest;
import dev.ringfetch.v1.OpenResponse;
import dev.ringfetch.v1.SessionServiceGrpc;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.InternalManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Whose a channel's ring is, and how channels and servers end that have one, or wait for one. */
final class RingLifecycleTest extends RingFixture {
  @Test
  void aRingOutlivesTheContextOfTheCallThatAskedForIt() throws Exception {
    serve(Bytes.digesting());
    final AtomicReference<Context> opening = new AtomicReference<>();
    final RingChannel channel =
        build(
            builder(
                onSessions(
                    new Beneath() {
                      @Override
                      public <Q, R> ClientCall<Q, R> call(ClientCall<Q, R> call) {
                        opening.set(Context.current());
                        return call;
                      }
                    })));
    final Context.CancellableContext first = Context.current().withCancellation();
    first.run(() -> assertEquals(3, call(channel, 3).length));
    final ClientSession session =
        channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).session();
    first.cancel(new IllegalStateException("the first caller has enough"));
    assertSame(Context.ROOT, opening.get());
    for (int i = 0; i < 20; i++) {
      assertEquals(i, call(channel, i).length);
      assertSame(session, channel.ring().session());
    }
    assertEquals(20, channel.ringCalls());
  }

  @Test
  void channelsThatShareAFabricAreNotHurtByAShutdownInManyThreads() throws Exception {
    serve(Bytes.digesting());
    final RingChannel other = connect(builder().requireFabric());
    final int threads = 4;
    final ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      for (int round = 0; round < 50; round++) {
        final RingChannel channel = build(builder());
        final CyclicBarrier barrier = new CyclicBarrier(threads);
        final List<Future<?>> ends = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
          ends.add(
              executor.submit(
                  () -> {
                    barrier.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
                    return channel.shutdown();
                  }));
        }
        for (final Future<?> end : ends) {
          end.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
        }
        assertTerminates(channel);
      }
    } finally {
      executor.shutdownNow();
    }
    assertEquals(7, call(other, 7).length);
    assertEquals(1, other.ringCalls());
  }

  @Test
  void aHandshakeThatIsNeverAnsweredKeepsNoChannel() throws Exception {
    final CountDownLatch asked = new CountDownLatch(2);
    serve(
        ServerBuilder.forPort(0)
            .addService(service(Bytes.digesting()))
            .addService(
                new SessionServiceGrpc.SessionServiceImplBase() {
                  @Override
                  public StreamObserver<OpenRequest> open(StreamObserver<OpenResponse> responses) {
                    asked.countDown();
                    return new Silent();
                  }
                })
            .build()
            .start());
    final RingChannel channel = build(builder());
    assertEquals("no call has asked for a ring yet", channel.transport().reason());
    assertEquals(3, call(channel, 3).length);
    await(
        "the call asked for a ring",
        () -> channel.transport().reason().equals("a session is being opened"));
    final RingChannel strict = build(builder().requireFabric());
    final Exchange waiting = new Exchange(strict).send(new byte[1]);
    assertTrue(asked.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    channel.shutdown();
    strict.shutdown();
    assertTerminates(channel);
    assertTerminates(strict);
    TransportContract.assertStatus(
        Status.Code.UNAVAILABLE, "Channel shutdown invoked", waiting.await());
  }

  /** The server never hears that it might end the stream of the session. */
  @Test
  void aControlStreamThatTheServerDoesNotEndKeepsNoChannel() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel =
        connect(
            builder(
                onSessions(
                    new Beneath() {
                      @Override
                      public <Q, R> ClientCall<Q, R> call(ClientCall<Q, R> call) {
                        return new SimpleForwardingClientCall<>(call) {
                          @Override
                          public void halfClose() {}
                        };
                      }
                    })));
    assertEquals(3, call(channel, 3).length);
    channel.shutdown();
    assertTerminates(channel);
  }

  @Test
  void aRingThatHasWorkedIsFollowedAtOnce() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(builder().requireFabric());
    for (int round = 0; round < 10; round++) {
      assertEquals(3, call(channel, 3).length);
      channel.ring().session().end("lost in round " + round);
    }
  }

  @Test
  void aRingThatDrainsSaysSo() throws Exception {
    final Served.Handler handler = Served.hanging();
    final RingServer server = serve(handler);
    final RingChannel channel = connect(builder());
    final Exchange running = new Exchange(channel).send(new byte[1]);
    final Served served = handler.take();
    served.awaitHalfClose();
    assertTrue(channel.transport().isRing());
    server.shutdown();
    await("no drain", () -> !channel.transport().isRing());
    assertEquals("drained", channel.transport().reason());
    served.answer(new byte[4]);
    assertEquals(4, running.response().length);
  }

  /** It is not for want of room: the client may look for another server at once. */
  @Test
  void aServerThatShutsDownSaysSoToWhoeverIsAboutToOpenASession() throws Exception {
    final RingServer server = serve(Bytes.digesting());
    final RingChannel channel =
        build(
            builder(
                    onSessions(
                        new Beneath() {
                          @Override
                          public <Q, R> ClientCall<Q, R> call(ClientCall<Q, R> call) {
                            return new SimpleForwardingClientCall<>(call) {
                              @Override
                              public void sendMessage(Q hello) {
                                server.shutdown(); // between the stream's begin and its hello
                                super.sendMessage(hello);
                              }
                            };
                          }
                        }))
                .requireFabric());
    final Status status = new Exchange(channel).send(new byte[1]).await();
    TransportContract.assertStatus(
        Status.Code.UNAVAILABLE, "UNAVAILABLE: the server is shutting down", status);
  }

  @Test
  void aServerWaitsForCallsOfASessionWhoseStreamWasLost() throws Exception {
    final Served.Handler handler = Served.hanging();
    final RingServer server = serve(handler);
    final AtomicReference<ClientCall<?, ?>> control = new AtomicReference<>();
    final RingChannel channel =
        connect(
            builder(
                onSessions(
                    new Beneath() {
                      @Override
                      public <Q, R> ClientCall<Q, R> call(ClientCall<Q, R> call) {
                        control.set(call);
                        return call;
                      }
                    })));
    final Exchange running = new Exchange(channel).send(new byte[1]);
    final Served served = handler.take();
    served.awaitHalfClose();
    control.get().cancel("lost", null);
    await("no drain", () -> !channel.transport().isRing());
    server.shutdown();
    assertFalse(server.awaitTermination(300, TimeUnit.MILLISECONDS));
    assertFalse(server.isTerminated());
    served.answer(new byte[4]);
    assertEquals(4, running.response().length);
    assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertTrue(server.isTerminated());
  }

  @Test
  void interceptorsThatAreMadeForATargetSeeRingCalls() throws Exception {
    serve(Bytes.digesting());
    final AtomicInteger seen = new AtomicInteger();
    final AtomicReference<String> told = new AtomicReference<>();
    final ClientInterceptor counting =
        new ClientInterceptor() {
          @Override
          public <Q, R> ClientCall<Q, R> interceptCall(
              MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            seen.incrementAndGet();
            return next.newCall(method, options);
          }
        };
    final RingChannelBuilder builder = builder();
    InternalManagedChannelBuilder.interceptWithTarget(
        builder,
        target -> {
          told.set(target);
          return counting;
        });
    final RingChannel channel = connect(builder);
    assertEquals(3, call(channel, 3).length);
    assertEquals(1, channel.ringCalls());
    assertEquals(1, seen.get());
    assertEquals("test", told.get());
  }

  /** A look at one ring may end when there is another. */
  @Test
  void onlyTheRingThatWasIdleIsLeft() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(builder());
    assertEquals(3, call(channel, 3).length);
    final ClientSession idle = channel.ring().session();
    idle.end("lost");
    final ClientSession next =
        channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).session();
    channel.onIdle(idle);
    assertTrue(channel.transport().isRing());
    assertSame(next, channel.ring().session());
    channel.onIdle(next);
    assertFalse(channel.transport().isRing());
    await("the idle ring stays", next::hasEnded);
  }

  @Test
  void aChannelIsShutDownWhateverTheExecutorsOfItsCallsDo() throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler);
    final RingChannel channel = connect(builder());
    final Exchange running = new Exchange(channel).send(new byte[1]);
    handler.take();
    final CallOptions waiting =
        CallOptions.DEFAULT.withCallCredentials(
            new CallCredentials() {
              @Override
              public void applyRequestMetadata(
                  RequestInfo request, Executor executor, MetadataApplier applier) {}
            });
    final Executor full =
        task -> {
          throw new RejectedExecutionException("full");
        };
    for (int i = 0; i < 2; i++) {
      new Exchange(channel, Bytes.METHOD, waiting.withExecutor(full)).start();
    }
    final Exchange last = new Exchange(channel, Bytes.METHOD, waiting).start();
    channel.shutdownNow();
    assertEquals(Status.Code.UNAVAILABLE, running.await().getCode());
    assertEquals(Status.Code.UNAVAILABLE, last.await().getCode());
    assertTerminates(channel);
  }

  @Test
  void anErrorWhereASessionIsOpenedEndsThatAttemptAlone() throws Exception {
    serve(Bytes.digesting());
    final AtomicInteger sessions = new AtomicInteger();
    final RingChannel channel =
        build(
            builder(
                onSessions(
                    new Beneath() {
                      @Override
                      public <Q, R> ClientCall<Q, R> call(ClientCall<Q, R> call) {
                        if (sessions.getAndIncrement() == 0) {
                          throw new AssertionError("as the test wants");
                        }
                        return call;
                      }
                    })));
    assertThrows(AssertionError.class, channel::ring);
    assertTrue(
        channel.transport().reason().contains("as the test wants"),
        () -> channel.transport().reason());
    channel.resetConnectBackoff();
    assertTrue(channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).isOpen());
    channel.shutdown();
    assertTerminates(channel);
  }
}
