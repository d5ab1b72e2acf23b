package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls of bytes: they end alike, whatever carries them. */
final class UnaryCallTest extends RingFixture {
  private static final Context.Key<String> KEY = Context.key("whose");

  /** What carries calls. */
  private enum Way {
    /** A ring, and nothing but a ring is needed. */
    RING,
    /** Ordinary calls over a ring: the channel has an interceptor. */
    INTERCEPTED,
    /** gRPC. */
    GRPC
  }

  private RingChannel connect(Way way) throws Exception {
    return connect(way, builder());
  }

  private RingChannel connect(Way way, RingChannelBuilder builder) throws Exception {
    return switch (way) {
      case RING -> connect(builder.requireFabric());
      case INTERCEPTED -> connect(builder.requireFabric().intercept(new Counting()));
      case GRPC -> build(builder.fabrics("none-such"));
    };
  }

  /** How a call has ended. */
  private static final class End {
    final byte[] answer;
    final Status status;
    final Metadata trailers;
    final String context = KEY.get();

    End(byte[] answer, Status status, Metadata trailers) {
      this.answer = answer;
      this.status = status;
      this.trailers = trailers;
    }
  }

  /** Keeps the ends. */
  private static final class Ends implements UnaryListener {
    final BlockingQueue<End> ends = new LinkedBlockingQueue<>();

    @Override
    public void onAnswer(UnaryCall call, byte[] answer, int offset, int length) {
      ends.add(new End(Arrays.copyOfRange(answer, offset, offset + length), Status.OK, null));
    }

    @Override
    public void onFailure(UnaryCall call, Status status, Metadata trailers) {
      ends.add(new End(null, status, trailers));
    }

    End take() throws InterruptedException {
      final End end = ends.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
      assertTrue(end != null, "no end");
      return end;
    }
  }

