package dev.ringfetch.rpc;

import static dev.ringfetch.call.TaskRecord.SHORT_NS_DEFAULT;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.hunt.Rounds;
import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Handlers in the server's polling threads: what they do to others, and others to them. */
@Timeout(120)
final class InlineHandlersTest extends RingFixture {
  private static final byte SHORT = 0;
  private static final byte WAIT = 1;
  private static final byte CALL = 2;
  private static final byte SPIN = 3;
  private static final byte SLEEP = 4;
  private static final byte INTERRUPT = 5;
  private static final byte THROW = 6;
  private static final byte FAIL = 7;
  private static final byte OVERFLOW = 8;
  private static final byte SHUT_DOWN = 9;

  private static final int CALLS = 1_000;

  /** Set, so that no callback runs in a polling thread: the counters are the process's. */
  private static final Executor CALLBACKS = ForkJoinPool.commonPool();

  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(TransportHarness.TIMEOUT_S);

  private final AtomicReference<Gate> gate = new AtomicReference<>();
  private final AtomicReference<Thread> last = new AtomicReference<>();
  private final AtomicInteger interrupted = new AtomicInteger();

  private Counters counters;
  private RingServer server;
  private RingChannel own; // the server's, to itself

  /** Where a handler waits. */
  private static final class Gate {
    final CountDownLatch entered = new CountDownLatch(1);
    final CountDownLatch opened = new CountDownLatch(1);
    volatile Thread thread;
    volatile Throwable cancelCause;

    void enter() {
      thread = Thread.currentThread();
      Context.current()
          .addListener(
              context -> {
                cancelCause = context.cancellationCause();
                opened.countDown();
              },
              Runnable::run);
      entered.countDown();
      try {
        assertTrue(opened.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      } catch (InterruptedException e) {
        throw Status.DATA_LOSS.withCause(e).asRuntimeException();
      }
    }
  }

  @AfterEach
  void release() {
    counters.release();
  }

  private RingChannel serve() throws Exception {
    return serve(builder -> builder.inlineHandlers(0, SHORT_NS_DEFAULT, 1));
  }

  private RingChannel serve(UnaryOperator<RingServerBuilder> options) throws Exception {
    counters = Counters.acquire(directory);
    server = serve(Bytes.answering(this::handle), builder -> options.apply(builder.pollers(1)));
    own = connect(builder().requireFabric().executor(CALLBACKS));
    return connect(builder().requireFabric().executor(CALLBACKS));
  }

  /** Does what the request's first byte says; what follows is for the calls that it makes. */
  private byte[] handle(byte[] request) {
    last.set(Thread.currentThread());
    if (Thread.currentThread().isInterrupted()) {
      interrupted.incrementAndGet();
    }
    switch (request.length == 0 ? SHORT : request[0]) {
      case WAIT -> gate.get().enter();
      case CALL -> {
        final byte[] inner = Arrays.copyOfRange(request, 1, request.length);
        assertArrayEquals(
            Bytes.digest(inner),
            ClientCalls.blockingUnaryCall(own, Bytes.METHOD, CallOptions.DEFAULT, inner));
      }
      case SPIN -> spin();
      case SLEEP -> sleep();
      case INTERRUPT -> Thread.currentThread().interrupt();
      case THROW -> throw Status.ABORTED.asRuntimeException();
      case FAIL -> throw new AssertionError("intended");
      case OVERFLOW -> overflow(1);
      case SHUT_DOWN -> server.shutdown();
      default -> {}
    }
    return Bytes.digest(request);
  }

  private static void spin() {
    final long start = System.nanoTime();
    while (System.nanoTime() - start < 10_000_000) {
      Thread.onSpinWait();
    }
  }

  private static void sleep() {
    try {
      TimeUnit.MILLISECONDS.sleep(1); // blocks a thread, waits for nothing
    } catch (InterruptedException e) {
      throw Status.DATA_LOSS.withCause(e).asRuntimeException();
    }
  }

  private static int overflow(int depth) {
    return depth == 0 ? 0 : overflow(depth + 1) + 1;
  }

  private long count(Counter counter) {
    return counters.total(counter);
  }

  private static ListenableFuture<byte[]> send(RingChannel channel, byte... request) {
    return ClientCalls.futureUnaryCall(
        channel.newCall(
            Bytes.METHOD,
            CallOptions.DEFAULT.withDeadlineAfter(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS)),
        request);
  }

