package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Unary calls by an asynchronous stub whose callbacks come from the threads of a pool, with a fixed
 * number in flight: the callback that ends one issues the next. Not for executors that run
 * callbacks while the call is issued: {@link CallsInFlight} is for those.
 */
final class PooledCalls<T> {
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int DIGITS = 3;
  private static final long PATIENCE_MILLIS = TimeUnit.SECONDS.toMillis(30);

  private final Consumer<StreamObserver<T>> call;
  private final Predicate<T> expected;
  private Histogram latencies;

  /**
   * Creates them.
   *
   * @param call issues one.
   * @param expected whether an answer is the right one. Called by several threads.
   */
  PooledCalls(Consumer<StreamObserver<T>> call, Predicate<T> expected) {
    this.call = call;
    this.expected = expected;
  }

  /**
   * Issues calls for some time, and waits until all have ended.
   *
   * @param limit how many are on their way at once; at least so many are issued.
   * @throws IllegalStateException if a call fails, has a wrong answer, or does not end.
   */
  Figures runFor(int limit, long millis) throws InterruptedException {
    final Round round = new Round(limit, TimeUnit.MILLISECONDS.toNanos(millis));
    latencies = round.latencies;
    for (int i = 0; i < limit; i++) {
      new Slot(round).issue();
    }
    return CallEnd.await(round.figures, millis + PATIENCE_MILLIS);
  }

  /** What the last run took, in nanoseconds. */
  Histogram latencies() {
    return latencies;
  }

  /** One run. Any thread. */
  private static final class Round {
    private final Histogram latencies = new ConcurrentHistogram(LONGEST_NS, DIGITS);
    private final CompletableFuture<Figures> figures = new CompletableFuture<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicInteger busy;
    private final long lengthNs;
    private final long startNs = System.nanoTime();

    Round(int limit, long lengthNs) {
      this.busy = new AtomicInteger(limit);
      this.lengthNs = lengthNs;
    }

    /** True if there is to be another call instead of the one that has ended. */
    boolean ended(long issuedNs, Throwable reason) {
      final long nowNs = System.nanoTime();
      latencies.recordValue(Math.min(nowNs - issuedNs, LONGEST_NS));
      if (reason != null) {
        failure.compareAndSet(null, reason);
      }
      if (nowNs - startNs < lengthNs && failure.get() == null) {
        return true;
      }
      if (busy.decrementAndGet() == 0) {
        if (failure.get() == null) {
          figures.complete(Figures.of(latencies, nowNs - startNs));
        } else {
          figures.completeExceptionally(failure.get());
        }
      }
      return false;
    }
  }

  /** Room for a call. Its callbacks come one after the other. */
  private final class Slot implements StreamObserver<T> {
    private final Round round;
    private long issuedNs;
    private boolean answered;

    Slot(Round round) {
      this.round = round;
    }

    void issue() {
      answered = false;
      issuedNs = System.nanoTime();
      call.accept(this);
    }

    @Override
    public void onNext(T answer) {
      answered = expected.test(answer);
    }

    @Override
    public void onError(Throwable t) {
      ended(t);
    }

    @Override
    public void onCompleted() {
      ended(answered ? null : new IllegalStateException("not what was asked"));
    }

    private void ended(Throwable reason) {
      if (round.ended(issuedNs, reason)) {
        issue();
      }
    }
  }
}
