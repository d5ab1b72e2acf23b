package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.grpc.Status;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The calls that wait until a ring can be opened, as gRPC's wait-for-ready calls wait for a
 * connection. As long as one waits, attempts follow each other, with one timer for all. A waiter
 * leaves by completing its own future, most often by a cancel. Thread-safe.
 *
 * @param <T> type of the result of an attempt.
 */
final class WaitForReady<T> {
  private static final long MIN_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Supplier<CompletableFuture<T>> attempt;
  private final LongSupplier pauseNs;

  @GuardedBy("this")
  private final IdentityHashMap<CompletableFuture<T>, Boolean> waiting = new IdentityHashMap<>();

  @GuardedBy("this")
  private Future<?> next;

  @GuardedBy("this")
  private Status end;

  /**
   * Creates an empty set of waiters; nothing is attempted yet.
   *
   * @param attempt begins an attempt, or joins the one under way, or fails at once if it is too
   *     early for another.
   * @param pauseNs how long it is until the next attempt may begin, in nanoseconds. Called under
   *     this object's monitor.
   */
  WaitForReady(Supplier<CompletableFuture<T>> attempt, LongSupplier pauseNs) {
    this.attempt = attempt;
    this.pauseNs = pauseNs;
  }

  /**
   * Returns a future of the first successful attempt; it fails only by {@link #end} and {@link
   * #fail}.
   */
  CompletableFuture<T> await() {
    final CompletableFuture<T> one = new CompletableFuture<>();
    synchronized (this) {
      if (end != null) {
        return CompletableFuture.failedFuture(end.asRuntimeException());
      }
      waiting.put(one, true);
    }
    final CompletableFuture<?> unused = one.whenComplete((made, failure) -> leave(one));
    try {
      tryNow();
    } catch (RuntimeException | Error e) { // the caller's: nobody has the future
      one.completeExceptionally(e);
      throw e;
    }
    return one;
  }

  private synchronized void leave(CompletableFuture<T> one) {
    waiting.remove(one);
    if (waiting.isEmpty()) {
      cancelNext();
    }
  }

  /** Ends the present pause: if there are waiters, the next attempt starts at once. */
  void wake() {
    synchronized (this) {
      cancelNext();
      if (waiting.isEmpty()) {
        return;
      }
    }
    tryNow();
  }

  /** Fails all present and future waiters. */
  void end(Status status) {
    synchronized (this) {
      end = status;
    }
    fail(status);
  }

  /** Fails all present waiters. */
  void fail(Status status) {
    final List<CompletableFuture<T>> ending;
    synchronized (this) {
      ending = List.copyOf(waiting.keySet());
    }
    ending.forEach(one -> one.completeExceptionally(status.asRuntimeException()));
  }

  private void tryNow() {
    final CompletableFuture<T> tried;
    try {
      tried = attempt.get();
    } catch (RuntimeException | Error e) { // this time; it does not end the wait
      tryLater();
      throw e;
    }
    final CompletableFuture<?> unused = tried.whenComplete(this::onTried);
  }

  private void onTried(T made, Throwable failure) {
    if (failure != null) {
      tryLater();
      return;
    }
    final List<CompletableFuture<T>> served;
    synchronized (this) {
      served = List.copyOf(waiting.keySet());
    }
    served.forEach(one -> one.complete(made));
  }

  private synchronized void tryLater() {
    cancelNext();
    if (!waiting.isEmpty() && end == null) {
      next = DefaultExecutor.schedule(this::wake, Math.max(pauseNs.getAsLong(), MIN_PAUSE_NS));
    }
  }

  @GuardedBy("this")
  private void cancelNext() {
    if (next != null) {
      next.cancel(false);
      next = null;
    }
  }
}
