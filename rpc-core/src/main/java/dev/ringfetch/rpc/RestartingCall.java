package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.StreamingClientCall;
import dev.ringfetch.session.ClientStream;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;

/**
 * A call with any number of messages on a ring, which starts again elsewhere if the session ends
 * before the server can have seen anything of it. It keeps the caller's operations for that until
 * the first unit has left, which is almost always in {@code start}.
 */
final class RestartingCall<ReqT, RespT> extends DelayedCall<ReqT, RespT> {
  private final RoutedCall<ReqT, RespT> route;
  private final StreamingClientCall<ReqT, RespT> first;

  private Listener<RespT> listener;
  private Metadata headers;

  RestartingCall(RoutedCall<ReqT, RespT> route, ClientConnection ring, ClientStream stream) {
    super(State.TRYING);
    this.route = route;
    this.first = route.newAttempt(ring, stream, this::restart);
    tries(first);
  }

  @Override
  public void start(Listener<RespT> listener, Metadata headers) {
    this.listener = listener;
    this.headers = new Metadata();
    this.headers.merge(headers); // tracers add to the attempt's own headers
    first.start(listener, headers);
  }

  @Override
  boolean isFirstUnderWay() {
    return first.isUnderWay();
  }

  /** Starts the call again, in its executor and context, instead of closing the listener. */
  private void restart() {
    final boolean unused = begin(); // its only one: no part of it has left
    final DelayedListener<RespT> delayed = new DelayedListener<>(listener);
    final ClientCall<ReqT, RespT> other;
    try {
      other = route.newRepeatedCall();
      other.start(delayed, headers);
    } catch (Throwable t) {
      end();
      listener.onClose(Status.fromThrowable(t), new Metadata());
      return;
    }
    become(other, started -> {});
    delayed.release(other, route.executor(), Context.current());
  }
}
