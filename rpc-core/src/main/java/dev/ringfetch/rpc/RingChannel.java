package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.ClientLimits;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.session.ClientSession;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ConnectivityState;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.lang.ref.Cleaner;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * A channel that sends calls over a ring where there is one, and over gRPC otherwise. A call
 * chooses its way when it starts, or, where the process has interceptors for all channels, when it
 * is created. Built by {@link RingChannelBuilder}; thread-safe.
 */
public final class RingChannel extends ManagedChannel {
  /** The description of calls that a channel's {@code shutdownNow} ends, as gRPC's ends them. */
  static final String SHUTDOWN_NOW = "Channel shutdownNow invoked";

  /** The status of a call that starts after the shutdown. */
  static final Status SHUTDOWN = Status.UNAVAILABLE.withDescription("Channel shutdown invoked");

  private final ManagedChannel grpc;
  private final ChannelLife life;
  private final Backends backends;
  private final Cleaner.Cleanable orphan;
  private final Executor executor;
  private final ClientLimits limits;
  private final boolean requireFabric;
  private final boolean isAttached;
  private final boolean bare; // calls pass nothing but a ring, such as interceptors
  private final ServiceConfig config;
  private final Channel intercepted;
  private final BufferAllocator allocator;

  RingChannel(Backends backends, ChannelContext context, ChannelCalls calls, RingPolicy policy) {
    this.backends = backends;
    this.grpc = context.grpc();
    this.executor = calls.executor();
    this.limits = calls.limits();
    this.requireFabric = policy.isRequired();
    this.isAttached = policy.isAttached();
    this.config = calls.config();
    final List<ClientInterceptor> interceptors = calls.interceptors();
    final List<ClientInterceptor> globalInterceptors = calls.globalInterceptors();
    this.bare = interceptors.isEmpty() && globalInterceptors.isEmpty();
    this.life = new ChannelLife(backends, context, policy, calls.codecs());
    this.allocator =
        new BufferAllocator(
            () -> {
              final ClientConnection ring = ring(backends);
              return ring == null ? null : ring.session();
            });
    final Channel ringsOnly = ClientInterceptors.intercept(new Rings(), globalInterceptors);
    this.intercepted =
        ClientInterceptors.intercept(
            globalInterceptors.isEmpty() ? ringsOnly : new Observed(ringsOnly), interceptors);
    this.orphan = context.fabrics().orphans().register(this, life::onCollected);
  }

  /** Returns the value of a counter. */
  long count(Counter counter) {
    return life.count(counter);
  }

  /**
   * Returns which transport serves the next call, and why. Of several backends any that has a ring
   * counts; {@link #transports} has each.
   */
  public Transport transport() {
    final ClientConnection ring = backends.obstacle() == null ? backends.anyOpen() : null;
    if (ring != null) {
      return new Transport(ring.fabric(), ring.session().describe() + retried());
    }
    return new Transport(requireFabric ? Transport.NONE : Transport.GRPC, backends.reason());
  }

  private String retried() {
    final List<String> retried = config.retried();
    return retried.isEmpty()
        ? ""
        : "; gRPC carries, because it retries: "
            + String.join(
                ", ", retried.stream().map(name -> name.isEmpty() ? "all methods" : name).toList());
  }

  /**
   * Returns the backends of the channel, each with the transport of its next call. Empty while gRPC
   * has resolved no name; those that a load-balancing policy has given up are listed until their
   * calls have ended.
   */
  public List<BackendTransport> transports() {
    return backends.list().stream().map(Backend::transport).toList();
  }

  /** Returns the allocator of buffers that the server reads out of this process's memory. */
  public BufferAllocator allocator() {
    return allocator;
  }

  /**
   * Ends the rings of this channel at once, as the death of their servers does, and keeps gRPC's
   * connections: for tests of applications. Calls under way that a server may have seen end
   * UNAVAILABLE; the channel opens other rings.
   */
  @Experimental
  public void cutRings() {
    for (final Backend backend : backends.list()) {
      final ClientConnection open = backend.open();
      if (open != null) {
        open.session().end("cut by the application");
      }
    }
  }

  /** Calls that got a stream of a ring so far. */
  public long ringCalls() {
    return life.count(Counter.CHANNEL_CALLS_RING);
  }

  /** Calls that gRPC has carried so far. */
  public long grpcCalls() {
    return life.count(Counter.CHANNEL_CALLS_GRPC);
  }

  @Override
  public <ReqT, RespT> ClientCall<ReqT, RespT> newCall(
      MethodDescriptor<ReqT, RespT> method, CallOptions options) {
    return intercepted.newCall(method, options);
  }

