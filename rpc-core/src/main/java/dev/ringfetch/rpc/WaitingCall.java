package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A call that waits for a ring, because its channel will have nothing else: keeps what is asked of
 * it and replays that on a new call as soon as there is a ring. Ends under its deadline, or with
 * the reason why there is none.
 */
final class WaitingCall<ReqT, RespT> extends ClientCall<ReqT, RespT> {
  private final RingChannel channel;
  private final MethodDescriptor<ReqT, RespT> method;
  private final CallOptions options;
  private final Executor executor;
  private final Context context = Context.current();

  // Guarded by this until real is set.
  private final List<Runnable> asked = new ArrayList<>();
  private Listener<RespT> listener;
  private Metadata headers;
  private CompletableFuture<ClientConnection> proceeding;
  private ClientCall<ReqT, RespT> real;

  WaitingCall(
      RingChannel channel,
      MethodDescriptor<ReqT, RespT> method,
      CallOptions options,
      Executor executor) {
    this.channel = channel;
    this.method = method;
    this.options = options;
    this.executor = executor;
  }

  @Override
  public void start(Listener<RespT> listener, Metadata headers) {
    this.listener = listener;
    this.headers = headers;
    CompletableFuture<ClientConnection> ring = channel.awaitRing();
    final Deadline own = options.getDeadline();
    final Deadline inherited = context.getDeadline();
    if (own != null || inherited != null) {
      final long ownNs = own == null ? Long.MAX_VALUE : own.timeRemaining(TimeUnit.NANOSECONDS);
      final long inheritedNs =
          inherited == null ? Long.MAX_VALUE : inherited.timeRemaining(TimeUnit.NANOSECONDS);
      ring = ring.copy().orTimeout(Math.min(ownNs, inheritedNs), TimeUnit.NANOSECONDS);
    }
    // Not the call's executor: a blocking stub's runs tasks only while the stub waits.
    proceeding =
        ring.whenCompleteAsync((open, failure) -> proceed(failure), DefaultExecutor.INSTANCE);
  }

  private void proceed(Throwable failure) {
    if (failure == null) {
      context.run(() -> replay(new RoutedCall<>(channel, method, options, executor)));
      return;
    }
    final Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    end(
        cause instanceof TimeoutException
            ? Status.DEADLINE_EXCEEDED.withDescription("deadline exceeded while waiting for a ring")
            : Status.fromThrowable(cause));
  }

  private synchronized void replay(ClientCall<ReqT, RespT> call) {
    if (real == null) {
      real = call;
      call.start(listener, headers);
      asked.forEach(Runnable::run);
      asked.clear();
    }
  }

  private void end(Status status) {
    synchronized (this) {
      if (real != null) {
        return;
      }
      real = new ClosedCall<>();
      asked.clear();
    }
    executor.execute(() -> listener.onClose(status, new Metadata()));
  }

  private synchronized void ask(Runnable action) {
    if (real == null) {
      asked.add(action);
    } else {
      action.run();
    }
  }

  @Override
  public void request(int numMessages) {
    ask(() -> real.request(numMessages));
  }

  @Override
  public void sendMessage(ReqT message) {
    ask(() -> real.sendMessage(message));
  }

  @Override
  public void halfClose() {
    ask(() -> real.halfClose());
  }

  @Override
  public void cancel(String message, Throwable cause) {
    proceeding.cancel(false);
    end(Status.CANCELLED.withDescription(message).withCause(cause));
    final ClientCall<ReqT, RespT> call;
    synchronized (this) {
      call = real;
    }
    call.cancel(message, cause);
  }
}
