package dev.ringfetch.system;

import com.google.common.util.concurrent.FutureCallback;
import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.MoreExecutors;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.Channel;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Calls without end on one channel, from threads that block and from one that does not; and calls
 * that the server never answers. Every answer is checked.
 */
public final class Load implements AutoCloseable {
  private static final int IN_FLIGHT = 32;
  private static final long UNMARKED = Long.MAX_VALUE;

  private final IndexGrpc.IndexBlockingStub blocking;
  private final IndexGrpc.IndexFutureStub future;
  private final List<Thread> threads = new ArrayList<>();
  private final Semaphore inFlight = new Semaphore(IN_FLIGHT);
  private final AtomicLong numbers = new AtomicLong();
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong unavailable = new AtomicLong();
  private final AtomicLong hanging = new AtomicLong();
  private final List<String> failures = new ArrayList<>();

  private volatile boolean stopped;
  private volatile long markNs = UNMARKED;
  private long lastEndNs;
  private long pendingAtMark;

  /** Makes no calls yet. */
  public Load(Channel channel) {
    this.blocking = IndexGrpc.newBlockingStub(channel);
    this.future = IndexGrpc.newFutureStub(channel);
  }

  /** Starts the threads. */
  public Load start(int blockingThreads) {
    for (int i = 0; i < blockingThreads; i++) {
      begin("load-blocking-" + i, this::callBlocking);
    }
    begin("load-async", this::callAsync);
    return this;
  }

  /** Makes calls that are never answered. */
  public Load hang(int calls) {
    for (int i = 0; i < calls; i++) {
      hanging.incrementAndGet();
      final long startNs = System.nanoTime();
      Futures.addCallback(
          future.get(HashIndex.hangingRequest()),
          new FutureCallback<>() {
            @Override
            public void onSuccess(GetResponse response) {
              ended(startNs, Status.UNKNOWN.withDescription("answered what hangs: " + response));
              hanging.decrementAndGet();
            }

            @Override
            public void onFailure(Throwable t) {
              ended(startNs, Status.fromThrowable(t));
              hanging.decrementAndGet();
            }
          },
          MoreExecutors.directExecutor());
    }
    return this;
  }

  private void begin(String name, Runnable call) {
    final Thread thread =
        new Thread(
            () -> {
              while (!stopped) {
                call.run();
              }
            },
            name);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  private void callBlocking() {
    final GetRequest request = HashIndex.request(numbers.incrementAndGet());
    final long startNs = System.nanoTime();
    try {
      ended(startNs, check(request, blocking.get(request)));
    } catch (RuntimeException e) {
      ended(startNs, Status.fromThrowable(e));
    }
  }

  private void callAsync() {
    final GetRequest request = HashIndex.request(numbers.incrementAndGet());
    inFlight.acquireUninterruptibly();
    final long startNs = System.nanoTime();
    Futures.addCallback(
        future.get(request),
        new FutureCallback<>() {
          @Override
          public void onSuccess(GetResponse response) {
            ended(startNs, check(request, response));
            inFlight.release();
          }

          @Override
          public void onFailure(Throwable t) {
            ended(startNs, Status.fromThrowable(t));
            inFlight.release();
          }
        },
        MoreExecutors.directExecutor());
  }

  private static Status check(GetRequest request, GetResponse response) {
    return HashIndex.isAnswer(request, response)
        ? Status.OK
        : Status.DATA_LOSS.withDescription("another's answer: " + response);
  }

  private void ended(long startNs, Status status) {
    if (status.isOk()) {
      answered.incrementAndGet();
    } else if (LostServer.endsWith(status)) {
      unavailable.incrementAndGet();
    } else {
      fail(status);
    }
    if (startNs - markNs <= 0 && markNs != UNMARKED) {
      endedAfterMark();
    }
  }

  private void endedAfterMark() {
    final long nowNs = System.nanoTime();
    synchronized (failures) {
      pendingAtMark++;
      lastEndNs = Math.max(lastEndNs, nowNs - markNs);
    }
  }

  private void fail(Status status) {
    synchronized (failures) {
      failures.add(status.toString());
    }
  }

  /** Remembers this moment. */
  public void mark() {
    markNs = System.nanoTime();
  }

  /** How long after the mark the last call ended that had been begun before it, in milliseconds. */
  public long lastEndMs() {
    synchronized (failures) {
      return TimeUnit.NANOSECONDS.toMillis(lastEndNs);
    }
  }

  /** Calls that were under way at the mark and have ended since. */
  public long pendingAtMark() {
    synchronized (failures) {
      return pendingAtMark;
    }
  }

  public long answered() {
    return answered.get();
  }

  public long unavailable() {
    return unavailable.get();
  }

  /** Calls that hang still. */
  public long hanging() {
    return hanging.get();
  }

  /** What went wrong: neither an answer nor UNAVAILABLE. */
  public List<String> failures() {
    synchronized (failures) {
      return List.copyOf(failures);
    }
  }

  /** Begins no new calls and waits for those that are under way. */
  public void stop(int seconds) throws Exception {
    stopped = true;
    Await.until(
        "the end of every call",
        seconds,
        () ->
            inFlight.availablePermits() == IN_FLIGHT
                && threads.stream().noneMatch(Thread::isAlive));
  }

  @Override
  public void close() {
    stopped = true;
  }
}
