package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Deadlines of options and contexts end calls, at both ends, and travel with them. */
abstract class DeadlineContract extends TransportContract {
  private static final long SHORT_MS = 150;

  DeadlineContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private static CallOptions in(long millis) {
    return CallOptions.DEFAULT.withDeadlineAfter(millis, TimeUnit.MILLISECONDS);
  }

  private static void assertExceeded(String text, Status status) {
    assertStatus(Status.Code.DEADLINE_EXCEEDED, text, status);
  }

  /** The server learns of it, and tells the handler as gRPC does. */
  private static void assertCancelledAtServer(Served served) throws InterruptedException {
    assertEquals("cancel", served.awaitEnd());
    assertTrue(served.call.isCancelled());
    served.awaitCancelledContext();
    assertFalse(served.events().contains("complete"));
  }

  private interface Task {
    void run() throws Exception;
  }

  private interface Attempt {
    void within(long millis) throws Exception;
  }

  /**
   * A call that came to the server before its deadline. On a busy machine that takes any time:
   * until one does, the deadlines become longer.
   */
  private static Served served(Served.Handler handler, Attempt attempt) throws Exception {
    for (long millis = SHORT_MS; ; millis *= 2) {
      attempt.within(millis);
      final boolean last = millis > TimeUnit.SECONDS.toMillis(TransportHarness.TIMEOUT_S) / 4;
      final Served served = last ? handler.take() : handler.poll(millis);
      if (served != null) {
        return served;
      }
    }
  }

  private static void within(long millis, Task task) throws Exception {
    final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
    final Context.CancellableContext context =
        Context.current().withDeadlineAfter(millis, TimeUnit.MILLISECONDS, scheduler);
    final Context before = context.attach();
    try {
      task.run();
    } finally {
      context.detach(before);
      context.cancel(null);
      scheduler.shutdownNow();
    }
  }

