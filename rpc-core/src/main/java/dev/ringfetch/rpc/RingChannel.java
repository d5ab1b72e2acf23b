package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.ClientLimits;
import dev.ringfetch.call.Codecs;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.SessionContext;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ConnectivityState;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.lang.ref.Cleaner;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * A channel whose calls go over a ring where there is one, and over gRPC where not. Which way a
 * call takes is decided when it starts, or, where the process has interceptors for all channels,
 * when it is made. Made by {@link RingChannelBuilder}; thread-safe.
 */
public final class RingChannel extends ManagedChannel {
  /** How a call ends that comes too late. */
  static final Status SHUTDOWN = Status.UNAVAILABLE.withDescription("Channel shutdown invoked");

  private final ManagedChannel grpc;
  private final ChannelLife life;
  private final ChannelSessions sessions;
  private final Cleaner.Cleanable orphan;
  private final Executor executor;
  private final ClientLimits limits;
  private final boolean requireFabric;
  private final boolean bare; // a ring is all that calls pass
  private final String obstacle;
  private final Channel intercepted;
  private final BufferAllocator allocator;

  RingChannel(
      ManagedChannel grpc,
      String target,
      SharedFabrics fabrics,
      SessionContext context,
      PlaintextFabrics plaintext,
      Executor executor,
      ClientLimits limits,
      Codecs codecs,
      List<ClientInterceptor> interceptors,
      List<ClientInterceptor> globalInterceptors,
      boolean requireFabric,
      long idleTimeoutNs,
      String obstacle) {
    this.grpc = grpc;
    this.executor = executor;
    this.limits = limits;
    this.requireFabric = requireFabric;
    this.bare = obstacle == null && interceptors.isEmpty() && globalInterceptors.isEmpty();
    this.obstacle = obstacle;
    this.life =
        new ChannelLife(
            grpc,
            target,
            fabrics,
            idleTimeoutNs,
            idleWatch ->
                new ChannelSessions(
                    grpc,
                    fabrics,
                    context,
                    plaintext,
                    target,
                    requireFabric ? "fail" : "go over gRPC",
                    codecs,
                    idleWatch));
    final ChannelSessions rings = life.sessions();
    this.sessions = rings;
    this.allocator =
        new BufferAllocator(
            () -> {
              final ClientConnection ring = rings.current();
              return ring == null ? null : ring.session();
            });
    final Channel ringsOnly = ClientInterceptors.intercept(new Rings(), globalInterceptors);
    this.intercepted =
        ClientInterceptors.intercept(
            globalInterceptors.isEmpty() ? ringsOnly : new Observed(ringsOnly), interceptors);
    this.orphan = fabrics.orphans().register(this, life::onCollected);
  }

  /** What has been counted so far. */
  long count(Counter counter) {
    return life.count(counter);
  }

  /** Servers are asked to send something on a session's stream so often; 0: they are not. */
  RingChannel pulse(long intervalNs) {
    sessions.pulse(intervalNs);
    return this;
  }

  /** Which transport serves the next call, and why. */
  public Transport transport() {
    final ClientConnection ring = obstacle == null ? sessions.open() : null;
    if (ring != null) {
      return new Transport(ring.fabric(), ring.session().describe());
    }
    return new Transport(
        requireFabric ? Transport.NONE : Transport.GRPC,
        obstacle == null ? sessions.reason() : obstacle());
  }

  /** Makes buffers for messages that the server reads out of this process's memory. */
  public BufferAllocator allocator() {
    return allocator;
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
   * Makes what makes calls of a unary method whose messages are bytes, for callers who want to
   * avoid what stubs allocate.
   *
   * @param method as generated code has it; its marshallers are not used.
   * @param listener told how calls end.
   * @throws IllegalArgumentException if the method is not unary.
   */
  public UnaryCall newUnaryCall(MethodDescriptor<?, ?> method, UnaryListener listener) {
    if (method.getType() != MethodDescriptor.MethodType.UNARY) {
      throw new IllegalArgumentException("type=" + method.getType() + " is not UNARY");
    }
    return new UnaryCall(this, method, limits, listener);
  }

  /** The ring for a new call that nothing but a ring is needed for, or null. */
  ClientConnection bareRing(MethodDescriptor<?, ?> method) {
    final ClientConnection ring = bare && !life.isShutdown() ? sessions.open() : null;
    return ring != null && ring.names(method) ? ring : null;
  }

  @Override
  public String authority() {
    return grpc.authority();
  }

  /** Why no ring can carry the channel's calls, or null. */
  String obstacle() {
    return obstacle == null ? null : obstacle + " is not carried by a ring";
  }

  /** Why a ring cannot carry a call, or null. */
  static String obstacle(
      MethodDescriptor<?, ?> method, CallOptions options, ClientConnection ring) {
    if (!ring.names(method)) {
      return "the ring's server does not name " + method.getFullMethodName();
    }
    return options.getAuthority() != null
            && ring.attributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION) != null
        ? "only gRPC can hold an authority of the call's own against the server's certificate"
        : null;
  }

  /** The ring for a new call, or null. */
  ClientConnection ring() {
    return sessions.current();
  }

