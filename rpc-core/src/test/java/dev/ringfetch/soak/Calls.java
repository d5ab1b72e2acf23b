package dev.ringfetch.soak;

import com.google.common.util.concurrent.FutureCallback;
import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.MoreExecutors;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.system.HashIndex;
import dev.ringfetch.system.LostServer;
import io.grpc.Channel;
import io.grpc.Status;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Calls without end on one channel: from a thread that blocks and from one that does not, small and
 * large, with and without a deadline, some cancelled, and always one that the server does not
 * answer. Every end is judged: whether the answer is the request's own, and whether the status is
 * one that a dead or silent server may cause.
 */
final class Calls {
  private static final int IN_FLIGHT = 8;
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final int PAUSES_AFTER_FAILURE = 5;
  private static final long NO_DEADLINE = 0;
  private static final long HANGING_DEADLINE_NS = TimeUnit.SECONDS.toNanos(120);

  /** gRPC sends a deadline in whole microseconds, milliseconds or seconds. */
  private static final long EARLY_NS = TimeUnit.MILLISECONDS.toNanos(2);

  private final IndexGrpc.IndexBlockingStub blocking;
  private final IndexGrpc.IndexFutureStub future;
  private final long seed;
  private final Map<Call, Call> pending = new ConcurrentHashMap<>();
  private final Semaphore inFlight = new Semaphore(IN_FLIGHT);
  private final Semaphore hanging = new Semaphore(1);
  private final AtomicLong numbers;
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong unavailable = new AtomicLong();
  private final AtomicLong late = new AtomicLong();
  private final AtomicLong cancelled = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();
  private final AtomicLong twice = new AtomicLong();
  private volatile boolean stopped;

  Calls(Channel channel, long seed) {
    this.blocking = IndexGrpc.newBlockingStub(channel);
    this.future = IndexGrpc.newFutureStub(channel);
    this.seed = seed;
    this.numbers = new AtomicLong(seed >>> 1);
  }

  void start() {
    begin("calls-blocking", this::callBlocking);
    begin("calls-async", this::callAsync);
    begin("calls-hanging", this::callHanging);
  }

  /** Begins no more calls. */
  void stop() {
    stopped = true;
  }

  private void begin(String name, Callable call) {
    final Random random = new Random(seed + name.length());
    final Thread thread =
        new Thread(
            () -> {
              long before = 0;
              while (!stopped) {
                call.call(random);
                final boolean failed = unavailable.get() != before;
                before = unavailable.get();
                // Several of these share the machine, the more so while a server starts.
                LockSupport.parkNanos(failed ? PAUSES_AFTER_FAILURE * PAUSE_NS : PAUSE_NS);
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  private GetRequest request(Random random) {
    final long number = numbers.incrementAndGet();
    return random.nextInt(200) == 0
        ? HashIndex.request(number, random.nextInt(100_000), random.nextInt(100_000))
        : HashIndex.request(number);
  }

  private static long deadlineNs(Random random) {
    return random.nextBoolean()
        ? NO_DEADLINE
        : TimeUnit.MILLISECONDS.toNanos(1L << random.nextInt(14));
  }

  private void callBlocking(Random random) {
    final GetRequest request = request(random);
    final Call call = new Call(request, deadlineNs(random), false);
    try {
      call.answered(
          (call.deadlineNs == NO_DEADLINE
                  ? blocking
                  : blocking.withDeadlineAfter(call.deadlineNs, TimeUnit.NANOSECONDS))
              .get(request));
    } catch (RuntimeException e) {
      call.failed(e);
    }
  }

  private void callAsync(Random random) {
    final GetRequest request = request(random);
    inFlight.acquireUninterruptibly();
    final Call call = new Call(request, deadlineNs(random), random.nextInt(50) == 0);
    send(call, inFlight::release);
  }

  /** A call that is never answered: it ends with its server, and then there is another one. */
  private void callHanging(Random random) {
    hanging.acquireUninterruptibly();
    send(new Call(HashIndex.hangingRequest(), HANGING_DEADLINE_NS, false), hanging::release);
  }

  private void send(Call call, Runnable then) {
    final ListenableFuture<GetResponse> answer =
        (call.deadlineNs == NO_DEADLINE
                ? future
                : future.withDeadlineAfter(call.deadlineNs, TimeUnit.NANOSECONDS))
            .get(call.request);
    Futures.addCallback(
        answer,
        new FutureCallback<>() {
          @Override
          public void onSuccess(GetResponse response) {
            call.answered(response);
            then.run();
          }

          @Override
          public void onFailure(Throwable t) {
            call.failed(t);
            then.run();
          }
        },
        MoreExecutors.directExecutor());
    if (call.cancels) {
      answer.cancel(false);
    }
  }

  private long oldestMs(boolean hanging) {
    long oldestNs = 0;
    for (final Call call : pending.keySet()) {
      if (call.isHanging() == hanging) {
        oldestNs = Math.max(oldestNs, System.nanoTime() - call.startNs);
      }
    }
    return TimeUnit.NANOSECONDS.toMillis(oldestNs);
  }

  /** The counts, and how long the oldest calls have been under way, in milliseconds. */
  @Override
  public String toString() {
    return "answered="
        + answered
        + " unavailable="
        + unavailable
        + " late="
        + late
        + " cancelled="
        + cancelled
        + " failures="
        + (failures.get() + twice.get())
        + " pending="
        + pending.size()
        + " oldest="
        + oldestMs(false)
        + " oldestHanging="
        + oldestMs(true);
  }

  /** Makes one call. */
  @FunctionalInterface
  private interface Callable {
    void call(Random random);
  }

  /** One call, from before it begins. */
  private final class Call {
    final GetRequest request;
    final long deadlineNs;
    final boolean cancels;
    final long startNs = System.nanoTime();

    Call(GetRequest request, long deadlineNs, boolean cancels) {
      this.request = request;
      this.deadlineNs = deadlineNs;
      this.cancels = cancels;
      pending.put(this, this);
    }

    boolean isHanging() {
      return HashIndex.HANG.equals(request.getIndex());
    }

    void answered(GetResponse response) {
      end();
      if (!isHanging() && HashIndex.isAnswer(request, response)) {
        answered.incrementAndGet();
      } else {
        fail("another's answer: " + response, null);
      }
    }

    void failed(Throwable t) {
      end();
      final Status status = Status.fromThrowable(t);
      if (LostServer.endsWith(status)) {
        unavailable.incrementAndGet();
      } else if (status.getCode() == Status.Code.DEADLINE_EXCEEDED) {
        if (deadlineNs != NO_DEADLINE && System.nanoTime() - startNs > deadlineNs - EARLY_NS) {
          late.incrementAndGet();
        } else {
          fail("too early", t);
        }
      } else if (cancels) { // its future knows no status
        cancelled.incrementAndGet();
      } else {
        fail("no status of a lost server", t);
      }
    }

    private void end() {
      if (pending.remove(this) == null) {
        twice.incrementAndGet();
      }
    }

    private void fail(String what, Throwable t) {
      failures.incrementAndGet();
      System.err.println(
          what + ", after " + (System.nanoTime() - startNs) + " ns of " + deadlineNs);
      if (t != null) {
        t.printStackTrace();
      }
    }
  }
}