  @Test
  void aDeadlineThatIsPastStartsNothing() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    final Exchange call = exchange(in(-1000)).send(new byte[1]);
    final Status status = call.await();
    assertExceeded("ClientCall started after CallOptions deadline was exceeded", status);
    assertEquals(List.of("close"), call.events());
    assertThrows(
        StatusRuntimeException.class,
        () -> ClientCalls.blockingUnaryCall(harness.channel(), Bytes.METHOD, in(-1), new byte[1]));
    assertServes();
    assertEquals("complete", handler.take().awaitEnd());
    assertEquals(0, handler.waiting());
  }

  /** Time that passes when the test says so, and for no timer. */
  private static final class HandTicker extends Deadline.Ticker {
    private final AtomicLong nanos = new AtomicLong();

    @Override
    public long nanoTime() {
      return nanos.get();
    }

    void advance(long hours) {
      nanos.addAndGet(TimeUnit.HOURS.toNanos(hours));
    }
  }

  /** A call that has an hour, as the hand of a clock goes that the test moves. */
  private Exchange sendWithAnHour(HandTicker ticker) {
    return exchange(CallOptions.DEFAULT.withDeadline(Deadline.after(1, TimeUnit.HOURS, ticker)))
        .send(new byte[1]);
  }

  @Test
  void aCancelThatComesAfterTheDeadlineCountsAsThat() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final HandTicker ticker = new HandTicker();
    final Exchange call = sendWithAnHour(ticker);
    final Served served = handler.take();
    ticker.advance(2);
    call.call().cancel("late", null);
    assertExceeded("", call.await());
    assertEquals(Set.of(), call.trailers().keys());
    assertCancelledAtServer(served);
  }

  @Test
  void aServersCancelThatComesAfterTheDeadlineCountsAsThat() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final HandTicker ticker = new HandTicker();
    final Exchange call = sendWithAnHour(ticker);
    final Served served = handler.take();
    served.awaitHalfClose();
    ticker.advance(2);
    served.call.close(Status.CANCELLED, Bytes.metadata("t", "1"));
    assertExceeded("", call.await());
    assertEquals(Set.of(), call.trailers().keys());
  }

  /** Before anything has noticed, and cancelled the context. */
  @Test
  void aContextsDeadlineThatIsPastIsNamed() throws Exception {
    start(Served.digesting());
    final HandTicker ticker = new HandTicker();
    final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
    final Context.CancellableContext context =
        Context.current().withDeadline(Deadline.after(1, TimeUnit.HOURS, ticker), scheduler);
    try {
      ticker.advance(2);
      final Exchange[] call = new Exchange[1];
      context.run(() -> call[0] = exchange().send(new byte[1]));
      assertExceeded("ClientCall started after Context deadline was exceeded", call[0].await());
    } finally {
      context.cancel(null);
      scheduler.shutdownNow();
    }
    assertServes();
  }

  @Test
  void theServerIsToldTheTimeThatIsLeft() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    for (final long hours : new long[] {1, 1_000, 20_000, 1_000_000}) {
      exchange(in(TimeUnit.HOURS.toMillis(hours))).send(new byte[1]).response();
      final String timeout = handler.take().headers.get(Bytes.ascii("grpc-timeout"));
      assertTrue(timeout.matches("[0-9]{1,8}[HMSmun]"), timeout);
    }
  }

  @Test
  void aContextWhoseDeadlineIsPastStartsNothing() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    within(
        -1000,
        () ->
            assertEquals(
                Status.Code.DEADLINE_EXCEEDED, exchange().send(new byte[1]).await().getCode()));
    assertServes();
    handler.take();
    assertEquals(0, handler.waiting());
  }

  @Test
  void aBlockingCallEndsAtItsDeadline() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Attempt attempt =
        millis -> {
          final StatusRuntimeException thrown =
              assertThrows(
                  StatusRuntimeException.class,
                  () ->
                      ClientCalls.blockingUnaryCall(
                          harness.channel(), Bytes.METHOD, in(millis), new byte[1]));
          assertExceeded("deadline exceeded after", thrown.getStatus());
        };
    assertCancelledAtServer(served(handler, attempt));
  }

  @Test
  void aFutureEndsAtItsDeadline() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Attempt attempt =
        millis -> {
          final ListenableFuture<byte[]> future =
              ClientCalls.futureUnaryCall(
                  harness.channel().newCall(Bytes.METHOD, in(millis)), new byte[1]);
          final ExecutionException thrown =
              assertThrows(
                  ExecutionException.class,
                  () -> future.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
          assertExceeded("deadline exceeded after", Status.fromThrowable(thrown));
        };
    assertCancelledAtServer(served(handler, attempt));
  }

  @Test
  void aCallEndsAtItsDeadline() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Attempt attempt =
        millis -> {
          final Exchange call = exchange(in(millis)).send(new byte[1]);
          assertExceeded("CallOptions deadline exceeded after", call.await());
          assertEquals(List.of("close"), call.events());
          assertNotNull(call.trailers());
        };
    assertCancelledAtServer(served(handler, attempt));
  }

  @Test
  void aCallThatIsNeverHalfClosedEndsAtItsDeadline() throws Exception {
    start(Bytes.digesting());
    final Exchange call = exchange(in(SHORT_MS)).start();
    call.call().sendMessage(new byte[1]);
    assertExceeded("deadline exceeded after", call.await());
    assertServes();
  }

  @Test
  void aCallEndsAtTheDeadlineOfItsContext() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Task call = () -> assertExceeded("", exchange().send(new byte[1]).await());
    assertCancelledAtServer(served(handler, millis -> within(millis, call)));
    final Task blocking =
        () -> {
          final StatusRuntimeException thrown =
              assertThrows(StatusRuntimeException.class, () -> blockingCall(new byte[1]));
          assertExceeded("", thrown.getStatus());
        };
    assertCancelledAtServer(served(handler, millis -> within(millis, blocking)));
  }

  @Test
  void theEarlierDeadlineCounts() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final long hour = TimeUnit.HOURS.toMillis(1);
    final Attempt options =
        millis ->
            within(hour, () -> assertExceeded("", exchange(in(millis)).send(new byte[1]).await()));
    final Deadline ofOptions = served(handler, options).context.getDeadline();
    assertTrue(ofOptions.timeRemaining(TimeUnit.SECONDS) < TransportHarness.TIMEOUT_S);
    final Attempt context =
        millis ->
            within(millis, () -> assertExceeded("", exchange(in(hour)).send(new byte[1]).await()));
    final Deadline ofContext = served(handler, context).context.getDeadline();
    assertTrue(ofContext.timeRemaining(TimeUnit.SECONDS) < TransportHarness.TIMEOUT_S);
  }

  @Test
  void theServerSeesTheDeadline() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    final Deadline deadline = Deadline.after(1, TimeUnit.HOURS);
    assertEquals(
        1,
        exchange(CallOptions.DEFAULT.withDeadline(deadline)).send(new byte[1]).response().length);
    final Served served = handler.take();
    assertNotNull(served.context.getDeadline());
    final long differenceMs =
        deadline.timeRemaining(TimeUnit.MILLISECONDS)
            - served.context.getDeadline().timeRemaining(TimeUnit.MILLISECONDS);
    assertTrue(
        Math.abs(differenceMs) < TimeUnit.SECONDS.toMillis(TransportHarness.TIMEOUT_S),
        "differenceMs=" + differenceMs);
    assertEquals("complete", served.awaitEnd());
    assertServes();
    assertNull(handler.take().context.getDeadline(), "no deadline, none at the server");
  }

  @Test
  void aDeadlineThatIsMetChangesNothing() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    for (int i = 0; i < 20; i++) {
      final CallOptions options = in(TimeUnit.SECONDS.toMillis(TransportHarness.TIMEOUT_S));
      assertEquals(i, exchange(options).send(new byte[i]).response().length);
      final Served served = handler.take();
      assertEquals("complete", served.awaitEnd());
      assertFalse(served.call.isCancelled());
      assertNull(served.context.cancellationCause());
    }
    assertEquals(
        3,
        ClientCalls.blockingUnaryCall(
                harness.channel(), Bytes.METHOD, in(TimeUnit.DAYS.toMillis(100_000)), new byte[3])
            .length);
  }

  @Test
  void theServersContextEndsWhileTheHandlerWorks() throws Exception {
    final Served.Handler handler =
        new Served.Handler(
            served -> {
              final CountDownLatch cancelled = new CountDownLatch(1);
              Context.current().addListener(context -> cancelled.countDown(), Runnable::run);
              try {
                assertTrue(cancelled.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              served.call.sendHeaders(new Metadata()); // too late: no effect, no failure
              served.call.sendMessage(new byte[1]);
              served.call.close(Status.OK, new Metadata());
            });
    start(handler);
    final Attempt attempt =
        millis -> assertExceeded("", exchange(in(millis)).send(new byte[1]).await());
    assertEquals("cancel", served(handler, attempt).awaitEnd());
  }

  @Test
  void manyDeadlinesEndManyCalls() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Exchange[] calls = new Exchange[300];
    for (int i = 0; i < calls.length; i++) {
      calls[i] = exchange(in(50 + 7L * (i * 31 % 50))).send(new byte[i]);
    }
    for (final Exchange call : calls) {
      assertEquals(Status.Code.DEADLINE_EXCEEDED, call.await().getCode());
    }
    for (int i = handler.waiting(); i > 0; i--) { // some may not have come so far
      assertEquals("cancel", handler.take().awaitEnd());
    }
  }
}