  /**
   * Creates a reusable call of a unary method with messages that are plain bytes, for callers that
   * want to avoid the allocations of stubs.
   *
   * @param method as generated code has it; its marshallers are not used.
   * @param listener gets the end of each call.
   * @throws IllegalArgumentException if the method is not unary.
   */
  public UnaryCall newUnaryCall(MethodDescriptor<?, ?> method, UnaryListener listener) {
    if (method.getType() != MethodDescriptor.MethodType.UNARY) {
      throw new IllegalArgumentException("type=" + method.getType() + " is not UNARY");
    }
    return new UnaryCall(this, method, limits, listener);
  }

  /** Returns the pick for a new call that needs nothing but a ring, or null. */
  Pick barePick(MethodDescriptor<?, ?> method) {
    return bare && !life.isShutdown() && obstacle() == null && config.of(method) == null
        ? pick(method, CallOptions.DEFAULT, null)
        : null;
  }

  /** Picks a backend for a call; headers are null where there are none yet. */
  Pick pick(MethodDescriptor<?, ?> method, CallOptions options, Metadata headers) {
    return backends.pick(method, options, headers);
  }

  /** Returns the pick of a call whose backend gRPC is to choose. */
  Pick unpicked() {
    return backends.unpicked();
  }

  /** Returns the config of a method, or null. */
  ServiceConfig.MethodConfig config(MethodDescriptor<?, ?> method) {
    return config.of(method);
  }

  @Override
  public String authority() {
    return grpc.authority();
  }

  /** Returns why no ring can carry the channel's calls, or null. */
  String obstacle() {
    return backends.obstacle();
  }

  /** Returns why gRPC has to carry the calls of a method, or null. */
  GrpcReason kept(MethodDescriptor<?, ?> method) {
    final ServiceConfig.MethodConfig own = config(method);
    if (own != null && own.isRetried()) {
      return new GrpcReason(
          Counter.CHANNEL_CALLS_KEPT_RETRY, "gRPC retries calls of " + method.getFullMethodName());
    }
    final String ofAll = obstacle();
    return ofAll == null ? null : new GrpcReason(Counter.CHANNEL_CALLS_KEPT_CONFIG, ofAll);
  }

