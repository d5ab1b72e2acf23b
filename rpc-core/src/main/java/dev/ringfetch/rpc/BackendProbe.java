package dev.ringfetch.rpc;

import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;

/**
 * A call that gRPC resolves names, connects and picks for, as for any other, and that ends when the
 * policy has picked: no server sees it. It fails as a call does that gRPC cannot connect.
 * Thread-safe.
 */
final class BackendProbe extends ClientCall.Listener<OpenResponse> {
  private final CompletableFuture<Pick> future = new CompletableFuture<>();
  private final CallOptions options;
  private ClientCall<OpenRequest, OpenResponse> call;
  private volatile Pick pick;

  BackendProbe(boolean waitForReady) {
    final CallOptions plain =
        CallOptions.DEFAULT.withExecutor(DefaultExecutor.RETRYING).withOption(Tap.PROBE, this);
    this.options = waitForReady ? plain.withWaitForReady() : plain;
  }

  CompletableFuture<Pick> future() {
    return future;
  }

  void start(Channel control) {
    Context.ROOT.run(
        () -> {
          call = control.newCall(SessionService.OPEN, options);
          call.start(this, new Metadata());
        });
    final CompletableFuture<?> unused =
        future.whenComplete((picked, failure) -> call.cancel("the backend is known", null));
  }

  /** Called when the policy has picked; the call ends then. */
  void onPick(Pick made) {
    pick = made;
  }

  /** Called when the call has a stream, though the policy has not picked it: there is no tap. */
  @Override
  public void onReady() {
    end(Status.UNIMPLEMENTED.withDescription(Backends.BYPASSED));
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    if (pick != null) {
      future.complete(pick);
      return;
    }
    end(
        status.getCode() == Status.Code.UNIMPLEMENTED
            ? Status.UNIMPLEMENTED.withDescription(Backends.BYPASSED)
            : Backends.noRing("handshake: " + status.getCode() + ": " + status.getDescription()));
  }

  /** Ends the wait. */
  void end(Status status) {
    future.completeExceptionally(status.asRuntimeException());
  }
}
