package dev.ringfetch.index.call;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;

/**
 * The signals of one call's client: it has cancelled the call, or it takes more answers. gRPC takes
 * the handlers of both only within the method that serves the call. The call may begin later, after
 * a catch-up with the coordinator; it looks at {@link #isCancelled} then.
 *
 * <p>Safe for use by many threads.
 *
 * @param <T> type of the response
 */
public final class CallSignals<T> {
  private final ServerCallStreamObserver<T> responses;
  private volatile boolean cancelled;
  private volatile Runnable handler = () -> {};

  /** Installs the handlers. Within the method that serves the call. */
  public CallSignals(StreamObserver<T> responses) {
    this.responses = (ServerCallStreamObserver<T>) responses;
    this.responses.setOnCancelHandler(
        () -> {
          cancelled = true;
          handler.run();
        });
    this.responses.setOnReadyHandler(() -> handler.run());
  }

  ServerCallStreamObserver<T> responses() {
    return responses;
  }

  boolean isCancelled() {
    return cancelled;
  }

  /**
   * Passes signals on from now on. The call looks once itself after that: signals that came before
   * are not repeated.
   */
  void handler(Runnable signalled) {
    handler = signalled;
  }
}