  private static Status.Code codeOf(ListenableFuture<byte[]> call) throws Exception {
    try {
      call.get(2 * TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
      return Status.Code.OK;
    } catch (ExecutionException e) {
      return Status.fromThrowable(e.getCause()).getCode();
    }
  }

  private static void assertServes(RingChannel channel, int calls) throws Exception {
    for (int i = 0; i < calls; i++) {
      assertArrayEquals(
          Bytes.digest(new byte[i % 100]),
          send(channel, new byte[i % 100]).get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
  }

  private static boolean isPollers(Thread thread) {
    return thread.getName().startsWith("ringfetch-server-");
  }

  /** Calls until one is served in the polling thread. */
  private void callUntilInline(RingChannel channel) throws Exception {
    final long start = System.nanoTime();
    do {
      assertTrue(System.nanoTime() - start < TIMEOUT_NS);
      assertServes(channel, 1);
    } while (!isPollers(last.get()));
  }

  /** A call whose handler waits in the polling thread; in the executor, it is of no interest. */
  private ListenableFuture<byte[]> block(RingChannel channel) throws Exception {
    while (true) {
      callUntilInline(channel);
      final Gate next = new Gate();
      gate.set(next);
      final ListenableFuture<byte[]> call = send(channel, WAIT);
      assertTrue(next.entered.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      if (isPollers(next.thread)) {
        return call;
      }
      next.opened.countDown();
      assertEquals(Status.Code.OK, codeOf(call));
    }
  }

  @Test
  void handlersThatProveShortRunInThePollingThread() throws Exception {
    final RingChannel channel = serve(builder -> builder.inlineHandlers(64, TIMEOUT_NS, 1));
    assertServes(channel, 1);
    assertFalse(isPollers(last.get()), "it was not seen before");
    assertEquals(0, count(Counter.POLLER_CALLS_INLINE));
    callUntilInline(channel);
    assertTrue(count(Counter.POLLER_CALLS_INLINE) > 0);
  }

  @Test
  void noHandlerDoesSoWhereItIsSwitchedOff() throws Exception {
    final RingChannel channel =
        serve(builder -> builder.inlineHandlers(0, SHORT_NS_DEFAULT, 1).inlineHandlers(false));
    assertServes(channel, CALLS);
    assertEquals(0, count(Counter.POLLER_CALLS_INLINE));
  }

  @Test
  void noHandlerDoesSoWhereThereIsAnExecutor() throws Exception {
    final RingChannel channel =
        serve(
            builder ->
                builder
                    .inlineHandlers(0, SHORT_NS_DEFAULT, 1)
                    .executor(task -> new Thread(task, "mine").start()));
    assertServes(channel, 100);
    assertEquals("mine", last.get().getName());
    assertEquals(0, count(Counter.POLLER_CALLS_INLINE));
  }

  @Test
  void handlerThatWaitsHoldsNobodyUp() throws Exception {
    final RingChannel channel = serve();
    final ListenableFuture<byte[]> blocked = block(channel);
    assertServes(channel, CALLS);
    assertServes(own, 100);
    assertFalse(blocked.isDone());
    assertTrue(count(Counter.POLLER_TAKEOVERS) > 0);
    gate.get().opened.countDown();
    assertEquals(Status.Code.OK, codeOf(blocked));
    assertServes(channel, CALLS);
  }

  /** Each in a polling thread of its own. */
  @Test
  void severalHandlersWaitAtOnce() throws Exception {
    final RingChannel channel = serve();
    final List<ListenableFuture<byte[]>> blocked = new ArrayList<>();
    final List<Gate> gates = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      blocked.add(block(channel));
      gates.add(gate.get());
    }
    assertServes(channel, 100);
    assertEquals(5, gates.stream().map(entered -> entered.thread).distinct().count());
    for (int i = 0; i < 5; i++) {
      gates.get(i).opened.countDown();
      assertEquals(Status.Code.OK, codeOf(blocked.get(i)));
    }
    assertServes(channel, CALLS);
  }

  @Test
  void threadsThatLostTheirPlaceEnd() throws Exception {
    final RingChannel channel = serve();
    final Set<Thread> threads = new HashSet<>(); // one that comes back may wait twice
    for (int i = 0; i < 5; i++) {
      final ListenableFuture<byte[]> blocked = block(channel);
      threads.add(gate.get().thread);
      callUntilInline(channel); // another one stands by, most often in the place of this one
      gate.get().opened.countDown();
      assertEquals(Status.Code.OK, codeOf(blocked));
    }
    await("threads end", () -> threads.stream().filter(Thread::isAlive).count() <= 2);
    assertServes(channel, 100);
  }

  @Test
  void handlerCallsItsOwnServer() throws Exception {
    final RingChannel channel = serve();
    for (int i = 0; i < Rounds.once(100, 20); i++) {
      callUntilInline(channel);
      assertEquals(Status.Code.OK, codeOf(send(channel, CALL)));
    }
    assertEquals(Status.Code.OK, codeOf(send(channel, CALL, CALL, CALL, CALL, SHORT)));
    assertServes(channel, 100);
  }

  @Test
  void handlerThatSpinsHoldsNobodyUp() throws Exception {
    final RingChannel channel = serve();
    for (int i = 0; i < 20; i++) {
      callUntilInline(channel);
      final ListenableFuture<byte[]> spins = send(channel, SPIN);
      assertServes(channel, 1);
      assertEquals(Status.Code.OK, codeOf(spins));
    }
  }

  @Test
  void cancelReachesAHandlerThatWaits() throws Exception {
    final RingChannel channel = serve();
    final ListenableFuture<byte[]> blocked = block(channel);
    assertTrue(blocked.cancel(true));
    final Gate entered = gate.get();
    assertTrue(entered.opened.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    await("cause", () -> entered.cancelCause != null);
    assertServes(channel, 100);
  }

  @Test
  void deadlineReachesAHandlerThatWaits() throws Exception {
    final RingChannel channel = serve();
    callUntilInline(channel);
    final Gate entered = new Gate();
    gate.set(entered);
    final ListenableFuture<byte[]> call =
        ClientCalls.futureUnaryCall(
            channel.newCall(
                Bytes.METHOD, CallOptions.DEFAULT.withDeadlineAfter(200, TimeUnit.MILLISECONDS)),
            new byte[] {WAIT});
    assertEquals(Status.Code.DEADLINE_EXCEEDED, codeOf(call));
    await("nobody told", () -> entered.entered.getCount() > 0 || entered.opened.getCount() == 0);
    assertServes(channel, 100);
  }

  @Test
  void handlersThatThrowHarmNobody() throws Exception {
    final RingChannel channel = serve();
    for (int i = 0; i < Rounds.once(20, 5); i++) {
      callUntilInline(channel);
      assertEquals(Status.Code.UNKNOWN, codeOf(send(channel, THROW)));
      assertEquals(Status.Code.UNKNOWN, codeOf(send(channel, FAIL)));
      assertEquals(Status.Code.UNKNOWN, codeOf(send(channel, OVERFLOW)));
    }
    assertServes(channel, 100);
  }

  @Test
  void interruptsStayWithTheCallThatTheyAreOf() throws Exception {
    final RingChannel channel = serve();
    for (int i = 0; i < 100; i++) {
      assertEquals(Status.Code.OK, codeOf(send(channel, INTERRUPT)));
      assertServes(channel, 2);
    }
    assertEquals(0, interrupted.get());
  }

  @Test
  void handlerThatWaitsMayBeInterrupted() throws Exception {
    final RingChannel channel = serve();
    final ListenableFuture<byte[]> blocked = block(channel);
    final Thread thread = gate.get().thread;
    assertNotNull(thread);
    thread.interrupt();
    assertEquals(Status.Code.UNKNOWN, codeOf(blocked)); // whatever a listener throws
    assertServes(channel, 100);
    assertEquals(0, interrupted.get());
  }

  @Test
  void handlerMayShutItsServerDown() throws Exception {
    final RingChannel channel = serve();
    callUntilInline(channel);
    assertEquals(Status.Code.OK, codeOf(send(channel, SHUT_DOWN)));
    channel.shutdown();
    own.shutdown();
    assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  /** Nobody waits for a handler that does not end. */
  @Test
  void serverEndsWhileAHandlerWaits() throws Exception {
    final RingChannel channel = serve();
    final ListenableFuture<byte[]> blocked = block(channel);
    final Gate entered = gate.get();
    server.shutdownNow();
    assertEquals(Status.Code.UNAVAILABLE, codeOf(blocked));
    assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    entered.opened.countDown();
    await("it ends, too", () -> !entered.thread.isAlive());
  }

  /** All at once, seed by seed. */
  @Test
  void allKindsAtOnce() throws Exception {
    final long seed = Long.getLong("ringfetch.seed", 1);
    System.out.println("seed " + seed);
    final Random random = new Random(seed);
    final RingChannel channel = serve();
    final byte[] kinds = {CALL, SPIN, SLEEP, INTERRUPT, THROW, FAIL, OVERFLOW};
    for (int round = 0; round < 3; round++) {
      final List<byte[]> requests = new ArrayList<>();
      final List<ListenableFuture<byte[]>> calls = new ArrayList<>();
      for (int i = 0; i < CALLS; i++) {
        final byte[] request = new byte[2 + random.nextInt(50)]; // an inner call is a short one
        if (random.nextInt(4) == 0) {
          request[0] = kinds[random.nextInt(kinds.length)];
        }
        requests.add(request);
        calls.add(send(random.nextBoolean() ? channel : own, request));
      }
      for (int i = 0; i < CALLS; i++) {
        final byte[] request = requests.get(i);
        switch (request[0]) {
          case THROW, FAIL, OVERFLOW -> assertEquals(Status.Code.UNKNOWN, codeOf(calls.get(i)));
          default -> {
            assertEquals(Status.Code.OK, codeOf(calls.get(i)), "request " + request[0]);
            assertArrayEquals(Bytes.digest(request), calls.get(i).get());
          }
        }
      }
    }
    assertEquals(0, interrupted.get());
    assertTrue(count(Counter.POLLER_CALLS_INLINE) > 0);
  }
}
