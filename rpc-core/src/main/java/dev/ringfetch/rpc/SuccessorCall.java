package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.grpc.Attributes;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * A call that replaces one that was given up: queues its operations until the real call has been
 * started and has got the earlier ones; a cancel does not wait for the latter. Nothing of the
 * user's (interceptors, marshallers, listeners) runs under the monitor. Thread-safe.
 */
final class SuccessorCall<ReqT, RespT> extends ClientCall<ReqT, RespT> {
  @GuardedBy("this")
  private List<Consumer<ClientCall<ReqT, RespT>>> asked = new ArrayList<>();

  @GuardedBy("this")
  private Consumer<ClientCall<ReqT, RespT>> cancel;

  /** Set once: the call has been started. */
  private volatile ClientCall<ReqT, RespT> real;

  private volatile boolean repeated;

  /**
   * Becomes a call that has been started, and replays all operations on it.
   *
   * @param earlier replays the operations from before this successor existed.
   */
  void become(ClientCall<ReqT, RespT> started, Consumer<ClientCall<ReqT, RespT>> earlier) {
    final Consumer<ClientCall<ReqT, RespT>> cancelled;
    synchronized (this) {
      real = started;
      cancelled = cancel;
    }
    try {
      if (cancelled == null) {
        earlier.accept(started);
      } else {
        cancelled.accept(started);
      }
      for (var actions = takeAsked(); actions != null; actions = takeAsked()) {
        if (cancelled == null) {
          actions.forEach(action -> action.accept(started));
        }
      }
    } catch (Throwable t) { // which nobody else would hear of
      end();
      started.cancel("Failed to repeat the call", t);
    }
  }

  /** Becomes no call: all operations have no effect. */
  void end() {
    synchronized (this) {
      if (real == null) {
        real = new ClosedCall<>();
      }
      asked = List.of();
      repeated = true;
    }
  }

  /** Takes the queued operations; null when there are none, and from then on none are queued. */
  private synchronized List<Consumer<ClientCall<ReqT, RespT>>> takeAsked() {
    if (asked.isEmpty()) {
      repeated = true;
      return null;
    }
    final List<Consumer<ClientCall<ReqT, RespT>>> taken = asked;
    asked = new ArrayList<>();
    return taken;
  }

  private void ask(Consumer<ClientCall<ReqT, RespT>> action) {
    if (!repeated) {
      synchronized (this) {
        if (!repeated) {
          asked.add(action);
          return;
        }
      }
    }
    action.accept(real);
  }

  @Override
  public void start(Listener<RespT> listener, Metadata headers) {
    throw new IllegalStateException("Already started");
  }

  @Override
  public void request(int numMessages) {
    ask(call -> call.request(numMessages));
  }

  @Override
  public void sendMessage(ReqT message) {
    ask(call -> call.sendMessage(message));
  }

  @Override
  public void halfClose() {
    ask(ClientCall::halfClose);
  }

  @Override
  public void setMessageCompression(boolean enabled) {
    ask(call -> call.setMessageCompression(enabled));
  }

  @Override
  public void cancel(String message, Throwable cause) {
    final ClientCall<ReqT, RespT> cancelled;
    synchronized (this) {
      cancelled = real;
      if (cancelled == null) {
        cancel = call -> call.cancel(message, cause);
        return;
      }
    }
    cancelled.cancel(message, cause);
  }

  @Override
  public boolean isReady() {
    return repeated && real.isReady();
  }

  @Override
  public Attributes getAttributes() {
    final ClientCall<ReqT, RespT> call = real;
    return call == null ? Attributes.EMPTY : call.getAttributes();
  }
}