  /** As {@link #ring}, for a call that goes over gRPC without one, and has its stream first. */
  ClientConnection ringOrSeek() {
    if (requireFabric) {
      return sessions.current();
    }
    final ClientConnection open = sessions.open();
    if (open == null) {
      sessions.seek();
    }
    return open;
  }

  /** Whether a call had better wait for the ring that is being opened. */
  boolean isRingWorthAWait() {
    return sessions.isWorthAWait();
  }

  /** The ring, as soon as there is one. */
  CompletableFuture<ClientConnection> awaitRing() {
    return sessions.connect();
  }

  /** As {@link #awaitRing}, however often it fails until then; whoever waits no longer cancels. */
  CompletableFuture<ClientConnection> awaitRingForReady() {
    return sessions.connectWaitingForReady();
  }

  boolean requiresFabric() {
    return requireFabric;
  }

  /** A call over gRPC, counted. */
  <ReqT, RespT> ClientCall<ReqT, RespT> newGrpcCall(
      MethodDescriptor<ReqT, RespT> method, CallOptions options) {
    return life.newGrpcCall(method, options);
  }

  /** A call that goes over gRPC could have been carried by a ring. */
  void countFallback() {
    life.countFallback();
  }

  /** A call had begun on a ring and begins again. */
  void countRepeatedCall() {
    life.countRepeatedCall();
  }

  /** In place of a call that its ring does not carry: over gRPC or, if rings must, on the next. */
  <ReqT, RespT> ClientCall<ReqT, RespT> newOtherCall(
      MethodDescriptor<ReqT, RespT> method, CallOptions options, Executor callExecutor) {
    if (requireFabric) {
      return WaitingCall.forRing(this, method, options, callExecutor);
    }
    countFallback();
    return newGrpcCall(method, options);
  }

  void countRingCall() {
    life.countRingCall();
  }

  /** Limits of a call: its options count before the channel's. */
  ClientLimits limits(CallOptions options) {
    final Integer own = options.getMaxInboundMessageSize();
    return own == null ? limits : new ClientLimits(own, limits.maxInboundMetadataLength());
  }

  /** A call waits: until it leaves, what is beneath stays. False after a shutdown. */
  boolean enter(WaitingCall<?, ?> call) {
    return life.enter(call);
  }

  /** A call that has waited is under way, or has ended. */
  void leave(WaitingCall<?, ?> call) {
    life.leave(call);
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
   * The state of the gRPC channel beneath, which a session keeps connected. Who requests a
   * connection gets a ring beside it.
   */
  @Override
  public ConnectivityState getState(boolean requestConnection) {
    final ConnectivityState state = grpc.getState(requestConnection);
    if (requestConnection && obstacle == null) {
      sessions.current();
    }
    return state;
  }

  @Override
  public void notifyWhenStateChanged(ConnectivityState source, Runnable callback) {
    grpc.notifyWhenStateChanged(source, callback);
  }

  @Override
  public void resetConnectBackoff() {
    grpc.resetConnectBackoff(); // first: who waits for a ring asks for it over that
    sessions.resetBackoff();
  }

  /** Leaves the ring, too, when the calls on it have ended; the next call opens both again. */
  @Override
  public void enterIdle() {
    sessions.enterIdle();
    grpc.enterIdle();
  }

  /** For tests: as if no call had been under way on a session for long enough. */
  void onIdle(ClientSession session) {
    life.onIdle(session);
  }

  @Override
  public String toString() {
    return "RingChannel[" + authority() + ", " + transport() + "]";
  }

  private <ReqT, RespT> RoutedCall<ReqT, RespT> newRoutedCall(
      MethodDescriptor<ReqT, RespT> method, CallOptions options) {
    final Executor own = options.getExecutor();
    return new RoutedCall<>(this, method, options, own == null ? executor : own);
  }

  /** Where interceptors end and the choice begins. */
  private final class Rings extends Channel {
    @Override
    public <ReqT, RespT> ClientCall<ReqT, RespT> newCall(
        MethodDescriptor<ReqT, RespT> method, CallOptions options) {
      return newRoutedCall(method, options);
    }

    @Override
    public String authority() {
      return grpc.authority();
    }
  }

  /**
   * Where the process has interceptors for all channels: the gRPC beneath has them, too, so that
   * only calls for a ring are to pass those here, and what a call is for is chosen when it is made.
   * Those that find no room on the ring when they start pass them twice.
   */
  private final class Observed extends Channel {
    private final Channel rings;

    Observed(Channel rings) {
      this.rings = rings;
    }

    @Override
    public <ReqT, RespT> ClientCall<ReqT, RespT> newCall(
        MethodDescriptor<ReqT, RespT> method, CallOptions options) {
      if (requireFabric || isForRing(method, options)) {
        return rings.newCall(method, options);
      }
      final RoutedCall<ReqT, RespT> call = newRoutedCall(method, options);
      call.keepOffRing();
      return call;
    }

    private boolean isForRing(MethodDescriptor<?, ?> method, CallOptions options) {
      final ClientConnection open = obstacle == null ? sessions.open() : null;
      return open == null
          ? obstacle == null && sessions.isWorthAWait()
          : obstacle(method, options, open) == null;
    }

    @Override
    public String authority() {
      return grpc.authority();
    }
  }
}
