package dev.ringfetch.system;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.MoreExecutors;
import dev.ringfetch.hunt.Rounds;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Many threads on one channel, each way of calling mixed with every other, and callers that cancel,
 * are interrupted, are late or fail: every call ends, once, and every answer is its own request's.
 * 40,000 calls in all, 200,000 in a hunt; {@code -Dtest.args=-Dringfetch.threads.calls=N} makes N
 * for each way.
 */
class ThreadsTest {
  private static final int THREADS = 8;
  private static final int IN_FLIGHT = 64;
  private static final long CALLS =
      Long.getLong("ringfetch.threads.calls", Rounds.once(25_000, 5_000));
  private static final int DEADLINE_S = Integer.getInteger("ringfetch.threads.deadline", 100);

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @ParameterizedTest
  @CsvSource({
    "0, false, false, 4096",
    "0, false, true, 4096",
    "0, true, false, 262144",
    "0, true, true, 4096",
    "50, false, false, 4096",
    "50, false, true, 262144",
    "50, true, false, 4096",
    "50, true, true, 262144"
  })
  void everyCallEndsOnceWithItsOwnAnswer(
      int spinUs, boolean serverDirect, boolean clientDirect, int ringLength) throws Exception {
    try (Pair pair = new Pair(spinUs, serverDirect, clientDirect, ringLength)) {
      final GetRequest first = HashIndex.request(0);
      assertTrue(HashIndex.isAnswer(first, IndexGrpc.newBlockingStub(pair.channel).get(first)));
      final Run run = new Run(pair.channel);
      final long startNs = System.nanoTime();
      run.run();
      System.out.printf(
          "threads: spin=%d us server=%s client=%s rings=%d: %s in %d ms%n",
          spinUs,
          serverDirect ? "direct" : "pool",
          clientDirect ? "direct" : "pool",
          ringLength,
          run,
          Await.millisSince(startNs));
      run.check();
      // Some end before they have sent anything.
      final long unsent = 1 + run.started.get() - pair.channel.ringCalls();
      final long mostUnsent = run.cancelled.get() + run.late.get();
      assertTrue(unsent >= 0 && unsent <= mostUnsent, () -> unsent + " calls not sent: " + run);
      assertEquals(0, pair.channel.grpcCalls(), "gRPC calls");
    }
  }

  /** Padding takes the room that the frame behind it needs, and the peer sleeps. */
  @Test
  void framesThatFillMostOfTheRing() throws Exception {
    try (Pair pair = new Pair(0, false, false, 4096)) {
      final IndexGrpc.IndexBlockingStub stub = IndexGrpc.newBlockingStub(pair.channel);
      for (int i = 0; i < 300; i++) {
        final GetRequest request = HashIndex.request(i, 2_000 + i, 3_000);
        final GetResponse response = stub.withDeadlineAfter(Duration.ofSeconds(20)).get(request);
        assertTrue(HashIndex.isAnswer(request, response));
      }
      assertEquals(300, pair.channel.ringCalls());
    }
  }

  /** A server and a channel to it. */
  private final class Pair implements AutoCloseable {
    final RingServer server;
    final RingChannel channel;

    Pair(int spinUs, boolean serverDirect, boolean clientDirect, int ringLength) throws Exception {
      final Duration spinTime = Duration.ofNanos(spinUs * 1_000L);
      final RingServerBuilder serverBuilder =
          RingServerBuilder.forPort(0)
              .shmDirectory(directory)
              .spinTime(spinTime)
              .addService(new HashIndex());
      server = (serverDirect ? serverBuilder.directExecutor() : serverBuilder).build().start();
      final RingChannelBuilder channelBuilder =
          SystemChild.channelBuilder(directory, server.getPort())
              .spinTime(spinTime)
              .ringLengths(ringLength, ringLength)
              .requireFabric();
      channel = (clientDirect ? channelBuilder.directExecutor() : channelBuilder).build();
    }

    @Override
    public void close() {
      channel.shutdown();
      awaitEnd("channel", channel::isTerminated);
      server.shutdown();
      awaitEnd("server", server::isTerminated);
    }

    private static void awaitEnd(String what, BooleanSupplier isTerminated) {
      final long startNs = System.nanoTime();
      while (!isTerminated.getAsBoolean()) {
        assertTrue(Await.millisSince(startNs) < 20_000, () -> what + dump());
        LockSupport.parkNanos(100_000);
      }
    }
  }

