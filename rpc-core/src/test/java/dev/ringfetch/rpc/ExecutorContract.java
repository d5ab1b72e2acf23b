package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.MoreExecutors;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallExecutorSupplier;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whose threads run callbacks and handlers. */
abstract class ExecutorContract extends TransportContract {
  private final ExecutorService mine =
      Executors.newSingleThreadExecutor(task -> new Thread(task, "mine"));
  private final ExecutorService other =
      Executors.newSingleThreadExecutor(task -> new Thread(task, "other"));

  ExecutorContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  @AfterEach
  final void closeExecutors() {
    mine.shutdown();
    other.shutdown();
  }

  @Test
  void callbacksRunInTheExecutorOfTheCall() throws Exception {
    harness.channel(builder -> builder.executor(other));
    start(Bytes.digesting());
    final Exchange call = exchange(CallOptions.DEFAULT.withExecutor(mine)).send(new byte[4]);
    assertEquals(4, call.response().length);
    assertEquals("mine", call.thread().getName());
  }

  @Test
  void callbacksRunInTheExecutorOfTheChannel() throws Exception {
    harness.channel(builder -> builder.executor(other));
    start(Bytes.digesting());
    final Exchange call = exchange().send(new byte[4]);
    assertEquals(4, call.response().length);
    assertEquals("other", call.thread().getName());
  }

  @Test
  void callbacksOfAnUnsentCallRunInItsExecutorToo() throws Exception {
    start(Bytes.digesting());
    final CallOptions options =
        CallOptions.DEFAULT.withExecutor(mine).withDeadlineAfter(-1, TimeUnit.SECONDS);
    final Exchange call = exchange(options).send(new byte[4]);
    assertEquals(Status.Code.DEADLINE_EXCEEDED, call.await().getCode());
    assertEquals("mine", call.thread().getName());
    assertServes();
  }

  @Test
  void callbacksOfACallInACancelledContextRunInItsExecutorToo() throws Exception {
    start(Bytes.digesting());
    final Context.CancellableContext context = Context.current().withCancellation();
    context.cancel(null);
    final Exchange[] call = new Exchange[1];
    context.run(() -> call[0] = exchange(CallOptions.DEFAULT.withExecutor(mine)).send(new byte[1]));
    assertEquals(Status.Code.CANCELLED, call[0].await().getCode());
    assertEquals("mine", call[0].thread().getName());
    assertServes();
  }

  @Test
  void callbacksRunDirectly() throws Exception {
    harness.channel(builder -> builder.directExecutor());
    start(Bytes.digesting());
    for (int i = 0; i < 100; i++) {
      assertEquals(i, exchange().send(new byte[i]).response().length);
      assertArrayEquals(Bytes.digest(new byte[i]), blockingCall(new byte[i]));
    }
  }

  @Test
  void callbacksOfADirectExecutorOfTheCall() throws Exception {
    start(Bytes.digesting());
    for (int i = 0; i < 100; i++) {
      assertEquals(i, exchange(Bytes.direct()).send(new byte[i]).response().length);
    }
  }

  @Test
  void callbacksOfABlockingCallRunInTheThreadThatCalls() throws Exception {
    final List<Thread> threads = Collections.synchronizedList(new ArrayList<>());
    harness.channel(builder -> builder.intercept(new ThreadRecorder(threads)));
    start(Bytes.digesting());
    for (int i = 0; i < 20; i++) {
      assertEquals(i, blockingCall(new byte[i]).length);
    }
    assertTrue(threads.size() >= 40, () -> threads.toString());
    threads.forEach(thread -> assertSame(Thread.currentThread(), thread));
  }

