package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.StreamingClientCall;
import dev.ringfetch.session.ClientStream;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * A call of several messages on a ring, which starts again elsewhere if the session ends before the
 * server can have seen anything of it. It keeps the caller's operations for that until the first
 * unit has left, which is almost always in {@code start}.
 */
final class RestartingCall<ReqT, RespT> extends ClientCall<ReqT, RespT> {
  private final RingChannel channel;
  private final MethodDescriptor<ReqT, RespT> method;
  private final CallOptions options;
  private final Executor executor;
  private final StreamingClientCall<ReqT, RespT> first;

  private Listener<RespT> listener;
  private Metadata headers;

  /** The operations to repeat; null once the call cannot restart. Changed under the monitor. */
  private volatile List<Consumer<ClientCall<ReqT, RespT>>> asked = new ArrayList<>();

  private volatile ClientCall<ReqT, RespT> current;

  @GuardedBy("this")
  private Consumer<ClientCall<ReqT, RespT>> cancel;

  RestartingCall(
      RingChannel channel,
      MethodDescriptor<ReqT, RespT> method,
      CallOptions options,
      Executor executor,
      ClientConnection ring,
      ClientStream stream,
      Pick pick) {
    this.channel = channel;
    this.method = method;
    this.options = options;
    this.executor = executor;
    this.first =
        new StreamingClientCall<>(
            method,
            pick.traced(options),
            executor,
            ring,
            channel.limits(options),
            stream,
            this::restart);
    this.current = first;
  }

  @Override
  public void start(Listener<RespT> listener, Metadata headers) {
    this.listener = listener;
    this.headers = new Metadata();
    this.headers.merge(headers); // tracers add to the attempt's own headers
    first.start(listener, headers);
  }

  /** Starts the call again, in its executor and context, instead of closing the listener. */
  private void restart() {
    final SuccessorCall<ReqT, RespT> successor = new SuccessorCall<>();
    final List<Consumer<ClientCall<ReqT, RespT>>> earlier;
    final Consumer<ClientCall<ReqT, RespT>> cancelled;
    synchronized (this) {
      earlier = asked == null ? List.of() : asked;
      cancelled = cancel;
      current = successor;
      asked = null; // last: a thread that sees null finds the successor
    }
    if (cancelled != null) {
      cancelled.accept(successor);
    }
    final ClientCall<ReqT, RespT> other;
    try {
      channel.countRepeatedCall();
      other = channel.newOtherCall(method, options, executor, channel.unpicked());
      other.start(listener, headers);
    } catch (Throwable t) {
      successor.end();
      listener.onClose(Status.fromThrowable(t), new Metadata());
      return;
    }
    successor.become(other, call -> earlier.forEach(action -> action.accept(call)));
  }

  private void ask(Consumer<ClientCall<ReqT, RespT>> action) {
    final boolean certain = asked == null; // read first: while null, it is decided which call it is
    final ClientCall<ReqT, RespT> asking = current;
    action.accept(asking);
    if (!certain && asking == first && !keep(action)) {
      action.accept(current);
    }
  }

  /** Keeps an operation. False when the call has started again meanwhile, without it. */
  private synchronized boolean keep(Consumer<ClientCall<ReqT, RespT>> action) {
    if (current != first) {
      return false;
    }
    if (first.isUnderWay()) {
      asked = null;
    } else if (asked != null) {
      asked.add(action);
    }
    return true;
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
      cancel = call -> call.cancel(message, cause);
      cancelled = current;
    }
    cancelled.cancel(message, cause);
  }

  @Override
  public boolean isReady() {
    return current.isReady();
  }

  @Override
  public Attributes getAttributes() {
    return current.getAttributes();
  }
}
