package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.hunt.Rounds;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.system.Await;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls of bytes that end before they are answered end alike, whatever carries them. */
final class UnaryCallEndTest extends UnaryCallFixture {
  @ParameterizedTest
  @EnumSource(Way.class)
  void deadlines(Way way) throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler);
    final UnaryCall call = connect(way).newUnaryCall(Bytes.METHOD, ends);
    final byte[] request = new byte[3];
    start(call, request); // what has to be loaded is, before a call has little time
    handler.take().answer(new byte[1]);
    assertSame(Status.OK, ends.take().status);
    final long timeoutNs = TimeUnit.SECONDS.toNanos(1); // enough to come to the handler
    final Status ran = call.run(request, 0, 3, timeoutNs);
    assertEquals(Status.Code.DEADLINE_EXCEEDED, ran.getCode(), ran::toString);
    assertSame(ran, ends.take().status);
    assertEquals("cancel", handler.take().awaitEnd());
    call.start(request, 0, 3, timeoutNs);
    assertEquals(Status.Code.DEADLINE_EXCEEDED, ends.take().status.getCode());
    assertEquals("cancel", handler.take().awaitEnd());
    final Status late = call.run(request, 0, 3, 0);
    assertEquals(Status.Code.DEADLINE_EXCEEDED, late.getCode());
    assertNull(handler.poll(50));
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void aCancelEndsACallAndNoOther(Way way) throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler);
    final UnaryCall call = connect(way).newUnaryCall(Bytes.METHOD, ends);
    call.cancel("nothing is under way");
    for (int round = 0; round < 20; round++) {
      start(call, new byte[3]);
      final Served served = handler.take();
      if (round % 2 == 0) {
        served.awaitHalfClose();
      }
      if (round % 3 == 0) {
        served.answer(new byte[1]);
      }
      call.cancel("enough");
      call.cancel("again");
      final Status status = ends.take().status;
      if (!status.isOk()) {
        TransportContract.assertStatus(Status.Code.CANCELLED, "enough", status);
      } else {
        assertEquals(0, round % 3);
      }
    }
    start(call, new byte[3]);
    handler.take().answer(new byte[] {5});
    assertArrayEquals(new byte[] {5}, ends.take().answer);
    assertEquals(0, ends.ends.size());
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void anInterruptCancelsTheCallThatIsRun(Way way) throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler);
    final UnaryCall call = connect(way).newUnaryCall(Bytes.METHOD, ends);
    final CountDownLatch ran = new CountDownLatch(1);
    final List<Object> seen = new ArrayList<>();
    final Thread runner =
        new Thread(
            () -> {
              seen.add(run(call, new byte[3]).getCode());
              seen.add(Thread.interrupted());
              ran.countDown();
            });
    runner.start();
    final Served served = handler.take();
    runner.interrupt();
    assertTrue(ran.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertEquals(List.of(Status.Code.CANCELLED, true), seen);
    assertEquals("cancel", served.awaitEnd());
    assertEquals(Status.Code.CANCELLED, ends.take().status.getCode());
  }

  /** The server's poller is held up, so that the ring fills, and the rest waits for room. */
  @Test
  void callsThatTheServerHasNotSeenAreRepeated() throws Exception {
    final int calls = 600;
    final CountDownLatch held = new CountDownLatch(1);
    final CountDownLatch goOn = new CountDownLatch(1);
    serve(
        Bytes.answering(
            request -> {
              if (request.length == 1) {
                held.countDown();
                Await.latch(goOn);
              }
              return Bytes.digest(request);
            }),
        builder -> builder.pollers(1).directExecutor());
    final RingChannel channel = connect(builder());
    start(channel.newUnaryCall(Bytes.METHOD, ends), new byte[1]);
    Await.latch(held);
    for (int i = 1; i < calls; i++) {
      start(channel.newUnaryCall(Bytes.METHOD, ends), Bytes.random(i, 40));
    }
    final ClientSession session = channel.ring().session();
    await("the ring fills", () -> session.count(Counter.SESSION_CREDIT_EXHAUSTED) > 0);
    session.end("the test wants it");
    int answered = 0;
    final Set<String> answers = new HashSet<>();
    for (int i = 0; i < calls; i++) {
      final End end = ends.take();
      if (end.status.isOk()) {
        answered++;
        answers.add(Arrays.toString(end.answer));
      } else {
        TransportContract.assertStatus(Status.Code.UNAVAILABLE, "the test wants it", end.status);
      }
    }
    goOn.countDown();
    assertEquals(0, ends.ends.size());
    assertEquals(answered, answers.size());
    for (int i = calls - answered; i < calls; i++) { // they leave in the order of their starts
      final byte[] answer = Bytes.digest(Bytes.random(i, 40));
      assertTrue(answers.contains(Arrays.toString(answer)), "call " + i);
    }
    assertTrue(answered > 0 && answered < calls - 1, "answered=" + answered);
    assertEquals(answered, channel.count(Counter.CHANNEL_CALLS_REPEATED));
  }

  @Test
  void aCallThatTheServerMayHaveSeenIsNot() throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler);
    final RingChannel channel = connect(builder());
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, ends);
    start(call, new byte[3]);
    handler.take();
    channel.ring().session().end("the test wants it");
    final Status status = ends.take().status;
    assertEquals(Status.Code.UNAVAILABLE, status.getCode());
    assertTrue(status.getDescription().endsWith("the test wants it"), status::toString);
    assertNull(handler.poll(50));
  }

  /** Ends and cancels race, with the next call begun in between: each call ends once. */
  @Test
  void cancelsThatRaceWithEnds() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(builder().requireFabric());
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, ends);
    final AtomicBoolean over = new AtomicBoolean();
    final Thread canceller =
        new Thread(
            () -> {
              while (!over.get()) {
                call.cancel("raced");
                for (int i = 0; i < 20_000; i++) { // some calls are to come to their answers
                  Thread.onSpinWait();
                }
              }
            });
    canceller.start();
    int answered = 0;
    try {
      for (int i = 0; i < Rounds.once(5_000, 2_000); i++) {
        final byte[] request = {(byte) i, (byte) (i >> 8)};
        start(call, request);
        final End end = ends.take();
        if (end.status.isOk()) {
          answered++;
          assertArrayEquals(Bytes.digest(request), end.answer);
        } else {
          TransportContract.assertStatus(Status.Code.CANCELLED, "raced", end.status);
        }
      }
    } finally {
      over.set(true);
      canceller.join();
    }
    assertEquals(0, ends.ends.size(), "answered=" + answered);
    assertSame(Status.OK, run(call, new byte[1]));
  }

  /** Only the caller gets the failure. */
  @Test
  void aCallThatCannotBeginIsNotUnderWay() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = build(builder().intercept(new Broken()));
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, ends);
    for (int i = 0; i < 2; i++) {
      assertEquals(
          "cancel",
          assertThrows(IllegalStateException.class, () -> start(call, new byte[1])).getMessage());
      assertEquals(
          "cancel",
          assertThrows(IllegalStateException.class, () -> run(call, new byte[1])).getMessage());
    }
    assertTrue(ends.ends.isEmpty());
  }

  /** Makes calls of which nothing comes. */
  private static final class Broken implements ClientInterceptor {
    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      return new ClientCall<>() {
        @Override
        public void start(Listener<R> listener, Metadata headers) {
          throw new IllegalStateException("start");
        }

        @Override
        public void cancel(String message, Throwable cause) {
          throw new IllegalStateException("cancel");
        }

        @Override
        public void request(int numMessages) {}

        @Override
        public void halfClose() {}

        @Override
        public void sendMessage(Q message) {}
      };
    }
  }

  @Test
  void afterAShutdown() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(builder());
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, ends);
    assertSame(Status.OK, run(call, new byte[1]));
    channel.shutdown();
    final Status status = run(call, new byte[1]);
    TransportContract.assertStatus(Status.Code.UNAVAILABLE, "Channel shutdown invoked", status);
    assertTerminates(channel);
    assertFalse(call.toString().endsWith("true]"));
  }
}