  private static final class Counting implements ClientInterceptor {
    final AtomicInteger calls = new AtomicInteger();

    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      calls.incrementAndGet();
      return next.newCall(method, options);
    }
  }

  private final Ends ends = new Ends();

  private static Status run(UnaryCall call, byte[] request) {
    return call.run(request, 0, request.length, UnaryCall.NO_TIMEOUT);
  }

  private static void start(UnaryCall call, byte[] request) {
    call.start(request, 0, request.length, UnaryCall.NO_TIMEOUT);
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void answersOfAllLengths(Way way) throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(way);
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, ends);
    int calls = 0;
    for (final int length : new int[] {0, 1, 32, 33, 5_000, 16 << 10, (16 << 10) + 1, 1 << 20}) {
      final byte[] request = Bytes.random(length, length + 14);
      for (int round = 0; round < 3; round++) {
        final Status status = call.run(request, 7, length, TimeUnit.SECONDS.toNanos(60));
        assertSame(Status.OK, status);
        final byte[] message = new byte[length];
        System.arraycopy(request, 7, message, 0, length);
        assertArrayEquals(Bytes.digest(message), ends.take().answer);
        calls++;
      }
    }
    assertEquals(way == Way.GRPC ? 0 : calls, channel.ringCalls());
    assertEquals(way == Way.GRPC ? calls : 0, channel.grpcCalls());
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void theListenerStartsTheNextCall(Way way) throws Exception {
    serve(Bytes.digesting());
    final int calls = 1_000;
    final CompletableFuture<Integer> told = new CompletableFuture<>();
    final UnaryListener next =
        new UnaryListener() {
          private int count;

          @Override
          public void onAnswer(UnaryCall call, byte[] answer, int offset, int length) {
            final byte[] expected = Bytes.digest(new byte[] {(byte) count, 1, 2});
            for (int i = 0; i < expected.length; i++) {
              if (length != 3 || answer[offset + i] != expected[i]) {
                told.completeExceptionally(new AssertionError("answer " + count));
                return;
              }
            }
            if (++count == calls) {
              told.complete(count);
            } else {
              start(call, new byte[] {(byte) count, 1, 2});
            }
          }

          @Override
          public void onFailure(UnaryCall call, Status status, Metadata trailers) {
            told.completeExceptionally(status.asException(trailers));
          }
        };
    start(connect(way).newUnaryCall(Bytes.METHOD, next), new byte[] {0, 1, 2});
    assertEquals(calls, told.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void aFailureHasItsStatusAndTrailers(Way way) throws Exception {
    final Status status = Status.NOT_FOUND.withDescription("nothing of that name");
    serve(
        new Served.Handler(served -> served.call.close(status, Bytes.metadata("detail", "much"))));
    final UnaryCall call = connect(way).newUnaryCall(Bytes.METHOD, ends);
    for (int round = 0; round < 2; round++) {
      final Status ended = run(call, new byte[4]);
      assertEquals(Status.Code.NOT_FOUND, ended.getCode());
      assertEquals("nothing of that name", ended.getDescription());
      final End end = ends.take();
      assertSame(ended, end.status);
      assertEquals("much", end.trailers.get(Bytes.ascii("detail")));
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void anAnswerMayHaveHeadersAndTrailers(Way way) throws Exception {
    serve(
        new Served.Handler(
            served ->
                served.answer(
                    Bytes.metadata("head", "h"),
                    Bytes.digest(served.request()),
                    Status.OK,
                    Bytes.metadata("tail", "t"))));
    final UnaryCall call = connect(way).newUnaryCall(Bytes.METHOD, ends);
    assertSame(Status.OK, run(call, new byte[9]));
    assertArrayEquals(Bytes.digest(new byte[9]), ends.take().answer);
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void anAnswerMayBeCompressed(Way way) throws Exception {
    serve(
        new Served.Handler(
            served -> {
              served.call.setCompression("gzip");
              served.answer(new byte[10_000]);
            }));
    final UnaryCall call = connect(way).newUnaryCall(Bytes.METHOD, ends);
    assertSame(Status.OK, run(call, new byte[9]));
    assertArrayEquals(new byte[10_000], ends.take().answer);
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void endsThatAreNoAnswers(Way way) throws Exception {
    serve(new Served.Handler(served -> served.call.close(Status.OK, new Metadata())));
    final RingChannel channel = connect(way);
    final Status none = run(channel.newUnaryCall(Bytes.METHOD, ends), new byte[1]);
    final boolean grpc = way == Way.GRPC; // whose server cancels such a call
    assertEquals(grpc ? Status.Code.CANCELLED : Status.Code.INTERNAL, none.getCode());
    final Status unknown =
        run(channel.newUnaryCall(Bytes.method(Bytes.SERVICE + "/None"), ends), new byte[1]);
    assertEquals(Status.Code.UNIMPLEMENTED, unknown.getCode());
    assertEquals(2, ends.ends.size());
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void anAnswerThatIsTooLong(Way way) throws Exception {
    serve(Bytes.answering(request -> new byte[request[0] * 100]));
    final RingChannel channel = connect(way, builder().maxInboundMessageSize(1_000));
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, ends);
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, run(call, new byte[] {11}).getCode());
    assertEquals(Status.Code.OK, run(call, new byte[] {10}).getCode());
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void deadlines(Way way) throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler);
    final UnaryCall call = connect(way).newUnaryCall(Bytes.METHOD, ends);
    final byte[] request = new byte[3];
    final Status ran = call.run(request, 0, 3, TimeUnit.MILLISECONDS.toNanos(100));
    assertEquals(Status.Code.DEADLINE_EXCEEDED, ran.getCode(), ran::toString);
    assertSame(ran, ends.take().status);
    assertEquals("cancel", handler.take().awaitEnd());
    call.start(request, 0, 3, TimeUnit.MILLISECONDS.toNanos(100));
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

  @ParameterizedTest
  @EnumSource(Way.class)
  void misuse(Way way) throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler);
    final RingChannel channel = connect(way);
    final MethodDescriptor<byte[], byte[]> streaming =
        Bytes.method(Bytes.SERVICE + "/Stream", MethodType.SERVER_STREAMING);
    assertThrows(IllegalArgumentException.class, () -> channel.newUnaryCall(streaming, ends));
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, ends);
    final byte[] request = new byte[3];
    assertThrows(
        IndexOutOfBoundsException.class, () -> call.start(request, 2, 2, UnaryCall.NO_TIMEOUT));
    call.start(request, 0, 3, UnaryCall.NO_TIMEOUT);
    assertThrows(
        IllegalStateException.class, () -> call.start(request, 0, 3, UnaryCall.NO_TIMEOUT));
    assertThrows(IllegalStateException.class, () -> call.run(request, 0, 3, UnaryCall.NO_TIMEOUT));
    handler.take().answer(new byte[2]);
    assertEquals(2, ends.take().answer.length);
    assertNull(handler.poll(50));
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void whatAListenerThrowsHarmsNothing(Way way) throws Exception {
    serve(Bytes.digesting(), builder -> builder.maxStreams(1));
    final RingChannel channel = connect(way);
    final AtomicInteger told = new AtomicInteger();
    final UnaryListener broken =
        new UnaryListener() {
          @Override
          public void onAnswer(UnaryCall call, byte[] answer, int offset, int length) {
            told.incrementAndGet();
            throw new IllegalStateException("thrown by the listener");
          }

          @Override
          public void onFailure(UnaryCall call, Status status, Metadata trailers) {
            throw new AssertionError(status);
          }
        };
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, broken);
    for (int round = 0; round < 3; round++) {
      final Throwable thrown =
          assertThrows(IllegalStateException.class, () -> run(call, new byte[1]));
      assertEquals("thrown by the listener", thrown.getMessage());
    }
    start(call, new byte[1]);
    await("told", () -> told.get() == 4);
    await("over", () -> call.toString().endsWith("false]"));
    final UnaryCall other = channel.newUnaryCall(Bytes.METHOD, ends);
    await("the stream is lost", () -> run(other, new byte[1]).isOk());
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
                awaitUninterruptibly(goOn);
              }
              return Bytes.digest(request);
            }),
        builder -> builder.pollers(1).directExecutor());
    final RingChannel channel = connect(builder());
    start(channel.newUnaryCall(Bytes.METHOD, ends), new byte[1]);
    awaitUninterruptibly(held);
    for (int i = 1; i < calls; i++) {
      start(channel.newUnaryCall(Bytes.METHOD, ends), Bytes.random(i, 40));
    }
    channel.ring().session().end("the test wants it");
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

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      assertTrue(latch.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
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

  @Test
  void moreCallsThanTheRingHasStreamsGoOverGrpc() throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler, builder -> builder.maxStreams(1));
    final RingChannel channel = connect(builder());
    for (int i = 0; i < 3; i++) {
      start(channel.newUnaryCall(Bytes.METHOD, ends), new byte[3]);
    }
    for (int i = 0; i < 3; i++) {
      handler.take().answer(new byte[1]);
      assertEquals(1, ends.take().answer.length);
    }
    assertEquals(1, channel.ringCalls());
    assertEquals(2, channel.grpcCalls());
  }

  /** As a blocking stub may: whatever carries the call, the thread serves itself meanwhile. */
  @ParameterizedTest
  @EnumSource(Way.class)
  void aListenerRunsAnotherCall(Way way) throws Exception {
    serve(Bytes.digesting());
    final RingChannelBuilder direct = builder().directExecutor();
    final RingChannel channel =
        way == Way.GRPC
            ? connect(direct) // calls that are too long for the ring's short way
            : connect(way, direct);
    final int length = way == Way.GRPC ? 40_000 : 20;
    final int outer = 50;
    final BlockingQueue<Status> told = new LinkedBlockingQueue<>();
    for (int i = 0; i < outer; i++) {
      final UnaryCall inner = channel.newUnaryCall(Bytes.METHOD, ends);
      final UnaryListener running =
          new UnaryListener() {
            @Override
            public void onAnswer(UnaryCall call, byte[] answer, int offset, int answerLength) {
              told.add(UnaryCallTest.run(inner, new byte[length]));
            }

            @Override
            public void onFailure(UnaryCall call, Status status, Metadata trailers) {
              told.add(status);
            }
          };
      start(channel.newUnaryCall(Bytes.METHOD, running), new byte[3]);
    }
    for (int i = 0; i < outer; i++) {
      final Status status = told.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
      assertTrue(status != null && status.isOk(), () -> "status=" + status);
      assertEquals(length, ends.take().answer.length);
    }
  }

  /** The executor is the channel's, and has nothing to do with who waits for himself. */
  @ParameterizedTest
  @EnumSource(Way.class)
  void aCallThatIsRunNeedsNoExecutor(Way way) throws Exception {
    serve(Bytes.digesting());
    final RingChannelBuilder rejecting =
        builder()
            .executor(
                task -> {
                  throw new RejectedExecutionException("full");
                });
    final RingChannel channel = connect(way, way == Way.GRPC ? builder() : rejecting);
    assertSame(Status.OK, run(channel.newUnaryCall(Bytes.METHOD, ends), new byte[40_000]));
    assertEquals(40_000, ends.take().answer.length);
  }

  /** One stream is enough for calls of which each starts the next. */
  @Test
  void theNextCallHasTheStreamOfTheLast() throws Exception {
    serve(Bytes.digesting(), builder -> builder.maxStreams(1));
    final RingChannel channel = connect(builder().requireFabric());
    final CompletableFuture<String> told = new CompletableFuture<>();
    final UnaryListener next =
        new UnaryListener() {
          private byte[] expected = Bytes.digest(new byte[] {1, 2, 3});
          private int count;

          @Override
          public void onAnswer(UnaryCall call, byte[] answer, int offset, int length) {
            final byte[] copy = Arrays.copyOfRange(answer, offset, offset + length);
            if (!Arrays.equals(expected, copy)) {
              told.complete("wrong answer " + count);
            } else if (++count == 100) {
              told.complete("right");
            } else {
              expected = Bytes.digest(copy);
              call.start(answer, offset, length, UnaryCall.NO_TIMEOUT); // the answer itself
            }
          }

          @Override
          public void onFailure(UnaryCall call, Status status, Metadata trailers) {
            told.complete(status.toString());
          }
        };
    start(channel.newUnaryCall(Bytes.METHOD, next), new byte[] {1, 2, 3});
    assertEquals("right", told.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertEquals(100, channel.ringCalls());
    assertEquals(0, channel.grpcCalls());
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
      for (int i = 0; i < 5_000; i++) {
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

  @Test
  void anInterceptorSeesTheCalls() throws Exception {
    serve(Bytes.digesting());
    final Counting counting = new Counting();
    final RingChannel channel = connect(builder().requireFabric().intercept(counting));
    assertSame(Status.OK, run(channel.newUnaryCall(Bytes.METHOD, ends), new byte[1]));
    assertEquals(1, counting.calls.get());
  }

  /** It ends with its context as any call does, and its listener is told in it. */
  @Test
  void aCallBelongsToTheContextItBeganIn() throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler);
    final RingChannel channel = connect(builder().requireFabric());
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, ends);
    final Context.CancellableContext context =
        Context.ROOT.withValue(KEY, "mine").withCancellation();
    context.run(() -> start(call, new byte[1]));
    handler.take().awaitHalfClose();
    context.cancel(null);
    final End end = ends.take();
    assertEquals(Status.Code.CANCELLED, end.status.getCode());
    assertEquals("mine", end.context);
  }

  /** The thread that finds the answer is another call's, which has a context. */
  @Test
  void aListenerHasNoOthersContext() throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler);
    final RingChannel channel = connect(builder().requireFabric().spinTime(Duration.ofSeconds(1)));
    for (int round = 0; round < 20; round++) {
      start(channel.newUnaryCall(Bytes.METHOD, ends), new byte[1]);
      final Served first = handler.take();
      final CompletableFuture<byte[]> other = new CompletableFuture<>();
      final Runnable blocking = () -> other.complete(call(channel, 1));
      final Thread blocked = new Thread(Context.ROOT.withValue(KEY, "another's").wrap(blocking));
      blocked.start();
      final Served second = handler.take();
      first.answer(new byte[1]);
      assertNull(ends.take().context);
      second.answer(new byte[1]);
      assertEquals(1, other.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).length);
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
