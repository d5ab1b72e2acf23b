package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.hunt.Rounds;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of listeners of calls of bytes: they may do anything at the end of a call. */
final class UnaryCallListenerTest extends UnaryCallFixture {
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
              told.add(UnaryCallFixture.run(inner, new byte[length]));
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

  /**
   * However many calls end as soon as they begin, each is told when the last one's listener
   * returned.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void callsThatEndAtOnceAreToldOneAfterTheOther(boolean throwing) throws Exception {
    serve(Bytes.digesting());
    final ClientInterceptor refusing =
        new ClientInterceptor() {
          @Override
          public <Q, R> ClientCall<Q, R> interceptCall(
              MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            throw new IllegalArgumentException("refused");
          }
        };
    final RingChannelBuilder builder = builder().directExecutor();
    final RingChannel channel = build(throwing ? builder.intercept(refusing) : builder);
    if (!throwing) {
      channel.shutdownNow();
    }
    final int calls = Rounds.once(100_000, 20_000);
    final CompletableFuture<Integer> told = new CompletableFuture<>();
    final UnaryListener next =
        new UnaryListener() {
          private int count;
          private int depth;

          @Override
          public void onAnswer(UnaryCall call, byte[] answer, int offset, int length) {
            told.completeExceptionally(new AssertionError("answered"));
          }

          @Override
          public void onFailure(UnaryCall call, Status status, Metadata trailers) {
            depth++;
            if (++count == calls) {
              told.complete(depth);
            } else {
              start(call, new byte[1]);
            }
            depth--;
            if (count % 10_000 == 1) {
              throw new IllegalStateException("thrown by the listener");
            }
          }
        };
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, next);
    start(call, new byte[1]);
    assertEquals(1, told.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertTrue(call.toString().endsWith("false]"), call::toString);
  }

  /** The handler of listeners' exceptions may throw, too. */
  @Test
  void aHandlerOfWhatListenersThrowMayThrow() throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = build(builder().directExecutor());
    channel.shutdownNow();
    final AtomicInteger told = new AtomicInteger();
    final UnaryListener broken =
        new UnaryListener() {
          @Override
          public void onAnswer(UnaryCall call, byte[] answer, int offset, int length) {}

          @Override
          public void onFailure(UnaryCall call, Status status, Metadata trailers) {
            told.incrementAndGet();
            throw new IllegalStateException("thrown by the listener");
          }
        };
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, broken);
    final Thread caller =
        new Thread(
            () -> {
              for (int i = 0; i < 3; i++) {
                start(call, new byte[1]);
              }
            });
    caller.setUncaughtExceptionHandler(
        (thread, thrown) -> {
          throw new IllegalStateException("thrown by the handler");
        });
    caller.start();
    caller.join();
    assertEquals(3, told.get());
  }
}
