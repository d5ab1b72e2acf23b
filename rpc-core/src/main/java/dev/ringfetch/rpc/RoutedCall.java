package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.ClientTracers;
import dev.ringfetch.call.StreamingClientCall;
import dev.ringfetch.call.UnaryClientCall;
import dev.ringfetch.counters.Counter;
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

  /** The way by which a call comes to choose its transport. */
  enum Entry {
    /** The caller has just started it. */
    NEW,

    /** As NEW, but it goes over gRPC; it causes a ring to be opened as others do. */
    KEPT_OFF_RING,

    /** It has its credentials; the channel, if it is shut down, was not when the call began. */
    ADMITTED,

    /** As ADMITTED, but it has waited for a ring, and waits for no other. */
    WAITED
  }

  /**
   * The stages of a call: STARTED while it has no stream of the ring for itself, or forwards from
   * the start on; BEGUN with a stream; LEFT when another call has taken its place.
   */
  private enum State {
    NEW,
    STARTED,
    BEGUN,
    LEFT;

    boolean mayBecome(State next) {
      return switch (next) {
        case NEW -> false;
        case STARTED -> this == NEW;
        case BEGUN -> this == STARTED;
        case LEFT -> this == STARTED || this == BEGUN;
      };
    }
  }

  private final RingChannel channel;
  private final Entry entry;

  private State state = State.NEW; // where it goes; read behind the delegate by other threads
  private Pick pick; // set when the call starts
  private volatile boolean cancelled; // by any thread, in any state
  private volatile ClientCall<ReqT, RespT> delegate;

  RoutedCall(
      RingChannel channel,
      MethodDescriptor<ReqT, RespT> method,
      CallOptions options,
      Executor executor,
      Entry entry) {
    super(method, options, executor);
    this.channel = channel;
    this.entry = entry;
  }

  /** Creates the call that starts after a wait in the place of this one. */
  RoutedCall<ReqT, RespT> again(Entry after, Pick picked) {
    final CallOptions options =
        after == Entry.ADMITTED ? options().withCallCredentials(null) : options();
    return new RoutedCall<>(
        channel, method(), options.withOption(Pick.PICK, picked), executor(), after);
  }

  RingChannel channel() {
    return channel;
  }

  private void move(State next) {
    if (!state.mayBecome(next)) {
      throw new IllegalStateException("state=" + state + " next=" + next);
    }
    state = next;
  }

  @Override
  public void start(Listener<RespT> listener, Metadata headers) {
    if (state != State.NEW) {
      throw new IllegalStateException("Already started");
    }
    checkNotCancelled();
    Objects.requireNonNull(listener, "listener");
    Objects.requireNonNull(headers, "headers");
    move(State.STARTED);
    if (channel.refusesCalls() && entry != Entry.ADMITTED && entry != Entry.WAITED) {
      tellClosed(listener, RingChannel.SHUTDOWN); // unseen by tracers, as in gRPC
      return;
    }
    final ServiceConfig.MethodConfig config = channel.config(method());
    final CallOptions asked = options(); // gRPC applies the config that it has at the time
    if (config != null) {
      options(config.apply(asked));
    }
    final GrpcReason kept = channel.kept(method());
    pick = kept == null ? channel.pick(method(), options(), headers) : channel.unpicked();
    final Backend backend = kept == null ? pick.backend() : null;
    final ClientConnection ring = backend == null ? null : channel.ringOrSeek(backend);
    GrpcReason obstacle = kept;
    if (ring != null) {
      obstacle = RingChannel.obstacle(method(), options(), ring);
      if (obstacle == null && entry != Entry.KEPT_OFF_RING && startOn(ring, listener, headers)) {
        return;
      }
    }
    if (!channel.requiresFabric()) {
      if (obstacle == null
          && entry != Entry.KEPT_OFF_RING
          && entry != Entry.WAITED
          && backend != null
          && backend.sessions().isWorthAWait()) {
        await(WaitingCall.Subject.RING_OR_GRPC, null, listener, headers);
        return;
      }
      if (kept != null) {
        channel.logKept(kept.text());
      }
      final Counter reason = obstacle == null ? Counter.CHANNEL_CALLS_FALLBACK : obstacle.counter();
      delegate = channel.life().newGrpcCall(method(), asked, pick, reason);
      delegate.start(listener, headers);
    } else if (obstacle == null) {
      await(WaitingCall.Subject.RING, null, listener, headers);
    } else {
      close(listener, headers, Status.UNIMPLEMENTED.withDescription(obstacle.text()));
    }
  }

  private void await(
      WaitingCall.Subject subject,
      ClientConnection ring,
      Listener<RespT> listener,
      Metadata headers) {
    delegate = new WaitingCall<>(this, pick, subject, ring);
    delegate.start(listener, headers);
  }

  /** Starts on a ring. False when the ring has as many calls as it can, and gRPC is to serve. */
  private boolean startOn(ClientConnection ring, Listener<RespT> listener, Metadata headers) {
    if (options().getCredentials() != null) {
      await(WaitingCall.Subject.CREDENTIALS, ring, listener, headers);
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
    if (state == State.NEW) {
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
    move(State.BEGUN);
    pick.onUsed();
    channel.life().countRingCall();
  }

  @Override
  protected void unsent(String reason) {
    if (channel.requiresFabric() && !hasLostRing()) {
      super.unsent(reason);
    } else {
      final boolean begun = state == State.BEGUN;
      leave(() -> newOtherCall(begun));
    }
  }

  @Override
  protected void sendSecond(ReqT message) {
    leave(this::newStreamingCall);
    delegate.sendMessage(message);
  }

  private ClientCall<ReqT, RespT> newOtherCall(boolean begun) {
    if (begun) {
      channel.life().countRepeatedCall();
    }
    // A lost ring may mean a lost backend: there gRPC picks.
    final Pick next = pick.isFresh() && !hasLostRing() ? pick : channel.unpicked();
    return channel.newOtherCall(method(), options(), executor(), next);
  }

  /** Creates a call in the place of a streaming one whose ring has ended before it was seen. */
  ClientCall<ReqT, RespT> newRepeatedCall() {
    channel.life().countRepeatedCall();
    return channel.newOtherCall(method(), options(), executor(), channel.unpicked());
  }

  /** Creates a streaming call, for any number of messages, in place of this one. */
  private ClientCall<ReqT, RespT> newStreamingCall() {
    final ClientConnection ring = pick.backend().current();
    if (ring == null || RingChannel.obstacle(method(), options(), ring) != null) {
      return newOtherCall(false);
    }
    final ClientCall<ReqT, RespT> streaming = newStreamingCall(ring);
    if (streaming == null && channel.requiresFabric()) {
      throw Status.UNAVAILABLE.withDescription(NO_STREAM).asRuntimeException();
    }
    return streaming == null ? newOtherCall(false) : streaming;
  }

  /** Creates a streaming call on a ring; null when the ring has as many calls as it can. */
  private ClientCall<ReqT, RespT> newStreamingCall(ClientConnection ring) {
    final ClientStream stream = ring.session().open();
    if (stream == null) {
      return null;
    }
    pick.onUsed();
    channel.life().countRingCall();
    return new RestartingCall<>(this, ring, stream);
  }

  /** Creates the first attempt of a streaming call. */
  StreamingClientCall<ReqT, RespT> newAttempt(
      ClientConnection ring, ClientStream stream, Runnable unsent) {
    return new StreamingClientCall<>(
        method(),
        pick.traced(options()),
        executor(),
        ring,
        channel.limits(options()),
        stream,
        unsent);
  }

  /**
   * Continues as another call, unless this one has ended. Whatever throws, the listener is closed.
   */
  private void leave(Supplier<ClientCall<ReqT, RespT>> other) {
    final DelayedCall<ReqT, RespT> successor = new DelayedCall<>();
    move(State.LEFT);
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
    if (state == State.NEW) {
      return; // a start comes too late now
    }
    final ClientCall<ReqT, RespT> chosen = delegate();
    if (chosen == null || state == State.LEFT) { // perhaps of a call that has ended
      super.cancel(message, cause);
    }
    final ClientCall<ReqT, RespT> other = delegate; // the call may have left meanwhile
    if (other != null) {
      other.cancel(message, cause);
    }
  }

  @Override
  public boolean isReady() {
    final ClientCall<ReqT, RespT> other = delegate;
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
    final ClientCall<ReqT, RespT> other = delegate;
    return other != null ? other.getAttributes() : super.getAttributes();
  }
}
