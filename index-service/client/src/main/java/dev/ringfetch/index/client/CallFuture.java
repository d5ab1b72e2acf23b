package dev.ringfetch.index.client;

import io.grpc.ClientCall;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The future of an asynchronous operation. To cancel it cancels the call that is under way. Safe
 * for use by many threads.
 */
final class CallFuture<T> extends CompletableFuture<T> {
  private final OperationRun run;
  private final Consumer<IndexException> onFailure;
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile ClientCall<?, ?> call; // the one under way, or the last

  /**
   * Creates it.
   *
   * @param onFailure gets the failure of the operation before the dependents do.
   */
  CallFuture(OperationRun run, Consumer<IndexException> onFailure) {
    this.run = run;
    this.onFailure = onFailure;
  }

  OperationRun run() {
    return run;
  }

  /**
   * Whether the application has ended the future, so that nothing more is sent for it. Ends the
   * operation then.
   */
  boolean isAbandoned() {
    if (!isDone()) {
      return false;
    }
    end(Status.Code.CANCELLED);
    return true;
  }

  /** Sets the call that a cancellation cancels. */
  void follow(ClientCall<?, ?> call) {
    this.call = call;
    if (isCancelled()) {
      call.cancel("the future was cancelled", null);
    }
  }

  void succeed(T result) {
    end(Status.Code.OK);
    complete(result);
  }

  void fail(Throwable failure) {
    if (failure instanceof IndexException e) {
      onFailure.accept(e);
      end(e.code());
    } else {
      end(Status.Code.UNKNOWN);
    }
    completeExceptionally(failure);
  }

  private void end(Status.Code code) {
    if (ended.compareAndSet(false, true)) {
      run.end(code);
    }
  }

  /** Cancels the operation. A write may be carried out all the same. */
  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    if (!isDone()) {
      end(Status.Code.CANCELLED); // before dependents, which may make another call
    }
    final boolean cancelled = super.cancel(mayInterruptIfRunning);
    final ClientCall<?, ?> last = call;
    if (cancelled && last != null) {
      last.cancel("the future was cancelled", null);
    }
    return cancelled;
  }

  /** Dependents are plain futures: to cancel one of them does not cancel the operation. */
  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new CompletableFuture<>();
  }
}
