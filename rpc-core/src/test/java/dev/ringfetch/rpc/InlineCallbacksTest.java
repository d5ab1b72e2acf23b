package dev.ringfetch.rpc;

import static dev.ringfetch.call.TaskRecord.SHORT_NS_DEFAULT;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.session.poller.InlineTask;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callbacks in the client's polling thread: what they do to other calls, and others to them. */
@Timeout(120)
final class InlineCallbacksTest extends RingFixture {
  private static final MethodDescriptor<byte[], byte[]> MANY =
      Bytes.method("contract.Streams/Many", MethodDescriptor.MethodType.SERVER_STREAMING);

  private static final int CALLS = 500;
  private static final int MESSAGES = 20;
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(TransportHarness.TIMEOUT_S);
  private static final InheritableThreadLocal<String> CONTEXT = new InheritableThreadLocal<>();

  private Counters counters;

  /** A call that does something in its callback for the message. */
  private static final class Doing extends Exchange {
    private final Runnable work;
    final AtomicReference<Throwable> thrown = new AtomicReference<>();

    Doing(RingChannel channel, MethodDescriptor<byte[], byte[]> method, Runnable work) {
      super(channel, method, CallOptions.DEFAULT);
      this.work = work;
    }

    @Override
    void inMessage(byte[] message) {
      try {
        work.run();
      } catch (Throwable t) {
        thrown.set(t);
      }
    }
  }

  /** Where a callback waits. */
  private static final class Gate implements Runnable {
    final CountDownLatch entered = new CountDownLatch(1);
    final CountDownLatch opened = new CountDownLatch(1);
    volatile Thread thread;

