package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import io.grpc.stub.StreamObserver;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.HdrHistogram.Histogram;

/**
 * Unary calls by an asynchronous stub, with a fixed number in flight: the callback that ends one
 * issues the next. All callbacks have to come from one thread, as they do on one channel with a
 * direct executor; the first call is issued alone, all others by that thread.
 */
final class CallsInFlight<T> {
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int DIGITS = 3;
  private static final long PATIENCE_MILLIS = TimeUnit.SECONDS.toMillis(30);

  private final Consumer<StreamObserver<T>> call;
  private final Predicate<T> expected;
  private final long patienceMillis;
  private Histogram latencies;

  /**
   * Creates them.
   *
   * @param call issues one.
   * @param expected whether an answer is the right one.
   */
  CallsInFlight(Consumer<StreamObserver<T>> call, Predicate<T> expected) {
    this(call, expected, PATIENCE_MILLIS);
  }

  /** Same, with a time limit of the wait for the last calls. */
  CallsInFlight(Consumer<StreamObserver<T>> call, Predicate<T> expected, long patienceMillis) {
    this.call = call;
    this.expected = expected;
    this.patienceMillis = patienceMillis;
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
    round.begin();
    return CallEnd.await(round.figures, millis + patienceMillis);
  }

  /** What the last run took, in nanoseconds. */
  Histogram latencies() {
    return latencies;
  }

  /** One run; by the thread of the callbacks, once the first call is issued. */
  private final class Round {
    private final Histogram latencies = new Histogram(LONGEST_NS, DIGITS);
    private final CompletableFuture<Figures> figures = new CompletableFuture<>();
    private final ArrayDeque<Slot> idle;
    private final int limit;
    private final long lengthNs;
    private long startNs;
    private long nowNs;
    private long issued;
    private Thread thread;
    private boolean issuing;
    private Throwable failure;

    Round(int limit, long lengthNs) {
      this.limit = limit;
      this.lengthNs = lengthNs;
      this.idle = new ArrayDeque<>(limit);
      for (int i = 0; i < limit; i++) {
        idle.add(new Slot(this));
      }
    }

    void begin() {
      final Slot first = idle.remove();
      issued = 1;
      startNs = System.nanoTime();
      first.issuedNs = startNs;
      call.accept(first);
    }

    void ended(Slot slot, Throwable reason) {
      nowNs = System.nanoTime();
      latencies.recordValue(Math.min(nowNs - slot.issuedNs, LONGEST_NS));
      if (thread == null) {
        thread = Thread.currentThread();
      } else if (thread != Thread.currentThread()) {
        failure = new IllegalStateException("callbacks of several threads");
        figures.completeExceptionally(failure);
      }
      if (failure == null) {
        failure = reason;
      }
      idle.addFirst(slot);
      if (!issuing) { // a call may end before it is issued: then the loop below is at work
        issuing = true;
        refill();
        issuing = false;
        endIfIdle();
      }
    }

    private void refill() {
      while (!idle.isEmpty() && failure == null && (nowNs - startNs < lengthNs || issued < limit)) {
        final Slot slot = idle.remove();
        issued++;
        slot.issuedNs = nowNs; // another look at the clock would cost as much as a call
        call.accept(slot);
      }
    }

    private void endIfIdle() {
      if (idle.size() < limit) {
        return;
      }
      if (failure == null) {
        figures.complete(Figures.of(latencies, nowNs - startNs));
      } else {
        figures.completeExceptionally(failure);
      }
    }
  }

  /** Room for a call. */
  private final class Slot implements StreamObserver<T> {
    private final Round round;
    private long issuedNs;
    private boolean answered;

    Slot(Round round) {
      this.round = round;
    }

    @Override
    public void onNext(T answer) {
      answered = expected.test(answer);
    }

    @Override
    public void onError(Throwable t) {
      round.ended(this, t);
    }

    @Override
    public void onCompleted() {
      final boolean right = answered;
      answered = false;
      round.ended(this, right ? null : new IllegalStateException("not what was asked"));
    }
  }
}
