package dev.ringfetch.call;

import io.grpc.Metadata;
import java.util.concurrent.Executor;

/**
 * The executor that a server's {@code ServerCallExecutorSupplier} has chosen for one call, and the
 * headers of that call until it continues there.
 */
final class CallExecutor {
  private final Executor executor;
  private Metadata headers;

  CallExecutor(Executor executor, Metadata headers) {
    this.executor = executor;
    this.headers = headers;
  }

  Executor executor() {
    return executor;
  }

  /** True until the call continues on this executor. */
  boolean isAwaited() {
    return headers != null;
  }

  /** Takes the headers; the call continues here. */
  Metadata takeHeaders() {
    final Metadata taken = headers;
    headers = null;
    return taken;
  }
}
