package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Subject;
import io.grpc.CallOptions;
import io.grpc.ConnectivityState;
import io.grpc.ConnectivityStateInfo;
import io.grpc.EquivalentAddressGroup;
import io.grpc.LoadBalancer.PickResult;
import io.grpc.LoadBalancer.Subchannel;
import io.grpc.Status;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * One server of a channel, as gRPC's policy and the channel's calls see it: knows the addresses and
 * the state of gRPC's connection to it, and the ring that new calls use. {@link BackendSessions}
 * opens rings, when calls want them. Thread-safe.
 */
final class Backend {
  static final String SHUTDOWN = "Channel shutdown invoked";

  /** Option of the gRPC call that opens a session: the backend that it goes to. */
  static final CallOptions.Key<Backend> HANDSHAKE =
      CallOptions.Key.create("dev.ringfetch.rpc.Backend.HANDSHAKE");

  static final String LOST_CONNECTION = "gRPC has lost its connection to the server";

  private final Backends channel;
  private final ChannelContext context;
  private final Subchannel subchannel; // null: whatever gRPC's connection leads to
  private final LongAdder grpcCalls = new LongAdder();
  private final BackendSessions sessions;
  private final Subject subject;

  private volatile List<EquivalentAddressGroup> addresses;
  private volatile ConnectivityStateInfo connectivity =
      ConnectivityStateInfo.forNonError(ConnectivityState.IDLE);

  /**
   * Creates a backend; nothing is opened yet.
   *
   * @param subchannel by which gRPC's policy knows it; null for whatever gRPC's connection leads
   *     to.
   * @param addresses of the server, if gRPC tells.
   * @param idleWatch looks after the sessions.
   */
  Backend(
      Backends channel,
      Subchannel subchannel,
      List<EquivalentAddressGroup> addresses,
      IdleWatch idleWatch) {
    this.channel = channel;
    this.context = channel.context();
    this.subchannel = subchannel;
    this.addresses = addresses;
    this.sessions = new BackendSessions(channel, this, idleWatch, subchannel != null);
    this.subject =
        context.fabrics().counters().add(Kind.BACKEND, this::address, this::detail, this::count);
  }

  /** Called when gRPC has other addresses of the server. */
  void onAddresses(List<EquivalentAddressGroup> changed) {
    addresses = changed;
    context.fabrics().counters().changed();
  }

  /** Called when gRPC's connection to this backend changes its state, before the policy knows. */
  void onState(ConnectivityStateInfo changed) {
    final boolean wasReady = connectivity.getState() == ConnectivityState.READY;
    connectivity = changed;
    context.fabrics().counters().changed();
    if (changed.getState() == ConnectivityState.READY) {
      sessions.onConnected();
    } else if (wasReady && !sessions.hasLeft()) { // the next connection may lead to another server
      sessions.onDisconnected();
    }
  }

  /** Called when the policy, too, knows gRPC's state: waiting calls are picked again. */
  void onPolicyTold() {
    if (isUnreachable()) {
      sessions.failWaiting(Backends.noRing("gRPC has no connection"));
    }
  }

  /** True if gRPC neither has nor opens a connection to this backend, which goes on. */
  boolean isUnreachable() {
    final ConnectivityState now = connectivity.getState();
    return subchannel != null
        && !sessions.hasLeft()
        && (now == ConnectivityState.IDLE || now == ConnectivityState.TRANSIENT_FAILURE);
  }

  /** The state of gRPC's connection; READY where gRPC does not tell. */
  ConnectivityState state() {
    return subchannel == null ? ConnectivityState.READY : connectivity.getState();
  }

  /** True if a session can be opened: gRPC has a connection, or none is known to be missing. */
  boolean isReady() {
    return state() == ConnectivityState.READY;
  }

  /** Returns what gRPC's picker returns for the call that opens a session to this backend. */
  PickResult pinned() {
    final ConnectivityStateInfo now = connectivity;
    return switch (now.getState()) {
      case READY -> PickResult.withSubchannel(subchannel);
      case TRANSIENT_FAILURE -> PickResult.withError(now.getStatus());
      case IDLE, CONNECTING, SHUTDOWN -> // else gRPC might buffer the call until its timeout
          PickResult.withError(Status.UNAVAILABLE.withDescription("gRPC has no connection"));
    };
  }

  /** Called when the policy gives the server up: its calls end on the ring, others go elsewhere. */
  void leave() {
    connectivity = ConnectivityStateInfo.forNonError(ConnectivityState.SHUTDOWN);
    sessions.shutdown(() -> channel.remove(this));
  }

  /** True if the policy has given the server up, while the channel goes on. */
  boolean hasGone() {
    return sessions.hasLeft() && !channel.isShutdown();
  }

  /** Called when it has ended: other processes see it no longer. */
  void onEnded() {
    context.fabrics().counters().remove(subject);
  }

  /** Returns which transport serves its next call, with the counts of its calls. */
  BackendTransport transport() {
    final ConnectivityState grpc =
        subchannel == null ? context.grpc().getState(false) : connectivity.getState();
    return new BackendTransport(
        address(), grpc, nextTransport(), sessions.callCount(), grpcCalls.sum());
  }

  /** Its addresses, or the target of the channel that has one backend. */
  @Override
  public String toString() {
    return address();
  }

  private String address() {
    return subchannel == null
        ? context.target()
        : addresses.stream()
            .flatMap(group -> group.getAddresses().stream())
            .map(String::valueOf)
            .map(text -> text.startsWith("/") ? text.substring(1) : text)
            .collect(Collectors.joining(" "));
  }

  private Transport nextTransport() {
    final String obstacle = channel.obstacle();
    final ClientConnection ring = obstacle == null ? open() : null;
    return ring == null
        ? new Transport(
            channel.policy().isRequired() ? Transport.NONE : Transport.GRPC,
            obstacle == null ? reason() : obstacle)
        : new Transport(ring.fabric(), ring.session().describe());
  }

  /** Returns its channel, the state of gRPC's connection, and the transport of its next call. */
  private String detail() {
    final Transport next = nextTransport();
    final String state = subchannel == null ? "" : connectivity.getState() + ", ";
    return "of #" + channel.serial() + ", " + state + next.name() + ": " + next.reason();
  }

  private long count(Counter counter) {
    return switch (counter) {
      case BACKEND_CALLS_RING -> sessions.callCount();
      case BACKEND_CALLS_GRPC -> grpcCalls.sum();
      default -> throw new IllegalArgumentException("counter=" + counter);
    };
  }

  /** Counts a call over gRPC. */
  void countGrpcCall() {
    grpcCalls.increment();
  }

  /** The ring that is open, or null. */
  ClientConnection open() {
    return sessions.open();
  }

  /**
   * Returns the ring for a new call. Null: one is being opened, unless it is too early for that.
   */
  ClientConnection current() {
    final ClientConnection open = open();
    if (open == null) {
      sessions.begin();
    }
    return open;
  }

  /** The sessions of this backend, and the attempts to open them. */
  BackendSessions sessions() {
    return sessions;
  }

  /** Returns the options of a gRPC call to this backend. */
  CallOptions handshakeOptions() {
    return subchannel == null
        ? CallOptions.DEFAULT
        : CallOptions.DEFAULT.withOption(HANDSHAKE, this);
  }

  /** Why there is no ring. */
  String reason() {
    final ConnectivityStateInfo now = connectivity;
    return now.getState() == ConnectivityState.TRANSIENT_FAILURE
        ? "handshake: " + now.getStatus().getCode() + ": " + now.getStatus().getDescription()
        : sessions.reason();
  }
}
