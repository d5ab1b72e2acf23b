package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.v1.OpenRequest;
import dev.ringfetch.v1.OpenResponse;
import dev.ringfetch.v1.SessionServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Calls that leave the ring, wait for it, or whose executor does not want them. */
final class RoutedCallTest extends RingFixture {
  private static final Context.Key<String> KEY = Context.key("whose");

  /** A channel whose ring has one stream, which a call has taken. */
  private RingChannel full(RingChannelBuilder builder, Served.Handler handler) throws Exception {
    final RingChannel channel = connect(builder);
    new Exchange(channel).send(new byte[1]);
    handler.take().awaitHalfClose();
    return channel;
  }

  private Served.Handler serveOne() throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler, builder -> builder.maxStreams(1));
    return handler;
  }

  @Test
  void aCallThatIsReroutedStaysInItsContext() throws Exception {
    final Served.Handler handler = serveOne();
    final List<String> contexts = Collections.synchronizedList(new ArrayList<>());
    final RingChannel channel =
        full(
            builder(
                onCalls(
                    new Beneath() {
                      @Override
                      public <Q, R> ClientCall<Q, R> call(ClientCall<Q, R> call) {
                        contexts.add("new " + KEY.get());
                        return new SimpleForwardingClientCall<>(call) {
                          @Override
                          public void start(Listener<R> listener, Metadata headers) {
                            contexts.add("start " + KEY.get());
                            super.start(listener, headers);
                          }

                          @Override
                          public void sendMessage(Q message) {
                            contexts.add("send " + KEY.get());
                            super.sendMessage(message);
                          }
                        };
                      }
                    })),
            handler);
    final Exchange call =
        Context.current().withValue(KEY, "mine").call(() -> new Exchange(channel));
    assertNull(KEY.get());
    call.send(new byte[3]);
    assertEquals(List.of("new mine", "start mine", "send mine"), contexts);
    final Served served = handler.take();
    served.awaitHalfClose();
    served.answer(new byte[2]);
    assertEquals(2, call.response().length);
    assertEquals(1, channel.grpcCalls());
  }

  private enum Throwing {
    NEW_CALL(Status.Code.UNKNOWN),
    START(Status.Code.UNKNOWN),
    SEND_MESSAGE(Status.Code.CANCELLED);

    final Status.Code code;

    Throwing(Status.Code code) {
      this.code = code;
    }

    void in(Throwing where) {
      if (this == where) {
        throw new IllegalStateException("thrown in " + where);
      }
    }
  }

  @Test
  void aCallThatCannotBeReroutedEnds() throws Exception {
    final Served.Handler handler = serveOne();
    final AtomicReference<Throwing> throwing = new AtomicReference<>();
    final RingChannel channel =
        full(
            builder(
                onCalls(
                    new Beneath() {
                      @Override
                      public <Q, R> ClientCall<Q, R> call(ClientCall<Q, R> call) {
                        throwing.get().in(Throwing.NEW_CALL);
                        return new SimpleForwardingClientCall<>(call) {
                          @Override
                          public void start(Listener<R> listener, Metadata headers) {
                            throwing.get().in(Throwing.START);
                            super.start(listener, headers);
                          }

                          @Override
                          public void sendMessage(Q message) {
                            throwing.get().in(Throwing.SEND_MESSAGE);
                            super.sendMessage(message);
                          }
                        };
                      }
                    })),
            handler);
    for (final Throwing where : Throwing.values()) {
      throwing.set(where);
      final Exchange call = new Exchange(channel).send(new byte[3]);
      final Status status = call.await();
      assertEquals(where.code, status.getCode(), status::toString);
      assertEquals("thrown in " + where, status.getCause().getMessage());
      assertEquals(List.of("close"), call.events());
      call.call().request(1); // too late: no effect
      call.call().cancel("too late", null);
    }
  }

  /** Rejects until told otherwise. */
  private static final class Reluctant implements Executor {
    final CountDownLatch asked = new CountDownLatch(1);
    volatile boolean willing;

    @Override
    public void execute(Runnable task) {
      final boolean accepted = willing;
      asked.countDown();
      if (!accepted) {
        throw new RejectedExecutionException("full");
      }
      DefaultExecutor.INSTANCE.execute(task);
    }
  }

  private static Exchange send(RingChannel channel, Executor executor) {
    return new Exchange(channel, Bytes.METHOD, CallOptions.DEFAULT.withExecutor(executor))
        .send(new byte[1]);
  }

  @Test
  void aCallWhoseExecutorRejectsGivesItsStreamBack() throws Exception {
    serve(Bytes.digesting(), builder -> builder.maxStreams(1));
    final RingChannel channel = connect(builder().requireFabric());
    for (int round = 0; round < 20; round++) {
      final boolean full = round % 4 < 2;
      final Exchange lost =
          send(
              channel,
              task -> {
                if (full) {
                  throw new RejectedExecutionException("full");
                }
                throw new OutOfMemoryError("no thread");
              });
      if (round % 2 == 0) {
        lost.call().cancel("at any time", null);
      }
      await(
          "the stream is lost",
          () -> {
            try {
              return new Exchange(channel).send(new byte[1]).await().isOk();
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
          });
      assertEquals(List.of(), lost.events());
    }
  }

  /** Of the default executor, which has no thread and gets none for a while. */
  @Test
  void callsWhoseListenersHaveNoThreadEndWhenThereIsOne() throws Exception {
    serve(Bytes.digesting(), RingServerBuilder::directExecutor);
    final RingChannel channel = connect(builder().requireFabric());
    final ThreadPoolExecutor pool = (ThreadPoolExecutor) DefaultExecutor.INSTANCE;
    final ThreadFactory threads = pool.getThreadFactory();
    final long keepAliveNs = pool.getKeepAliveTime(TimeUnit.NANOSECONDS);
    final AtomicInteger refused = new AtomicInteger();
    final List<Exchange> calls = new ArrayList<>();
    pool.setKeepAliveTime(0, TimeUnit.NANOSECONDS);
    pool.setThreadFactory(
        task -> {
          refused.incrementAndGet();
          throw new OutOfMemoryError("unable to create native thread: as the test wants");
        });
    try {
      await("threads are left", () -> pool.getPoolSize() == 0);
      for (int i = 0; i < 10; i++) {
        calls.add(new Exchange(channel).send(new byte[1]));
      }
      calls.add(
          new Exchange(channel, Bytes.method("no.Service/Call"), CallOptions.DEFAULT)
              .send(new byte[1]));
      await("a call has found a thread", () -> refused.get() >= calls.size());
    } finally {
      pool.setThreadFactory(threads);
      pool.setKeepAliveTime(keepAliveNs, TimeUnit.NANOSECONDS);
    }
    assertEquals(Status.Code.UNIMPLEMENTED, calls.remove(10).await().getCode());
    for (final Exchange call : calls) {
      assertEquals(Status.Code.OK, call.await().getCode());
    }
  }

  @Test
  void aCallWhoseExecutorRejectsCanBeCancelledLater() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(builder());
    for (int round = 0; round < 20; round++) {
      final Reluctant executor = new Reluctant();
      final Exchange call = send(channel, executor);
      assertTrue(executor.asked.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      executor.willing = true;
      call.call().cancel("then not", null);
      assertEquals(Status.Code.CANCELLED, call.await().getCode());
      assertEquals(List.of("close"), call.events());
    }
  }

  /** Or a timer for each call would pile up until then. */
  @Test
  void aCallThatHasEndedIsNotKeptUntilItsDeadline() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(builder());
    final WeakReference<Exchange> ended = new WeakReference<>(answeredWithin(channel, 1));
    final WeakReference<Exchange> cancelled = new WeakReference<>(cancelledWithin(channel, 1));
    await(
        "the call is still there",
        () -> {
          System.gc();
          return ended.get() == null && cancelled.get() == null;
        });
  }

  private static Exchange answeredWithin(RingChannel channel, long days) throws Exception {
    final CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(days, TimeUnit.DAYS);
    final Exchange call = new Exchange(channel, Bytes.METHOD, options).send(new byte[2]);
    assertEquals(2, call.response().length);
    return call;
  }

  private static Exchange cancelledWithin(RingChannel channel, long days) throws Exception {
    final CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(days, TimeUnit.DAYS);
    final Exchange call = new Exchange(channel, Bytes.METHOD, options).start();
    call.call().cancel("enough", null);
    assertEquals(Status.Code.CANCELLED, call.await().getCode());
    return call;
  }

  /** A server that never answers the handshake. */
  private RingChannel waitingChannel() throws Exception {
    serve(
        ServerBuilder.forPort(0)
            .addService(
                new SessionServiceGrpc.SessionServiceImplBase() {
                  @Override
                  public StreamObserver<OpenRequest> open(StreamObserver<OpenResponse> responses) {
                    return new Silent();
                  }
                })
            .build()
            .start());
    return build(builder().requireFabric());
  }

  @Test
  void aCallThatWaitsEndsWithItsContext() throws Exception {
    final RingChannel channel = waitingChannel();
    final Context.CancellableContext context = Context.current().withCancellation();
    final Exchange call = context.call(() -> new Exchange(channel).send(new byte[1]));
    assertFalse(call.isClosed());
    context.cancel(new IllegalStateException("enough"));
    assertEquals(Status.Code.CANCELLED, call.await().getCode());
    assertEquals(List.of("close"), call.events());
    final Exchange tooLate = context.call(() -> new Exchange(channel).send(new byte[1]));
    assertEquals(Status.Code.CANCELLED, tooLate.await().getCode());
  }

  @Test
  void aCancelMayOvertakeTheStartOfACallThatWaits() throws Exception {
    final RingChannel channel = waitingChannel();
    final AtomicBoolean locked = new AtomicBoolean();
    final AtomicReference<Object> monitor = new AtomicReference<>();
    final CountDownLatch closed = new CountDownLatch(1);
    final RoutedCall<byte[], byte[]> route =
        new RoutedCall<>(
            channel,
            Bytes.METHOD,
            CallOptions.DEFAULT,
            task -> {
              locked.set(Thread.holdsLock(monitor.get()));
              task.run();
            },
            RoutedCall.Entry.NEW);
    final WaitingCall<byte[], byte[]> call =
        new WaitingCall<>(
            route,
            channel.pick(Bytes.METHOD, CallOptions.DEFAULT, new Metadata()),
            WaitingCall.Subject.RING,
            null);
    monitor.set(call);
    call.cancel("overtaken", null);
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onClose(Status status, Metadata trailers) {
            assertEquals(Status.Code.CANCELLED, status.getCode());
            closed.countDown();
          }
        },
        new Metadata());
    assertTrue(closed.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertFalse(locked.get(), "the user's executor runs under the monitor");
    call.request(1);
    call.sendMessage(new byte[1]);
    call.halfClose();
  }
}