  /** Returns why a ring cannot carry a call, or null. */
  static GrpcReason obstacle(
      MethodDescriptor<?, ?> method, CallOptions options, ClientConnection ring) {
    if (!ring.names(method)) {
      return new GrpcReason(
          Counter.CHANNEL_CALLS_KEPT_METHOD,
          "the ring's server does not name " + method.getFullMethodName());
    }
    return options.getAuthority() != null
            && ring.attributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION) != null
        ? new GrpcReason(
            Counter.CHANNEL_CALLS_KEPT_AUTHORITY,
            "only gRPC can hold an authority of the call's own against the server's certificate")
        : null;
  }

  /** For tests: the ring for a new call, or null. */
  ClientConnection ring() {
    return ring(backends);
  }

  private static ClientConnection ring(Backends backends) {
    final Pick next = backends.fixed();
    return next == null || next.backend() == null ? backends.anyOpen() : next.backend().current();
  }

  /**
   * Returns the ring to a backend, or null; without a ring the call goes over gRPC, and gets its
   * stream before one is opened.
   */
  ClientConnection ringOrSeek(Backend backend) {
    if (requireFabric) {
      return backend.current();
    }
    final ClientConnection open = backend.open();
    if (open == null) {
      backend.sessions().streams().seek();
    }
    return open;
  }

  /** For tests: the ring, as soon as there is one. */
  CompletableFuture<ClientConnection> awaitRing() {
    return awaitRing(pick(SessionService.OPEN, CallOptions.DEFAULT, null), false)
        .thenApply(pick -> pick.backend().open());
  }

  /**
   * Waits for a ring, as {@link Backends#awaitRing}; with {@code waitForReady} attempts that fail
   * are repeated.
   */
  CompletableFuture<Pick> awaitRing(Pick pick, boolean waitForReady) {
    return backends.awaitRing(pick, waitForReady);
  }

  /** True once it ends new calls itself. */
  boolean refusesCalls() {
    return !isAttached && life.isShutdown();
  }

  boolean requiresFabric() {
    return requireFabric;
  }

  /** Returns the counts of the channel's calls, and the calls that wait. */
  ChannelLife life() {
    return life;
  }

  /** Logs once why the service config keeps calls on gRPC. */
  void logKept(String reason) {
    backends.log(System.Logger.Level.INFO, reason);
  }

  /**
   * Creates the replacement of a call on a ring: over gRPC or, if a ring is required, on the next.
   */
  <ReqT, RespT> ClientCall<ReqT, RespT> newOtherCall(
      MethodDescriptor<ReqT, RespT> method, CallOptions options, Executor callExecutor, Pick pick) {
    if (requireFabric) {
      return new RoutedCall<>(this, method, options, callExecutor, RoutedCall.Entry.NEW);
    }
    return life.newGrpcCall(method, options, pick, Counter.CHANNEL_CALLS_FALLBACK);
  }

  /** Limits of a call: its options count before the channel's. */
  ClientLimits limits(CallOptions options) {
    final Integer own = options.getMaxInboundMessageSize();
    return own == null ? limits : new ClientLimits(own, limits.maxInboundMetadataLength());
  }

  @Override
  public RingChannel shutdown() {
    life.shutdown();
    orphan.clean();
    return this;
  }

  @Override
  public RingChannel shutdownNow() {
    life.shutdownNow();
    orphan.clean();
    return this;
  }

  @Override
  public boolean isShutdown() {
    return life.isShutdown();
  }

  @Override
  public boolean isTerminated() {
    return life.isTerminated();
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    return life.awaitTermination(timeout, unit);
  }

  /**
   * Returns the state of the gRPC channel, which a session keeps connected. Requesting a connection
   * also opens a ring.
   */
  @Override
  public ConnectivityState getState(boolean requestConnection) {
    final ConnectivityState state = grpc.getState(requestConnection);
    if (requestConnection && obstacle() == null) {
      final CompletableFuture<?> unused =
          awaitRing(pick(SessionService.OPEN, CallOptions.DEFAULT, null), false);
    }
    return state;
  }

  @Override
  public void notifyWhenStateChanged(ConnectivityState source, Runnable callback) {
    grpc.notifyWhenStateChanged(source, callback);
  }

  @Override
  public void resetConnectBackoff() {
    grpc.resetConnectBackoff(); // first: waiting calls open their ring over that channel
    backends.resetBackoff();
  }

  /** Ends the ring, too, when its calls have ended; the next call opens both again. */
  @Override
  public void enterIdle() {
    backends.enterIdle();
    grpc.enterIdle();
  }

  /** For tests: acts as if a session had had no call for the idle timeout. */
  void onIdle(ClientSession session) {
    life.onIdle(session);
  }

  @Override
  public String toString() {
    return "RingChannel[" + authority() + ", " + transport() + "]";
  }

  private <ReqT, RespT> RoutedCall<ReqT, RespT> newRoutedCall(
      MethodDescriptor<ReqT, RespT> method, CallOptions options, RoutedCall.Entry entry) {
    final Executor own = options.getExecutor();
    return new RoutedCall<>(this, method, options, own == null ? executor : own, entry);
  }

  /** The innermost channel, behind the interceptors: creates calls that choose their transport. */
  private final class Rings extends Channel {
    @Override
    public <ReqT, RespT> ClientCall<ReqT, RespT> newCall(
        MethodDescriptor<ReqT, RespT> method, CallOptions options) {
      return newRoutedCall(method, options, RoutedCall.Entry.NEW);
    }

    @Override
    public String authority() {
      return grpc.authority();
    }
  }

  /**
   * The channel used where the process has interceptors for all channels. The gRPC channel has
   * them, too, so only calls for a ring pass those here, and a call chooses its transport when it
   * is created. Calls that find no room on the ring when they start pass them twice.
   */
  private final class Observed extends Channel {
    private final Channel rings;

    Observed(Channel rings) {
      this.rings = rings;
    }

    @Override
    public <ReqT, RespT> ClientCall<ReqT, RespT> newCall(
        MethodDescriptor<ReqT, RespT> method, CallOptions options) {
      if (requireFabric) {
        return rings.newCall(method, options);
      }
      final boolean isKept = kept(method) != null;
      final Pick pick = isKept ? unpicked() : pick(method, options, null);
      final CallOptions picked = options.withOption(Pick.PICK, pick);
      if (!isKept && isForRing(method, options, pick.backend())) {
        return rings.newCall(method, picked);
      }
      return newRoutedCall(method, picked, RoutedCall.Entry.KEPT_OFF_RING);
    }

    private boolean isForRing(MethodDescriptor<?, ?> method, CallOptions options, Backend backend) {
      if (backend == null) {
        return false;
      }
      final ClientConnection open = backend.open();
      return open == null
          ? backend.sessions().isWorthAWait()
          : obstacle(method, options, open) == null;
    }

    @Override
    public String authority() {
      return grpc.authority();
    }
  }
}