  private static String dump() {
    final StringBuilder dump = new StringBuilder(" does not end\n");
    for (final ThreadInfo thread : ManagementFactory.getThreadMXBean().dumpAllThreads(true, true)) {
      dump.append(thread);
    }
    return dump.toString();
  }

  /** The threads and what they count. */
  private static final class Run {
    final AtomicLong started = new AtomicLong();
    final AtomicLong ended = new AtomicLong();
    final AtomicLong answered = new AtomicLong();
    final AtomicLong cancelled = new AtomicLong();
    final AtomicLong late = new AtomicLong();
    final AtomicLong unmarshalled = new AtomicLong();
    final AtomicLong mixed = new AtomicLong();
    final AtomicInteger callbacks = new AtomicInteger();
    final List<String> failures = new ArrayList<>();

    private final RingChannel channel;
    private final IndexGrpc.IndexBlockingStub blocking;
    private final IndexGrpc.IndexFutureStub future;
    private final IndexGrpc.IndexStub async;
    private final Semaphore inFlight = new Semaphore(IN_FLIGHT);
    private final AtomicLong numbers = new AtomicLong();
    private final ListenableFuture<?>[] previous = new ListenableFuture<?>[THREADS];

    Run(RingChannel channel) {
      this.channel = channel;
      this.blocking = IndexGrpc.newBlockingStub(channel);
      this.future = IndexGrpc.newFutureStub(channel);
      this.async = IndexGrpc.newStub(channel);
    }

    void run() throws Exception {
      final List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        final int number = i;
        final Thread thread = new Thread(() -> work(number), "caller-" + i);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
      }
      final Thread interrupter = new Thread(() -> interrupt(threads.get(0)), "interrupter");
      interrupter.setDaemon(true);
      interrupter.start();
      try {
        final long startNs = System.nanoTime();
        for (final Thread thread : threads) {
          final long leftMs = 1_000L * DEADLINE_S - Await.millisSince(startNs);
          thread.join(Math.max(1, leftMs));
          assertTrue(!thread.isAlive(), () -> thread.getName() + " " + this + dump());
        }
        final long leftMs = 1_000L * DEADLINE_S - Await.millisSince(startNs);
        assertTrue(
            inFlight.tryAcquire(IN_FLIGHT, Math.max(1, leftMs), MILLISECONDS),
            () -> "a call " + this + dump());
      } finally {
        interrupter.interrupt();
        interrupter.join();
      }
    }

