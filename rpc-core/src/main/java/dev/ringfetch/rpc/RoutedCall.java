package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.ClientTracers;
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
import java.util.function.Supplier;

/**
 * A call that chooses its transport when it starts: a ring, which it then uses itself, or a call of
 * the gRPC channel, to which it then forwards everything. When the ring is lost before the server
 * can have seen the call, it starts again on gRPC, or on another ring where a ring is required.
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
  private Pick pick; // set when the call starts
  private volatile boolean cancelled;
  private volatile ClientCall<ReqT, RespT> delegate;

  RoutedCall(
      RingChannel channel,
      MethodDescriptor<ReqT, RespT> method,
      CallOptions options,
      Executor executor) {
    super(method, options, executor);
    this.channel = channel;
  }

  /** Marks a call that began before the channel's shutdown, if there was one. */
  void admit() {
    admitted = true;
  }

  /** Marks a call that has waited for a ring long enough. */
  void waitNoLonger() {
    waited = true;
  }

  /** Keeps the call on gRPC; it causes a ring to be opened as others do. */
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
      tellClosed(listener, RingChannel.SHUTDOWN); // unseen by tracers, as in gRPC
      return;
    }
    final ServiceConfig.MethodConfig config = channel.config(method());
    final CallOptions asked = options(); // gRPC applies the config that it has at the time
    if (config != null) {
      options(config.apply(asked));
    }
    final String kept = channel.kept(method());
    pick = kept == null ? channel.pick(method(), options(), headers) : channel.unpicked();
    final Backend backend = kept == null ? pick.backend() : null;
    final ClientConnection ring = backend == null ? null : channel.ringOrSeek(backend);
    String obstacle = kept;
    if (ring != null && !keptOffRing) {
      obstacle = RingChannel.obstacle(method(), options(), ring);
      if (obstacle == null && startOn(ring, listener, headers)) {
        return;
      }
    }
    if (!channel.requiresFabric()) {
      if (obstacle == null
          && !keptOffRing
          && !waited
          && backend != null
          && backend.isWorthAWait()) {
        delegate = WaitingCall.forRingOrGrpc(channel, method(), options(), executor(), pick);
        delegate.start(listener, headers);
        return;
      }
      if (kept != null) {
        channel.countKeptCall(kept);
      } else if (obstacle == null) {
        channel.countFallback();
      }
      delegate = channel.newGrpcCall(method(), asked, pick);
    } else if (obstacle == null) {
      delegate = WaitingCall.forRing(channel, method(), options(), executor(), pick);
    } else {
      close(listener, headers, Status.UNIMPLEMENTED.withDescription(obstacle));
      return;
    }
    delegate.start(listener, headers);
  }

  /** Starts on a ring. False when the ring has as many calls as it can, and gRPC is to serve. */
  private boolean startOn(ClientConnection ring, Listener<RespT> listener, Metadata headers) {
    if (options().getCredentials() != null) {
      delegate = WaitingCall.forCredentials(channel, method(), options(), executor(), ring, pick);
      delegate.start(listener, headers);
      return true;
    }
    if (method().getType() == MethodDescriptor.MethodType.UNARY
        && options().getStreamTracerFactories().isEmpty()
        && !pick.isTraced()) {
      start(listener, headers, ring, channel.limits(options()));
      return true;
    }
    final ClientCall<ReqT, RespT> streaming = newStreamingCall(ring);
    if (streaming == null) {
      if (channel.requiresFabric()) {
        close(listener, headers, Status.UNAVAILABLE.withDescription(NO_STREAM));
      }
      return channel.requiresFabric();
    }
    delegate = streaming;
    delegate.start(listener, headers);
    return true;
  }

  private void close(Listener<RespT> listener, Metadata headers, Status status) {
    ClientTracers.closed(options(), headers, status);
    tellClosed(listener, status);
  }

  private void tellClosed(Listener<RespT> listener, Status status) {
    delegate = new ClosedCall<>();
    executor().execute(context().wrap(() -> listener.onClose(status, new Metadata())));
  }

  /** The call that this one forwards everything to, or null. */
  private ClientCall<ReqT, RespT> delegate() {
    if (!started) {
      throw new IllegalStateException("Not started");
    }
    return delegate;
  }

  /** Throws if the caller has cancelled before; a race with a cancel is the caller's fault, too. */
  private void checkNotCancelled() {
    if (cancelled) {
      throw new IllegalStateException("call was cancelled");
    }
  }

  @Override
  protected void begins() {
    begun = true;
    pick.onUsed();
    channel.countRingCall();
  }

  @Override
  protected void unsent(String reason) {
    if (channel.requiresFabric() && !hasLostRing()) {
      super.unsent(reason);
    } else {
      leave(this::newOtherCall);
    }
  }

  @Override
  protected void sendSecond(ReqT message) {
    leave(this::newStreamingCall);
    delegate.sendMessage(message);
  }

  private ClientCall<ReqT, RespT> newOtherCall() {
    if (begun) {
      channel.countRepeatedCall();
    }
    // A lost ring may mean a lost backend: there gRPC picks.
    final Pick next = pick.isFresh() && !hasLostRing() ? pick : channel.unpicked();
    return channel.newOtherCall(method(), options(), executor(), next);
  }

  /** Creates a streaming call, for any number of messages, in place of this one. */
  private ClientCall<ReqT, RespT> newStreamingCall() {
    final ClientConnection ring = pick.backend().current();
    if (ring == null || RingChannel.obstacle(method(), options(), ring) != null) {
      return newOtherCall();
    }
    final ClientCall<ReqT, RespT> streaming = newStreamingCall(ring);
    if (streaming == null && channel.requiresFabric()) {
      throw Status.UNAVAILABLE.withDescription(NO_STREAM).asRuntimeException();
    }
    return streaming == null ? newOtherCall() : streaming;
  }

  /** Creates a streaming call on a ring; null when the ring has as many calls as it can. */
  private ClientCall<ReqT, RespT> newStreamingCall(ClientConnection ring) {
    final ClientStream stream = ring.session().open();
    if (stream == null) {
      return null;
    }
    pick.onUsed();
    channel.countRingCall();
    return new RestartingCall<>(channel, method(), options(), executor(), ring, stream, pick);
  }

  /**
   * Continues as another call, unless this one has ended. Whatever throws, the listener is closed.
   */
  private void leave(Supplier<ClientCall<ReqT, RespT>> other) {
    final SuccessorCall<ReqT, RespT> successor = new SuccessorCall<>();
    delegate = successor; // first: a cancel that finds the call given up must find the successor
    if (!giveUp()) {
      successor.end();
      return;
    }
    // This may run on any thread: what is created here belongs to the call's context.
    final Context before = context().attach();
    try {
      final ClientCall<ReqT, RespT> made;
      try {
        made = other.get();
        startOn(made);
      } catch (Throwable t) {
        successor.end();
        closeGivenUp(Status.fromThrowable(t));
        return;
      }
      successor.become(made, this::replayOn);
      forwardRequested(successor); // the messages requested while the call was given up
    } finally {
      context().detach(before);
    }
  }

  @Override
  public void request(int numMessages) {
    ClientCall<ReqT, RespT> other = delegate();
    if (other == null) {
      super.request(numMessages);
      other = delegate;
      if (other != null) { // perhaps after the replay: then nobody has passed it on
        forwardRequested(other);
      }
    } else {
      other.request(numMessages);
    }
  }

  private void forwardRequested(ClientCall<ReqT, RespT> other) {
    final int messages = takeRequested();
    if (messages > 0) {
      other.request(messages);
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
    final ClientCall<ReqT, RespT> chosen = delegate();
    if (chosen == null || chosen instanceof SuccessorCall) { // perhaps of a call that has ended
      super.cancel(message, cause);
    }
    final ClientCall<ReqT, RespT> other = delegate; // the call may have left meanwhile
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
