package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A call can be cancelled at any time, from any thread; both sides are told, once. */
abstract class CancellationContract extends TransportContract {
  private static final int RACES = 3000;

  CancellationContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private static void assertCancelledAtServer(Served served) throws InterruptedException {
    assertEquals("cancel", served.awaitEnd());
    assertTrue(served.call.isCancelled());
    served.awaitCancelledContext();
    assertFalse(served.call.isReady());
  }

  @Test
  void beforeStart() throws Exception {
    start(Bytes.digesting());
    final Exchange call = exchange();
    call.call().cancel("never", null);
    assertThrows(IllegalStateException.class, () -> call.start());
    assertEquals(List.of(), call.events());
    assertServes();
  }

  @Test
  void beforeHalfClose() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Exchange call = exchange().start();
    call.call().request(2);
    call.call().sendMessage(new byte[5]);
    call.call().cancel("changed my mind", null);
    assertStatus(Status.Code.CANCELLED, "changed my mind", call.await());
    assertEquals(List.of("close"), call.events());
    // Whether the server hears of such a call is the transport's business.
    final Exchange other = exchange().send(new byte[1]);
    Served served = handler.take();
    while (served.call.isCancelled() || !served.events().contains("halfClose")) {
      if (served.call.isCancelled()) {
        assertCancelledAtServer(served);
        served = handler.take();
      }
      Thread.onSpinWait();
    }
    served.answer(new byte[8]);
    assertEquals(8, other.response().length);
  }

  @Test
  void inFlight() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Exchange call = exchange().send(new byte[1]);
    final Served served = handler.take();
    served.awaitHalfClose();
    assertFalse(served.call.isCancelled());
    final IllegalStateException cause = new IllegalStateException("cause");
    call.call().cancel("enough", cause);
    final Status status = call.await();
    assertStatus(Status.Code.CANCELLED, "enough", status);
    assertSame(cause, status.getCause());
    assertEquals(List.of("close"), call.events());
    assertCancelledAtServer(served);
    assertEquals(List.of("message", "halfClose", "cancel"), served.events());
  }

  @Test
  void withoutMessageOrWithoutCause() throws Exception {
    start(Served.hanging());
    final Exchange silent = exchange().send(new byte[1]);
    silent.call().cancel(null, null);
    assertStatus(Status.Code.CANCELLED, "Call cancelled without message", silent.await());
    final Exchange caused = exchange().send(new byte[1]);
    final IllegalStateException cause = new IllegalStateException("cause");
    caused.call().cancel(null, cause);
    final Status status = caused.await();
    assertEquals(Status.Code.CANCELLED, status.getCode());
    assertSame(cause, status.getCause());
    final Exchange worded = exchange().send(new byte[1]);
    worded.call().cancel("first", null);
    worded.call().cancel("second", null);
    assertStatus(Status.Code.CANCELLED, "first", worded.await());
  }

  @Test
  void afterCompletionItIsTooLate() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    final Exchange call = exchange().send(new byte[6]);
    assertEquals(6, call.response().length);
    call.call().cancel("too late", null);
    call.call().request(1);
    assertEquals("complete", handler.take().awaitEnd());
    assertServes();
    assertEquals(List.of("headers", "message", "close"), call.events());
  }

  @Test
  void whatIsSentAfterTheServerHasClosedIsDropped() throws Exception {
    start(
        (call, headers) -> {
          call.close(Status.ABORTED, new Metadata());
          return new ServerCall.Listener<>() {};
        });
    final Exchange call = exchange().send(new byte[6]);
    assertEquals(Status.Code.ABORTED, call.await().getCode());
    call.call().request(5);
    call.call().cancel("too late", null);
    assertEquals(List.of("close"), call.events());
  }

  @Test
  void theServersAnswerToACancelledCallIsDropped() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Exchange call = exchange().send(new byte[1]);
    final Served served = handler.take();
    served.awaitHalfClose();
    call.call().cancel("enough", null);
    assertCancelledAtServer(served);
    served.call.request(1);
    served.call.sendHeaders(Bytes.metadata("late", "1"));
    served.call.sendMessage(new byte[3]);
    served.call.close(Status.OK, new Metadata());
    assertServesAfter(handler);
    assertEquals(Status.Code.CANCELLED, call.await().getCode());
    assertEquals(List.of("close"), call.events());
    assertEquals(List.of("message", "halfClose", "cancel"), served.events());
  }

  private void assertServesAfter(Served.Handler handler) throws InterruptedException {
    final Exchange next = exchange().send(new byte[2]);
    final Served served = handler.take();
    served.awaitHalfClose();
    served.answer(new byte[7]);
    assertEquals(7, next.response().length);
  }

  @Test
  void theServersContextIsCancelledWhileTheHandlerWorks() throws Exception {
    final CountDownLatch working = new CountDownLatch(1);
    final CompletableFuture<Boolean> cancelled = new CompletableFuture<>();
    start(
        new Served.Handler(
            served -> {
              final CountDownLatch told = new CountDownLatch(1);
              Context.current().addListener(context -> told.countDown(), Runnable::run);
              working.countDown();
              try {
                cancelled.complete(told.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
              } catch (InterruptedException e) {
                cancelled.completeExceptionally(e);
              }
            }));
    final Exchange call = exchange().send(new byte[1]);
    assertTrue(working.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    call.call().cancel("enough", null);
    assertTrue(cancelled.get(2 * TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertEquals(Status.Code.CANCELLED, call.await().getCode());
  }

  @Test
  void byItsContext() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Context.CancellableContext context = Context.current().withCancellation();
    final Exchange[] call = new Exchange[1];
    context.run(() -> call[0] = exchange().send(new byte[1]));
    final Served served = handler.take();
    served.awaitHalfClose();
    final IllegalStateException cause = new IllegalStateException("cause");
    context.cancel(cause);
    final Status status = call[0].await();
    assertEquals(Status.Code.CANCELLED, status.getCode());
    assertSame(cause, status.getCause());
    assertCancelledAtServer(served);
  }

  @Test
  void byItsContextWhileABlockingCallWaits() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Context.CancellableContext context = Context.current().withCancellation();
    final CompletableFuture<Status> result = new CompletableFuture<>();
    final Thread caller =
        new Thread(
            context.wrap(
                () -> {
                  try {
                    result.completeExceptionally(
                        new AssertionError("length=" + blockingCall(new byte[1]).length));
                  } catch (StatusRuntimeException e) {
                    result.complete(e.getStatus());
                  }
                }));
    caller.start();
    final Served served = handler.take();
    served.awaitHalfClose();
    context.cancel(null);
    assertEquals(
        Status.Code.CANCELLED, result.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).getCode());
    assertCancelledAtServer(served);
  }

  @Test
  void byAContextThatIsCancelledAlready() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    final Context.CancellableContext context = Context.current().withCancellation();
    final IllegalStateException cause = new IllegalStateException("cause");
    context.cancel(cause);
    final Exchange[] call = new Exchange[1];
    context.run(() -> call[0] = exchange().send(new byte[1]));
    final Status status = call[0].await();
    assertEquals(Status.Code.CANCELLED, status.getCode());
    assertSame(cause, status.getCause());
    assertEquals(List.of("close"), call[0].events());
    assertServes();
    handler.take();
    assertEquals(0, handler.waiting());
  }

  @Test
  void byAnInterruptOfTheBlockingCaller() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final CompletableFuture<Status> result = new CompletableFuture<>();
    final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    final Thread caller =
        new Thread(
            () -> {
              try {
                result.completeExceptionally(
                    new AssertionError("length=" + blockingCall(new byte[1]).length));
              } catch (StatusRuntimeException e) {
                result.complete(e.getStatus());
              }
              interrupted.complete(Thread.currentThread().isInterrupted());
            });
    caller.start();
    final Served served = handler.take();
    served.awaitHalfClose();
    caller.interrupt();
    final Status status = result.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    assertStatus(Status.Code.CANCELLED, "Thread interrupted", status);
    assertTrue(interrupted.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS), "flag is kept");
    assertCancelledAtServer(served);
  }

  @Test
  void anInterruptThatCameEarlierCancelsABlockingCall() throws Exception {
    start(Served.hanging());
    Thread.currentThread().interrupt();
    final StatusRuntimeException thrown;
    final boolean flag;
    try {
      thrown = assertThrows(StatusRuntimeException.class, () -> blockingCall(new byte[1]));
    } finally {
      flag = Thread.interrupted();
    }
    assertStatus(Status.Code.CANCELLED, "Thread interrupted", thrown.getStatus());
    assertTrue(flag, "flag is kept");
  }

  @Test
  void theServerCancelsItsContextAfterEveryCall() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    assertServes();
    final Served served = handler.take();
    assertEquals("complete", served.awaitEnd());
    final CountDownLatch cancelled = new CountDownLatch(1);
    served.context.addListener(context -> cancelled.countDown(), Runnable::run);
    assertTrue(cancelled.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  @Test
  void cancelsThatRaceWithAnswers() throws Exception {
    int completed = 0;
    final Served.Handler handler = Served.digesting();
    start(handler);
    final ExecutorService canceller = Executors.newSingleThreadExecutor();
    try {
      final Random random = new Random(1);
      final List<Exchange> calls = new ArrayList<>();
      for (int i = 0; i < RACES; i++) {
        final int length = i % 100 == 0 ? 100_000 : i % 64;
        final Exchange call = exchange().send(new byte[length]);
        final int spins = random.nextInt(3000);
        canceller.execute(
            () -> {
              for (int spin = 0; spin < spins; spin++) {
                Thread.onSpinWait();
              }
              call.call().cancel("race", null);
            });
        if (i % 10 == 0) { // on a busy machine the other thread may be late every time
          call.call().cancel("race", null);
        }
        calls.add(call);
        if (calls.size() == 50) {
          completed += finish(calls);
          calls.clear();
        }
      }
      assertTrue(completed < RACES, "all were faster than the cancel");
    } finally {
      canceller.shutdownNow();
    }
    assertServes();
    for (int i = handler.waiting(); i > 0; i--) {
      handler.take().awaitEnd();
    }
  }

  private static int finish(List<Exchange> calls) throws InterruptedException {
    int completed = 0;
    for (final Exchange call : calls) {
      final Status status = call.await();
      if (status.isOk()) {
        assertEquals(List.of("headers", "message", "close"), call.events());
        completed++;
      } else {
        assertStatus(Status.Code.CANCELLED, "race", status);
      }
    }
    return completed;
  }
}
