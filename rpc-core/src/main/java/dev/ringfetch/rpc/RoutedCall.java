package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.UnaryClientCall;
import dev.ringfetch.session.ClientStream;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.Objects;
import java.util.concurrent.Executor;

/**
 * A call that chooses its transport when it starts: itself, on a ring, or a call of the gRPC
 * channel to which it then hands everything. A ring call that the server cannot have seen, because
 * the ring was lost, starts again on gRPC, or on another ring where there is to be one.
 */
final class RoutedCall<ReqT, RespT> extends UnaryClientCall<ReqT, RespT> {
  private static final String NO_STREAM =
      "ring is not available: as many calls are under way on the ring as there can be";

  private final RingChannel channel;

  private boolean admitted;
  private boolean keptOffRing;
  private boolean waited;
  private boolean started;
  private boolean begun;
  private volatile boolean cancelled;
  private volatile ClientCall<ReqT, RespT> delegate;
  private volatile boolean rerouting;

  RoutedCall(
      RingChannel channel,
      MethodDescriptor<ReqT, RespT> method,
      CallOptions options,
      Executor executor) {
    super(method, options, executor);
    this.channel = channel;
  }

  /** The call began before a shutdown of the channel, if there was one. */
  void admit() {
    admitted = true;
  }

  /** The call has waited for a ring long enough. */
  void waitNoLonger() {
    waited = true;
  }

  /** The call goes over gRPC, but asks for a ring as others do. */
  void keepOffRing() {
    keptOffRing = true;
  }

  @Override
  public void start(Listener<RespT> listener, Metadata headers) {
    if (started) {
      throw new IllegalStateException("Already started");
    }
    checkNotCancelled();
    Objects.requireNonNull(listener, "listener");
    Objects.requireNonNull(headers, "headers");
    started = true;
    if (channel.isShutdown() && !admitted) {
      close(listener, RingChannel.SHUTDOWN);
      return;
    }
    String obstacle = channel.obstacle();
    final ClientConnection ring = obstacle == null ? channel.ringOrSeek() : null;
    if (ring != null && !keptOffRing) {
      obstacle = RingChannel.obstacle(options(), ring);
      if (obstacle == null && startOn(ring, listener, headers)) {
        return;
      }
    }
    if (!channel.requiresFabric()) {
      if (obstacle == null && !keptOffRing && !waited && channel.isRingWorthAWait()) {
        delegate = WaitingCall.forRingOrGrpc(channel, method(), options(), executor());
        delegate.start(listener, headers);
        return;
      }
      if (obstacle == null) {
        channel.countFallback();
      }
      delegate = channel.newGrpcCall(method(), options());
    } else if (obstacle == null) {
      delegate = WaitingCall.forRing(channel, method(), options(), executor());
    } else {
      close(listener, Status.UNIMPLEMENTED.withDescription(obstacle));
      return;
    }
    delegate.start(listener, headers);
  }

  /** False when as many calls are under way on the ring as there can be, and gRPC is to serve. */
  private boolean startOn(ClientConnection ring, Listener<RespT> listener, Metadata headers) {
    if (options().getCredentials() != null) {
      delegate = WaitingCall.forCredentials(channel, method(), options(), executor(), ring);
      delegate.start(listener, headers);
      return true;
    }
    if (method().getType() == MethodDescriptor.MethodType.UNARY
        && options().getStreamTracerFactories().isEmpty()) {
      start(listener, headers, ring, channel.limits(options()));
      return true;
    }
    final ClientStream stream = ring.session().open();
    if (stream == null) {
      if (channel.requiresFabric()) {
        close(listener, Status.UNAVAILABLE.withDescription(NO_STREAM));
      }
      return channel.requiresFabric();
    }
    channel.countRingCall();
    delegate = new RestartingCall<>(channel, method(), options(), executor(), ring, stream);
    delegate.start(listener, headers);
    return true;
  }

  private void close(Listener<RespT> listener, Status status) {
    delegate = new ClosedCall<>();
    executor().execute(context().wrap(() -> listener.onClose(status, new Metadata())));
  }

  /** The call that this one has handed everything to, or null. */
  private ClientCall<ReqT, RespT> delegate() {
    if (!started) {
      throw new IllegalStateException("Not started");
    }
    if (delegate == null && rerouting) {
      synchronized (this) { // until it is replayed
        return delegate;
      }
    }
    return delegate;
  }

  /** What callers may not do after a cancel of their own; a race with one is their affair, too. */
  private void checkNotCancelled() {
    if (cancelled) {
      throw new IllegalStateException("call was cancelled");
    }
  }

  @Override
  protected void begins() {
    begun = true;
    channel.countRingCall();
  }

  @Override
  protected void unsent(String reason) {
    if (channel.requiresFabric() && !hasLostRing()) {
      super.unsent(reason);
      return;
    }
    // The thread that tells is anybody's: what is made here belongs to the call's context.
    final Context before = context().attach();
    try {
      synchronized (this) {
        rerouting = true;
        if (giveUp()) {
          reroute();
        }
      }
    } finally {
      context().detach(before);
    }
  }

  /** Guarded by this. Whatever throws, the listener is told an end. */
  private void reroute() {
    final ClientCall<ReqT, RespT> other;
    try {
      if (begun) {
        channel.countRepeatedCall();
      }
      other = channel.newOtherCall(method(), options(), executor());
      startOn(other);
    } catch (Throwable t) {
      closeGivenUp(Status.fromThrowable(t));
      return;
    }
    try {
      replayOn(other);
    } catch (Throwable t) {
      other.cancel("Failed to repeat the call", t);
    }
    delegate = other;
    forwardRequested(); // what the listener has asked for in the midst of the replay
  }

  @Override
  public void request(int numMessages) {
    final ClientCall<ReqT, RespT> other = delegate();
    if (other != null) {
      other.request(numMessages);
    } else {
      super.request(numMessages);
      if (rerouting) { // perhaps after the replay: then nobody has passed it on
        forwardRequested();
      }
    }
  }

  private synchronized void forwardRequested() {
    if (delegate != null) {
      final int messages = takeRequested();
      if (messages > 0) {
        delegate.request(messages);
      }
    }
  }

  @Override
  public void sendMessage(ReqT message) {
    checkNotCancelled();
    final ClientCall<ReqT, RespT> other = delegate();
    if (other != null) {
      other.sendMessage(message);
    } else {
      super.sendMessage(message);
    }
  }

  @Override
  public void halfClose() {
    checkNotCancelled();
    final ClientCall<ReqT, RespT> other = delegate();
    if (other != null) {
      other.halfClose();
    } else {
      super.halfClose();
    }
  }

  @Override
  public void cancel(String message, Throwable cause) {
    cancelled = true;
    if (!started) {
      return; // a start comes too late now
    }
    ClientCall<ReqT, RespT> other = delegate();
    if (other == null) {
      super.cancel(message, cause);
      other = delegate(); // it may have left for gRPC meanwhile
    }
    if (other != null) {
      other.cancel(message, cause);
    }
  }

  @Override
  public boolean isReady() {
    final ClientCall<ReqT, RespT> other = started ? delegate() : null;
    return other != null ? other.isReady() : super.isReady();
  }

  @Override
  public void setMessageCompression(boolean enabled) {
    final ClientCall<ReqT, RespT> other = delegate();
    if (other != null) {
      other.setMessageCompression(enabled);
    } else {
      super.setMessageCompression(enabled);
    }
  }

  @Override
  public Attributes getAttributes() {
    final ClientCall<ReqT, RespT> other = started ? delegate() : null;
    return other != null ? other.getAttributes() : super.getAttributes();
  }
}