    /** Interrupts one caller now and then, whatever it does. */
    private static void interrupt(Thread caller) {
      try {
        while (caller.isAlive()) {
          caller.join(3);
          caller.interrupt();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // the run is over
      }
    }

    private void work(int thread) {
      for (; ; ) {
        final long number = numbers.incrementAndGet();
        if (number > CALLS) {
          return;
        }
        Thread.interrupted();
        try {
          if (number % 1009 == 0) {
            callWithBrokenMarshaller(number);
          } else if (thread % 2 == 0) {
            callBlocking(number);
          } else if (number % 3 == 0) {
            callFuture(thread, number);
          } else {
            callAsync(number);
          }
        } catch (Throwable t) {
          fail(number, t);
        }
      }
    }

    private void callBlocking(long number) {
      final GetRequest request = HashIndex.request(number);
      begin();
      try {
        // Some are late: a deadline that may pass before, while or after the answer comes.
        check(
            number, request, number % 101 == 0 ? late(number).get(request) : blocking.get(request));
      } catch (StatusRuntimeException e) {
        failed(number, e.getStatus());
      } finally {
        ended.incrementAndGet();
      }
    }

    private IndexGrpc.IndexBlockingStub late(long number) {
      return blocking.withDeadlineAfter(Duration.ofNanos(20_000 + number % 7 * 20_000));
    }

    private void callFuture(int thread, long number) throws Exception {
      final GetRequest request = HashIndex.request(number);
      acquire();
      begin();
      final ListenableFuture<GetResponse> answer = future.get(request);
      answer.addListener(() -> endFuture(number, request, answer), MoreExecutors.directExecutor());
      if (number % 5 == 0) { // possibly too late
        final ListenableFuture<?> cancelled = number % 2 == 0 ? previous[thread] : answer;
        if (cancelled != null) {
          cancelled.cancel(false);
        }
      }
      previous[thread] = answer;
    }

    private void endFuture(long number, GetRequest request, ListenableFuture<GetResponse> answer) {
      try {
        if (answer.isCancelled()) {
          cancelled.incrementAndGet();
        } else {
          check(number, request, answer.get());
        }
      } catch (ExecutionException e) {
        failed(number, Status.fromThrowable(e));
      } catch (Throwable t) {
        fail(number, t);
      } finally {
        ended.incrementAndGet();
        inFlight.release();
      }
    }

    private void callAsync(long number) throws Exception {
      final GetRequest request = HashIndex.request(number);
      acquire();
      begin();
      async.get(
          request,
          new StreamObserver<>() {
            private int ends;

            @Override
            public void onNext(GetResponse response) {
              check(number, request, response);
            }

            @Override
            public void onError(Throwable t) {
              failed(number, Status.fromThrowable(t));
              end();
            }

            @Override
            public void onCompleted() {
              if (number % 17 == 0) { // a callback that calls in its turn
                callbacks.incrementAndGet();
                callBlocking(-number);
              }
              end();
            }

            private void end() {
              if (++ends > 1) {
                fail(number, new AssertionError("ended twice"));
              }
              ended.incrementAndGet();
              inFlight.release();
            }
          });
    }

    /** A request or an answer that cannot be written or read. */
    private void callWithBrokenMarshaller(long number) {
      final MethodDescriptor<GetRequest, GetResponse> method =
          number % 2 == 0
              ? IndexGrpc.getGetMethod().toBuilder().setRequestMarshaller(broken()).build()
              : IndexGrpc.getGetMethod().toBuilder().setResponseMarshaller(broken()).build();
      begin();
      try {
        final GetResponse response =
            ClientCalls.blockingUnaryCall(
                channel, method, CallOptions.DEFAULT, HashIndex.request(number));
        fail(number, new AssertionError("answered: " + response));
      } catch (StatusRuntimeException e) {
        if (e.getStatus().getCode() == Status.Code.CANCELLED) {
          unmarshalled.incrementAndGet();
        } else {
          fail(number, e);
        }
      } finally {
        ended.incrementAndGet();
      }
    }

    private static <T> MethodDescriptor.Marshaller<T> broken() {
      return new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(T value) {
          throw new IllegalStateException("broken");
        }

        @Override
        public T parse(InputStream stream) {
          throw new IllegalStateException("broken");
        }
      };
    }

    private void acquire() throws InterruptedException {
      inFlight.acquire();
    }

    private void begin() {
      started.incrementAndGet();
    }

    private void check(long number, GetRequest request, GetResponse response) {
      answered.incrementAndGet();
      if (!HashIndex.isAnswer(request, response)) {
        mixed.incrementAndGet();
        fail(number, new AssertionError("another's answer: " + response));
      }
    }

    private void failed(long number, Status status) {
      switch (status.getCode()) {
        case CANCELLED -> cancelled.incrementAndGet();
        case DEADLINE_EXCEEDED -> late.incrementAndGet();
        default -> fail(number, status.asRuntimeException());
      }
    }

    private void fail(long number, Throwable t) {
      synchronized (failures) {
        failures.add(number + ": " + t);
      }
    }

    void check() {
      synchronized (failures) {
        assertEquals(List.of(), failures.subList(0, Math.min(10, failures.size())));
      }
      assertEquals(started.get(), ended.get(), "calls that ended");
      assertEquals(CALLS + callbacks.get(), started.get(), "calls that started");
      assertEquals(
          started.get(),
          answered.get() + cancelled.get() + late.get() + unmarshalled.get(),
          "ends of calls");
      assertEquals(0, mixed.get(), "answers of others");
      assertTrue(answered.get() > CALLS / 2, () -> "answered " + this);
    }

    @Override
    public String toString() {
      return "started="
          + started
          + " ended="
          + ended
          + " answered="
          + answered
          + " cancelled="
          + cancelled
          + " late="
          + late
          + " unmarshalled="
          + unmarshalled
          + " callbacks="
          + callbacks
          + " failures="
          + failures.size();
    }
  }
}
