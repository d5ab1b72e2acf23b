package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.session.owner.SharedField;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.LoadBalancer.PickResult;
import io.grpc.LoadBalancer.PickSubchannelArgs;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The choice of a backend for one call. Made by the channel when the call starts; a call that goes
 * over gRPC takes it along, so that the policy does not pick twice for one call. Without a picker
 * gRPC makes the choice later, and notes it here. Thread-safe.
 */
final class Pick {
  /** Option of a call on the gRPC channel: its pick. */
  static final CallOptions.Key<Pick> PICK = CallOptions.Key.create("dev.ringfetch.rpc.Pick.PICK");

  private static final VarHandle TAKEN =
      SharedField.of(MethodHandles.lookup(), "taken", boolean.class);

  private final Backends owner;
  private final Tap.Picker picker; // null: gRPC picks
  private final PickResult result;
  private final boolean isFixed;

  @SuppressWarnings("unused") // through TAKEN
  private volatile boolean taken;

  private volatile Backend backend;

  /**
   * Creates a pick.
   *
   * @param isFixed whether it holds for any number of calls.
   */
  Pick(Tap.Picker picker, PickResult result, boolean isFixed) {
    this.owner = picker.owner();
    this.picker = picker;
    this.result = result;
    this.isFixed = isFixed;
    this.backend = backend(result);
  }

  /** Creates the pick of a channel with a single backend, or without a picker: backend is null. */
  Pick(Backends owner, Backend backend) {
    this.owner = owner;
    this.picker = null;
    this.result = null;
    this.isFixed = backend != null;
    this.backend = backend;
  }

  private static Backend backend(PickResult result) {
    return result.getSubchannel() == null
        ? null
        : result.getSubchannel().getAttributes().get(Tap.BACKEND);
  }

  /** Returns the backend; null if there is none yet, or it is not for rings. */
  Backend backend() {
    return backend;
  }

  /** Returns what the picker has returned. */
  PickResult result() {
    return result;
  }

  /** Returns the pick for a call over gRPC: of its own, because gRPC may pick again for it. */
  Pick forGrpc() {
    return isFixed && picker != null ? new Pick(picker, result, false) : this;
  }

  /** True if it holds for any number of calls. */
  boolean isFixed() {
    return isFixed;
  }

  /** False for a pick of another channel, which an interceptor has handed on with the options. */
  boolean isFor(Backends channel) {
    return owner == channel;
  }

  boolean isBy(Tap.Picker other) {
    return picker == other;
  }

  private ClientStreamTracer.Factory tracers() {
    return result == null ? null : result.getStreamTracerFactory();
  }

  /** True if the policy observes the call by a tracer. */
  boolean isTraced() {
    return tracers() != null;
  }

  /** Returns an open ring for a call of the method that needs nothing else, or null. */
  ClientConnection bareRing(MethodDescriptor<?, ?> method) {
    final ClientConnection ring = backend == null || isTraced() ? null : backend.open();
    return ring != null && ring.names(method) ? ring : null;
  }

  /** Uses the pick for a call. False if it was used before. */
  boolean take() {
    return isFixed || TAKEN.compareAndSet(this, false, true);
  }

  /** True if the policy has given the backend up since. */
  boolean hasGone() {
    final Backend picked = backend;
    return picked != null && picked.hasGone();
  }

  /** Called when a ring carries the call: gRPC must not use the pick for it. */
  void onUsed() {
    if (!isFixed) {
      taken = true;
    }
  }

  /** Adds the policy's tracer to the options of a call on a ring. */
  CallOptions traced(CallOptions options) {
    final ClientStreamTracer.Factory tracers = tracers();
    return tracers == null ? options : options.withStreamTracerFactory(tracers);
  }

  boolean isFresh() {
    return isFixed || !taken;
  }

  /** Notes the result of gRPC's own pick for this call, and returns it. */
  PickResult become(PickResult other) {
    final Backend picked = backend(other);
    final Backend left = backend;
    if (picked != null && picked != left && !isFixed) {
      backend = picked;
      if (left != null) { // its session waits for this call's stream no longer
        left.sessions().streams().onCallSent();
      }
      picked.sessions().streams().seek();
    }
    return other;
  }

  /** A call, as policies see it. */
  static final class Call extends PickSubchannelArgs {
    private final MethodDescriptor<?, ?> method;
    private final CallOptions options;
    private final Metadata headers;

    /** Creates a call; headers are null where there are none yet, and the policy may add some. */
    Call(MethodDescriptor<?, ?> method, CallOptions options, Metadata headers) {
      this.method = method;
      this.options = options;
      this.headers = headers == null ? new Metadata() : headers;
    }

    @Override
    public CallOptions getCallOptions() {
      return options;
    }

    @Override
    public Metadata getHeaders() {
      return headers;
    }

    @Override
    public MethodDescriptor<?, ?> getMethodDescriptor() {
      return method;
    }
  }
}
