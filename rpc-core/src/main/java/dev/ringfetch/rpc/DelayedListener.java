package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * The listener of the call on which a {@link DelayedCall} replays its operations: holds events back
 * until the replay is over, so that {@code onReady} finds a call that is ready. Thread-safe.
 */
final class DelayedListener<RespT> extends ClientCall.Listener<RespT> {
  private final ClientCall.Listener<RespT> listener;

  @GuardedBy("this")
  private List<Runnable> held = new ArrayList<>();

  private volatile boolean passing; // changed under the monitor

  DelayedListener(ClientCall.Listener<RespT> listener) {
    this.listener = listener;
  }

  /**
   * Lets events pass. Those that were held back come first, by the call's executor.
   *
   * @param call that is cancelled if the listener throws.
   */
  void release(ClientCall<?, RespT> call, Executor executor, Context context) {
    synchronized (this) {
      if (held.isEmpty()) {
        passing = true;
        return;
      }
    }
    final Runnable delivery = context.wrap(() -> deliver(call));
    try {
      executor.execute(delivery);
    } catch (RuntimeException | Error e) { // rejected: the listener is told all the same
      delivery.run();
    }
  }

  private void deliver(ClientCall<?, RespT> call) {
    for (var events = take(); !events.isEmpty(); events = take()) {
      for (final Runnable event : events) {
        try {
          event.run();
        } catch (Throwable t) { // as if the call had told it
          call.cancel("Failed to call the listener", t);
        }
      }
    }
  }

  /** Takes the events that were held back. If there are none, later ones pass. */
  private synchronized List<Runnable> take() {
    final List<Runnable> taken = held;
    passing = taken.isEmpty();
    held = new ArrayList<>();
    return taken;
  }

  private void pass(Runnable event) {
    if (passing || !isHeld(event)) {
      event.run();
    }
  }

  private synchronized boolean isHeld(Runnable event) {
    return !passing && held.add(event);
  }

  @Override
  public void onHeaders(Metadata headers) {
    pass(() -> listener.onHeaders(headers));
  }

  @Override
  public void onMessage(RespT message) {
    pass(() -> listener.onMessage(message));
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    pass(() -> listener.onClose(status, trailers));
  }

  @Override
  public void onReady() {
    pass(listener::onReady);
  }
}