  @Test
  void aCallbackMayMakeABlockingCall() throws Exception {
    start(Bytes.digesting());
    final List<Integer> inner = Collections.synchronizedList(new ArrayList<>());
    final List<Exchange> calls = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      final int length = i;
      calls.add(
          new Exchange(harness.channel()) {
            @Override
            void inMessage(byte[] message) {
              inner.add(blockingCall(new byte[1000 + length]).length);
            }
          }.send(new byte[length]));
    }
    for (int i = 0; i < calls.size(); i++) {
      assertEquals(i, calls.get(i).response().length);
    }
    assertEquals(calls.size(), inner.size());
  }

  @Test
  void aCallbackOfABlockingCallMayMakeABlockingCall() throws Exception {
    harness.handle(Bytes.digesting());
    final List<Integer> inner = new ArrayList<>();
    harness.channel(
        builder ->
            builder.intercept(
                new ClientInterceptor() {
                  @Override
                  public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
                      MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
                    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
                      @Override
                      public void start(Listener<RespT> listener, Metadata headers) {
                        super.start(
                            new SimpleForwardingClientCallListener<>(listener) {
                              @Override
                              public void onMessage(RespT message) {
                                inner.add(
                                    ClientCalls.blockingUnaryCall(
                                            next, Bytes.METHOD, CallOptions.DEFAULT, new byte[77])
                                        .length);
                                super.onMessage(message);
                              }
                            },
                            headers);
                      }
                    };
                  }
                }));
    harness.start();
    assertEquals(5, blockingCall(new byte[5]).length);
    assertEquals(List.of(77), inner);
  }

  @Test
  void aCallbackMayMakeTheNextCall() throws Exception {
    harness.channel(builder -> builder.directExecutor());
    start(Bytes.digesting());
    assertEquals(0, chain(2000).get(2 * TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  /** Each answer asks the next question in its own thread: the stack must not grow. */
  private ListenableFuture<Integer> chain(int length) {
    final ListenableFuture<byte[]> call =
        ClientCalls.futureUnaryCall(
            harness.channel().newCall(Bytes.METHOD, CallOptions.DEFAULT), new byte[length % 50]);
    return Futures.transformAsync(
        call,
        answer -> length == 0 ? Futures.immediateFuture(0) : chain(length - 1),
        MoreExecutors.directExecutor());
  }

  @Test
  void handlersRunInTheExecutorOfTheServer() throws Exception {
    final Served.Handler handler = Served.digesting();
    harness.server(builder -> builder.executor(mine));
    start(handler);
    assertServes();
    assertEquals("mine", handler.take().thread.getName());
  }

  /** Chooses by a header of the call. */
  private ServerCallExecutorSupplier choosing() {
    return new ServerCallExecutorSupplier() {
      @Override
      public <ReqT, RespT> Executor getExecutor(ServerCall<ReqT, RespT> call, Metadata headers) {
        final String wanted = headers.get(Bytes.ascii("executor"));
        if ("none".equals(wanted)) {
          throw new IllegalStateException("no executor for " + call.getMethodDescriptor());
        }
        return "other".equals(wanted) ? other : null;
      }
    };
  }

  @Test
  void handlersRunInTheExecutorThatIsChosenForTheCall() throws Exception {
    final Served.Handler handler = Served.digesting();
    final MethodDescriptor<byte[], byte[]> chat =
        Bytes.method(Bytes.SERVICE + "/Chat", MethodDescriptor.MethodType.BIDI_STREAMING);
    harness.handle(chat, handler);
    harness.server(builder -> builder.executor(mine).callExecutor(choosing()));
    start(handler);
    for (final MethodDescriptor<byte[], byte[]> method : List.of(Bytes.METHOD, chat)) {
      for (final String wanted : List.of("other", "mine", "other")) {
        final Exchange call = new Exchange(harness.channel(), method, CallOptions.DEFAULT);
        call.send(Bytes.metadata("executor", wanted), new byte[7]);
        assertEquals(7, call.response().length);
        final Served served = handler.take();
        assertEquals(wanted, served.thread.getName());
        assertEquals("complete", served.awaitEnd());
      }
    }
  }

  @Test
  void aCallWhoseExecutorCannotBeChosenEnds() throws Exception {
    final Served.Handler handler = Served.digesting();
    harness.server(builder -> builder.callExecutor(choosing()));
    start(handler);
    final Exchange call = exchange().send(Bytes.metadata("executor", "none"), new byte[7]);
    assertEquals(Status.Code.UNKNOWN, call.await().getCode());
    assertEquals(0, handler.waiting());
    assertServes();
  }

  @Test
  void aCancelMeetsACallInTheExecutorThatIsChosenForIt() throws Exception {
    final Served.Handler handler = Served.hanging();
    harness.server(builder -> builder.executor(mine).callExecutor(choosing()));
    start(handler);
    final Exchange call = exchange().send(Bytes.metadata("executor", "other"), new byte[7]);
    final Served served = handler.take();
    served.awaitHalfClose();
    call.call().cancel("enough", null);
    assertEquals("cancel", served.awaitEnd());
    served.awaitCancelledContext();
  }

  @Test
  void handlersRunInAPoolUnlessSaidOtherwise() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Exchange one = exchange().send(new byte[1]);
    final Exchange two = exchange().send(new byte[1]);
    final Served first = handler.take();
    final Served second = handler.take();
    assertNotEquals(Thread.currentThread(), first.thread);
    first.awaitHalfClose();
    second.awaitHalfClose();
    first.answer(new byte[1]);
    second.answer(new byte[1]);
    assertEquals(1, one.response().length);
    assertEquals(1, two.response().length);
  }

  @Test
  void handlersThatBlockDoNotHoldUpOthers() throws Exception {
    final CountDownLatch release = new CountDownLatch(1);
    start(
        new Served.Handler(
            served -> {
              try {
                if (served.request().length > 0) {
                  assertTrue(release.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
                }
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              served.answer(served.request());
            }));
    final List<Exchange> blocked = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      blocked.add(exchange().send(new byte[i]));
    }
    assertEquals(0, exchange().send(Bytes.EMPTY).response().length);
    release.countDown();
    for (final Exchange call : blocked) {
      assertTrue(call.response().length > 0);
    }
  }

  @Test
  void handlersRunDirectly() throws Exception {
    harness.server(builder -> builder.directExecutor());
    start(Bytes.digesting());
    for (int i = 0; i < 100; i++) {
      assertEquals(i, exchange().send(new byte[i]).response().length);
      assertEquals(i * 1000, blockingCall(new byte[i * 1000]).length);
    }
  }

  @Test
  void bothSidesRunDirectly() throws Exception {
    harness.server(builder -> builder.directExecutor());
    harness.channel(builder -> builder.directExecutor());
    start(Bytes.digesting());
    final List<Exchange> calls = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      calls.add(exchange().send(new byte[i]));
    }
    for (int i = 0; i < 200; i++) {
      assertEquals(i, calls.get(i).response().length);
    }
  }

  /** Which threads run the callbacks. */
  private static final class ThreadRecorder implements ClientInterceptor {
    private final List<Thread> threads;

    ThreadRecorder(List<Thread> threads) {
      this.threads = threads;
    }

    @Override
    public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
        MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
      return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<RespT> listener, Metadata headers) {
          super.start(
              new SimpleForwardingClientCallListener<>(listener) {
                @Override
                public void onMessage(RespT message) {
                  threads.add(Thread.currentThread());
                  super.onMessage(message);
                }

                @Override
                public void onClose(Status status, Metadata trailers) {
                  threads.add(Thread.currentThread());
                  super.onClose(status, trailers);
                }
              },
              headers);
        }
      };
    }
  }
}