    @Override
    public void run() {
      thread = Thread.currentThread();
      entered.countDown();
      try {
        assertTrue(opened.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  @AfterEach
  void release() {
    counters.release();
  }

  /** A channel whose callbacks run in the polling thread from the first one on. */
  private RingChannel connect() throws Exception {
    return connect(builder -> builder.inlineCallbacks(0, SHORT_NS_DEFAULT, 1));
  }

  private RingChannel connect(UnaryOperator<RingChannelBuilder> options) throws Exception {
    counters = Counters.acquire(directory);
    serve(
        Bytes.digesting(),
        builder ->
            builder
                .directExecutor()
                .addService(
                    ServerServiceDefinition.builder(MANY.getServiceName())
                        .addMethod(MANY, ServerCalls.asyncServerStreamingCall((r, to) -> many(to)))
                        .build()));
    return connect(options.apply(builder().requireFabric()));
  }

  private static void many(StreamObserver<byte[]> answers) {
    for (int i = 0; i < MESSAGES; i++) {
      answers.onNext(new byte[i]);
    }
    answers.onCompleted();
  }

  private static Doing send(RingChannel channel, int length, Runnable work) {
    final Doing call = new Doing(channel, Bytes.METHOD, work);
    call.send(new byte[length]);
    return call;
  }

  private static void assertServes(RingChannel channel, int calls) throws Exception {
    for (int i = 0; i < calls; i++) {
      assertArrayEquals(
          Bytes.digest(new byte[i % 100]), send(channel, i % 100, () -> {}).response());
    }
  }

  private static boolean isPollers(Thread thread) {
    return thread.getName().startsWith("ringfetch-client-");
  }

  /** Calls until a callback runs in the polling thread, where it does some work. */
  private static Doing inPoller(RingChannel channel, Supplier<? extends Runnable> work)
      throws Exception {
    final long start = System.nanoTime();
    while (true) {
      assertTrue(System.nanoTime() - start < TIMEOUT_NS);
      final AtomicReference<Thread> runner = new AtomicReference<>();
      final CountDownLatch begun = new CountDownLatch(1);
      final Doing call =
          send(
              channel,
              7,
              () -> {
                runner.set(Thread.currentThread());
                begun.countDown();
                if (isPollers(Thread.currentThread())) {
                  work.get().run();
                }
              });
      assertTrue(begun.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      if (isPollers(runner.get())) {
        return call;
      }
      call.response();
    }
  }

  private static Doing inPoller(RingChannel channel, Runnable work) throws Exception {
    return inPoller(channel, () -> work);
  }

  /** A call with a callback that waits in the polling thread. */
  private static Doing block(RingChannel channel, Gate gate) throws Exception {
    final Doing call = inPoller(channel, gate);
    assertTrue(gate.entered.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    return call;
  }

  private static void assertOk(Doing call) throws Exception {
    assertEquals(7, call.response().length);
    assertEquals(null, call.thrown.get());
  }

  @Test
  void callbacksThatProveShortRunInThePollingThread() throws Exception {
    final RingChannel channel = connect(builder -> builder.inlineCallbacks(64, TIMEOUT_NS, 1));
    final Exchange first = send(channel, 1, () -> {});
    first.response();
    assertFalse(isPollers(first.thread()), "it was not seen before");
    assertEquals(0, counters.total(Counter.POLLER_CALLS_INLINE));
    assertOk(inPoller(channel, () -> {}));
    assertTrue(counters.total(Counter.POLLER_CALLS_INLINE) > 0);
  }

  @Test
  void trustOutlivesTheSession() throws Exception {
    final RingChannel channel = connect(builder -> builder.inlineCallbacks(64, TIMEOUT_NS, 1));
    assertOk(inPoller(channel, () -> {}));
    channel.enterIdle();
    assertTrue(channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).isOpen());
    for (int i = 0; i < 32; i++) { // fewer than earn it
      final Exchange call = send(channel, 1, () -> {});
      call.response();
      if (isPollers(call.thread())) {
        return;
      }
    }
    throw new AssertionError("no callback ran in the polling thread");
  }

  @Test
  void callbacksThatTakeLongDoNot() throws Exception {
    final RingChannel channel = connect(builder -> builder.inlineCallbacks(0, -1, 1));
    assertServes(channel, CALLS);
    assertTrue(
        counters.total(Counter.POLLER_CALLS_INLINE) < 100,
        () -> "inline: " + counters.total(Counter.POLLER_CALLS_INLINE));
  }

  @Test
  void executorsOfTheApplicationAreKept() throws Exception {
    final Executor mine = task -> new Thread(task, "mine").start();
    final RingChannel channel =
        connect(builder -> builder.inlineCallbacks(0, SHORT_NS_DEFAULT, 1).executor(mine));
    for (int i = 0; i < 100; i++) {
      final Exchange call = send(channel, 1, () -> {});
      call.response();
      assertEquals("mine", call.thread().getName());
    }
    assertEquals(0, counters.total(Counter.POLLER_CALLS_INLINE));
  }

  @Test
  void executorsOfCallsAreKept() throws Exception {
    final Executor mine = task -> new Thread(task, "mine").start();
    final RingChannel channel = connect();
    for (int i = 0; i < 100; i++) {
      final Exchange call =
          new Exchange(channel, Bytes.METHOD, CallOptions.DEFAULT.withExecutor(mine));
      call.send(new byte[1]).response();
      assertEquals("mine", call.thread().getName());
    }
    assertEquals(0, counters.total(Counter.POLLER_CALLS_INLINE));
  }

  /** The next call begins in the callback of the one before. */
  @Test
  void callbacksMayBeginCalls() throws Exception {
    final RingChannel channel = connect();
    final CountDownLatch left = new CountDownLatch(CALLS);
    final List<Exchange> calls = Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < 16; i++) {
      calls.add(send(channel, 9, () -> chain(channel, left, calls)));
    }
    assertTrue(left.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    for (final Exchange call : List.copyOf(calls)) {
      assertArrayEquals(Bytes.digest(new byte[9]), call.response());
    }
    assertTrue(counters.total(Counter.POLLER_CALLS_INLINE) > 0);
  }

  private static void chain(RingChannel channel, CountDownLatch left, List<Exchange> calls) {
    left.countDown();
    if (left.getCount() > 0) {
      calls.add(send(channel, 9, () -> chain(channel, left, calls)));
    }
  }

  @Test
  void callbackThatWaitsHoldsNobodyUp() throws Exception {
    final RingChannel channel = connect();
    final Gate gate = new Gate();
    final Doing blocked = block(channel, gate);
    assertServes(channel, CALLS);
    assertFalse(blocked.isClosed());
    assertTrue(counters.total(Counter.POLLER_TAKEOVERS) > 0);
    gate.opened.countDown();
    assertOk(blocked);
    assertServes(channel, CALLS);
  }

  /** Each in a polling thread of its own. */
  @Test
  void severalCallbacksWaitAtOnce() throws Exception {
    final RingChannel channel = connect();
    final List<Gate> gates = new ArrayList<>();
    final List<Doing> blocked = new ArrayList<>();
    final Set<Thread> threads = new HashSet<>();
    for (int i = 0; i < 4; i++) {
      gates.add(new Gate());
      blocked.add(block(channel, gates.get(i)));
      threads.add(gates.get(i).thread);
    }
    assertEquals(4, threads.size());
    assertServes(channel, 100);
    for (int i = 0; i < 4; i++) {
      gates.get(i).opened.countDown();
      assertOk(blocked.get(i));
    }
    assertServes(channel, 100);
  }

  @Test
  void callbackMakesBlockingCalls() throws Exception {
    final RingChannel channel = connect();
    for (int i = 0; i < 20; i++) {
      final AtomicInteger inner = new AtomicInteger();
      assertOk(
          inPoller(
              channel,
              () -> {
                inner.set(call(channel, 300).length);
                inner.addAndGet(
                    ClientCalls.blockingUnaryCall(
                            channel, Bytes.METHOD, CallOptions.DEFAULT, new byte[5])
                        .length);
              }));
      assertEquals(305, inner.get());
    }
  }

  @Test
  void callbackWaitsForAnotherCallsCallback() throws Exception {
    final RingChannel channel = connect();
    for (int i = 0; i < 20; i++) {
      assertOk(
          inPoller(
              channel,
              () -> {
                try {
                  assertEquals(3, send(channel, 3, () -> {}).response().length);
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              }));
    }
  }

  @Test
  void callbackShutsItsChannelDownAndAwaitsTheEnd() throws Exception {
    final RingChannel channel = connect();
    assertOk(
        inPoller(
            channel,
            () -> {
              try {
                channel.shutdown();
                assertTrue(channel.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            }));
    assertTerminates(channel);
  }

  /** The poller ends with its last channel; callbacks in line behind the one that waits run. */
  @Test
  void channelEndsWhileACallbackWaits() throws Exception {
    final RingChannel channel = connect();
    final Gate gate = new Gate();
    final Doing blocked = block(channel, gate);
    final List<Doing> others = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      others.add(send(channel, 7, () -> {}));
    }
    channel.shutdownNow();
    for (final Doing other : others) {
      assertNotNull(other.await());
    }
    assertTerminates(channel);
    gate.opened.countDown();
    assertOk(blocked);
    await("its thread ends", () -> !gate.thread.isAlive());
  }

  @Test
  void callbacksThatThrowHarmNobody() throws Exception {
    final RingChannel channel = connect();
    for (int i = 0; i < 20; i++) {
      final Exchange failing =
          new Exchange(channel) {
            @Override
            void inMessage(byte[] message) {
              throw Status.ABORTED.asRuntimeException();
            }
          }.send(new byte[2]);
      assertEquals(Status.Code.CANCELLED, failing.await().getCode());
      assertServes(channel, 2);
    }
  }

  @Test
  void interruptsStayWithTheCallThatTheyAreOf() throws Exception {
    final RingChannel channel = connect();
    for (int i = 0; i < 50; i++) {
      assertOk(inPoller(channel, () -> Thread.currentThread().interrupt()));
      assertOk(inPoller(channel, () -> assertFalse(Thread.currentThread().isInterrupted())));
    }
  }

  @Test
  void threadsHaveNothingOfTheThreadThatNeedsThemFirst() throws Exception {
    final Thread me = Thread.currentThread();
    final ClassLoader before = me.getContextClassLoader();
    final Set<Thread> threads = Collections.synchronizedSet(new HashSet<>());
    try {
      me.setContextClassLoader(new ClassLoader(before) {});
      CONTEXT.set("mine");
      final RingChannel channel = connect();
      final Gate gate = new Gate();
      final Runnable look =
          () -> {
            threads.add(Thread.currentThread());
            assertEquals(null, CONTEXT.get());
          };
      final Doing blocked = block(channel, gate); // the backup thread is the next one
      assertOk(inPoller(channel, look));
      gate.opened.countDown();
      assertOk(blocked);
      assertOk(inPoller(channel, look));
      threads.add(gate.thread);
      DefaultExecutor.INSTANCE.submit(look).get();
    } finally {
      CONTEXT.remove();
      me.setContextClassLoader(before);
    }
    for (final Thread thread : threads) {
      final ClassLoader loader = thread.getContextClassLoader();
      assertTrue(loader == null || loader == before, thread::getName);
    }
  }

  /** Most turns end with messages left, after which nothing comes for some calls. */
  @Test
  void streamsRunInThePollingThread() throws Exception {
    final RingChannel channel = connect(builder -> builder.inlineCallbacks(0, TIMEOUT_NS, 1));
    final Set<Thread> threads = Collections.synchronizedSet(new HashSet<>());
    for (int i = 0; i < 100; i++) {
      final Exchange call =
          new Doing(
              channel,
              MANY,
              () -> {
                threads.add(Thread.currentThread());
                spin(InlineTask.BUDGET_NS);
              });
      ask(call);
      assertTrue(call.await().isOk());
      assertInOrder(call);
    }
    assertTrue(threads.stream().anyMatch(InlineCallbacksTest::isPollers), threads::toString);
  }

  /** All messages are there when the headers' callback ends, in the polling thread. */
  @Test
  void streamsThatKeepThePollingThreadGoOnElsewhere() throws Exception {
    final RingChannel channel = connect(builder -> builder.inlineCallbacks(0, TIMEOUT_NS, 1));
    final long start = System.nanoTime();
    Stream call;
    do {
      assertTrue(System.nanoTime() - start < TIMEOUT_NS);
      call = new Stream(channel);
      ask(call);
      assertTrue(call.await().isOk());
      assertInOrder(call);
    } while (!isPollers(call.threads.get(0)));
    final List<Thread> threads = call.threads;
    assertSame(threads.get(0), threads.get(1), "a turn has one message at the least");
    for (int i = 2; i < threads.size(); i++) {
      assertFalse(isPollers(threads.get(i)), "message " + i);
    }
  }

  /** A call whose messages take longer than a turn each. */
  private static final class Stream extends Exchange {
    private final RingChannel channel;
    final List<Thread> threads = new ArrayList<>(); // of the headers, and of each message

    Stream(RingChannel channel) {
      super(channel, MANY, CallOptions.DEFAULT);
      this.channel = channel;
    }

    @Override
    void inHeaders(Metadata headers) {
      threads.add(Thread.currentThread());
      assertEquals(1, RingFixture.call(channel, 1).length); // sent after all messages
    }

    @Override
    void inMessage(byte[] message) {
      threads.add(Thread.currentThread());
      spin(2 * InlineTask.BUDGET_NS);
    }
  }

  private static void spin(long nanos) {
    final long start = System.nanoTime();
    while (System.nanoTime() - start < nanos) {
      Thread.onSpinWait();
    }
  }

  private static void ask(Exchange call) {
    call.start();
    call.call().request(MESSAGES);
    call.call().sendMessage(new byte[1]);
    call.call().halfClose();
  }

  private static void assertInOrder(Exchange call) {
    assertEquals(MESSAGES, call.messages().size());
    for (int i = 0; i < MESSAGES; i++) {
      assertEquals(i, call.messages().get(i).length);
    }
  }
}
