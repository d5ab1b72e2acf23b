package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.Codecs;
import dev.ringfetch.session.ClientSession;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.ConnectivityState;
import io.grpc.EquivalentAddressGroup;
import io.grpc.LoadBalancer.Subchannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.util.ForwardingClientStreamTracer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * The backends of a channel, and the choice of one for each call. With a {@link Tap} the choice is
 * that of the application's load-balancing policy, and there is a backend for each of its
 * subchannels. Without one there is a single backend: whatever gRPC's connection leads to.
 * Thread-safe.
 */
final class Backends implements TapProvider.Owner {
  static final String BYPASSED =
      "the name resolver has a service config of its own, which is gRPC's to follow;"
          + " disableServiceConfigLookUp() on the builder ignores it";

  private static final int MAX_LOGGED = 64;

  private final LongAdder opened = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final boolean isTapped;
  private final String untapped; // why no ring can carry the channel's calls, or null

  private ChannelContext context; // set before the first call, as the next two
  private RingPolicy policy;
  private Codecs codecs;
  private Consumer<ClientSession> onIdle;
  private long serial;

  private volatile Pick single; // null: there is a tap
  private volatile Tap.Picker picker; // null: gRPC has none, because the channel is idle, say
  private volatile boolean bypassed; // the policy is not the one that the tap wraps

  @GuardedBy("this")
  private final Set<Backend> backends = new LinkedHashSet<>();

  @GuardedBy("this")
  private final Set<BackendProbe> probes = new HashSet<>();

  @GuardedBy("this")
  private final Set<String> logged = new HashSet<>();

  @GuardedBy("this")
  private String obstacle = "no call has asked for a ring yet"; // while there is no picker

  @GuardedBy("this")
  private boolean shutdown;

  @GuardedBy("this")
  private Runnable onTerminated;

  /**
   * Creates an empty set; {@link #begin} follows.
   *
   * @param untapped why no ring can carry calls of a channel without a tap, or null.
   */
  Backends(boolean isTapped, String untapped) {
    this.isTapped = isTapped;
    this.untapped = untapped;
  }

  /**
   * Sets what backends need. Called once, before the channel is used.
   *
   * @param whenIdle is told of sessions that had no call for the channel's idle timeout.
   * @param channelSerial number of the channel among the subjects of counters.
   */
  void begin(
      ChannelContext channel,
      RingPolicy rules,
      Codecs channelCodecs,
      Consumer<ClientSession> whenIdle,
      long channelSerial) {
    context = channel;
    policy = rules;
    codecs = channelCodecs;
    onIdle = whenIdle;
    serial = channelSerial;
    if (!isTapped) {
      single = new Pick(this, add(null, List.of()));
    }
  }

  /** One channel has these backends for all its life. */
  @Override
  public Backends onTapBegins() {
    return this;
  }

  @Override
  public void onTapEnds() {}

  synchronized boolean isShutdown() {
    return shutdown;
  }

  ChannelContext context() {
    return context;
  }

  /** Returns the number by which readers of counters know the channel. */
  long serial() {
    return serial;
  }

  RingPolicy policy() {
    return policy;
  }

  Codecs codecs() {
    return codecs;
  }

  /** Returns the counter of sessions that were opened. */
  LongAdder opened() {
    return opened;
  }

  /** Returns the counter of attempts that led to no session. */
  LongAdder refused() {
    return refused;
  }

  /** Adds the backend of a new subchannel; null for the single one of a channel without a tap. */
  Backend add(Subchannel subchannel, List<EquivalentAddressGroup> addresses) {
    final Backend added =
        new Backend(this, subchannel, addresses, new IdleWatch(onIdle, policy.idleTimeoutNs()));
    final boolean late;
    synchronized (this) {
      late = shutdown;
      if (!late) {
        backends.add(added);
      }
    }
    if (late) { // gRPC still connects for calls that began before
      added.sessions().shutdown(added::onEnded);
    }
    return added;
  }

  void remove(Backend ended) {
    ended.onEnded();
    final Runnable terminated;
    synchronized (this) {
      backends.remove(ended);
      terminated = shutdown && backends.isEmpty() ? onTerminated : null;
      if (terminated != null) {
        onTerminated = null;
      }
    }
    if (terminated != null) {
      terminated.run();
    }
  }

  /** Called when the policy has another picker, before gRPC uses it; null: there is no policy. */
  void onPicker(Tap.Picker other) {
    picker = other;
    bypassed = false; // unless the next stream says otherwise
    if (other == null) {
      synchronized (this) {
        obstacle = "the channel is idle";
      }
    }
  }

  /** Picks a backend for a new call. */
  Pick pick(MethodDescriptor<?, ?> method, CallOptions options, Metadata headers) {
    final Pick before = options.getOption(Pick.PICK);
    if (before != null && before.isFor(this) && before.isFresh() && !before.hasGone()) {
      return before;
    }
    final Pick fixed = fixed();
    if (fixed != null) {
      return fixed;
    }
    final Tap.Picker current = picker;
    return current == null ? unpicked() : current.pick(new Pick.Call(method, options, headers));
  }

  /** Returns the pick of a call whose backend gRPC is to choose. */
  Pick unpicked() {
    final Pick one = single;
    return one == null ? new Pick(this, null) : one;
  }

  /** Returns the pick that holds for any call at present, or null. */
  Pick fixed() {
    if (single != null) {
      return single;
    }
    final Tap.Picker current = picker;
    return current == null ? null : current.fixed();
  }

  /**
   * Lets gRPC make the pick that the channel cannot make: fails as a call would that gRPC cannot
   * connect. A cancel of the future ends the wait.
   */
  CompletableFuture<Pick> awaitPick(boolean waitForReady) {
    final BackendProbe probe = new BackendProbe(waitForReady);
    synchronized (this) {
      if (shutdown) {
        return CompletableFuture.failedFuture(RingChannel.SHUTDOWN.asRuntimeException());
      }
      probes.add(probe);
    }
    final CompletableFuture<?> unused =
        probe
            .future()
            .whenComplete(
                (made, failure) -> {
                  synchronized (this) {
                    probes.remove(probe);
                  }
                });
    probe.start(context.control());
    return probe.future();
  }

  /** Returns the tracers that a call needs which goes over gRPC, with a pick of its own. */
  ClientStreamTracer.Factory tracers(MethodDescriptor<?, ?> method, Pick pick) {
    if (!pick.isFixed()) {
      return new LateTracers(method, pick);
    }
    pick.backend().countGrpcCall();
    return pick.backend().sessions().streams().room().of(method);
  }

  /**
   * Called when a call has got a stream that the tap has not seen: its picker may have come late.
   */
  void onBypassed() {
    if (isTapped && picker == null && !bypassed) {
      bypassed = true;
      log(System.Logger.Level.INFO, BYPASSED);
    }
  }

  /** Returns why no ring can carry the channel's calls, or null. */
  String obstacle() {
    return bypassed && picker == null && !policy.isRequired() ? BYPASSED : untapped;
  }

  /** Returns why there is no ring, where no backend is picked. */
  String reason() {
    if (obstacle() != null) {
      return obstacle();
    }
    final Pick next = fixed();
    if (next != null) {
      return next.backend().reason();
    }
    if (picker == null) {
      if (context.grpc().getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
        return "gRPC has no backends";
      }
      synchronized (this) {
        return obstacle;
      }
    }
    final List<Backend> present = list();
    return present.isEmpty() ? "gRPC has no connection" : present.get(present.size() - 1).reason();
  }

  /** Returns all backends, those that drain included. */
  synchronized List<Backend> list() {
    return new ArrayList<>(backends);
  }

  /** Returns an open ring to any backend, that of the next call if it is certain; or null. */
  ClientConnection anyOpen() {
    final Pick next = fixed();
    if (next != null && next.backend() != null) {
      return next.backend().open();
    }
    if (picker != null) {
      for (final Backend backend : list()) {
        final ClientConnection open = backend.open();
        if (open != null && !backend.hasGone()) {
          return open;
        }
      }
    }
    return null;
  }

  /**
   * Waits for a ring to the backend of a pick, or of the one that gRPC makes where this one has no
   * backend, or gRPC no connection to it. A cancel of the future ends the wait. It completes
   * without a ring if the policy has given the backend up, or cannot reach it and the call is to
   * wait: the call is picked again.
   */
  CompletableFuture<Pick> awaitRing(Pick pick, boolean waitForReady) {
    final CompletableFuture<Pick> waiting = new CompletableFuture<>();
    final Backend picked = pick.backend();
    if (picked != null && (picked.open() != null || picked.isReady())) {
      awaitRing(pick, waitForReady, waiting);
      return waiting;
    }
    final CompletableFuture<Pick> picking = awaitPick(waitForReady);
    cancelWith(waiting, picking);
    final CompletableFuture<?> unused =
        picking.whenComplete(
            (made, failure) -> {
              if (failure != null) {
                waiting.completeExceptionally(failure);
              } else if (made.backend() == null) {
                waiting.completeExceptionally(
                    noRing("the policy's connections are not Ringfetch's").asRuntimeException());
              } else {
                awaitRing(made, waitForReady, waiting);
              }
            });
    return waiting;
  }

  private void awaitRing(Pick pick, boolean waitForReady, CompletableFuture<Pick> waiting) {
    final Backend backend = pick.backend();
    final CompletableFuture<ClientConnection> ring =
        waitForReady ? backend.sessions().connectWaitingForReady() : backend.sessions().connect();
    if (waitForReady) { // the other one is the attempt's, for all that wait
      cancelWith(waiting, ring);
    }
    final CompletableFuture<?> unused =
        ring.whenComplete(
            (made, failure) -> {
              if (failure == null || backend.hasGone()) {
                waiting.complete(pick);
              } else if (waitForReady && backend.isUnreachable()) {
                waiting.complete(unpicked());
              } else {
                waiting.completeExceptionally(failure);
              }
            });
  }

  private static void cancelWith(CompletableFuture<?> waiting, CompletableFuture<?> ending) {
    final CompletableFuture<?> unused =
        waiting.whenComplete((made, failure) -> ending.cancel(false));
  }

  void resetBackoff() {
    list().forEach(backend -> backend.sessions().resetBackoff());
  }

  void enterIdle() {
    list().forEach(backend -> backend.sessions().enterIdle());
  }

  /**
   * Ends the ring of a session without calls.
   *
   * @return whether no backend has a ring any more.
   */
  boolean enterIdle(ClientSession session) {
    boolean ended = false;
    for (final Backend backend : list()) {
      ended |= backend.sessions().enterIdle(session);
    }
    return ended && list().stream().allMatch(backend -> backend.open() == null);
  }

  /**
   * Ends all sessions when their calls have ended, and opens no further one. Idempotent.
   *
   * @param whenTerminated called once, when nothing is left.
   */
  void shutdown(Runnable whenTerminated) {
    final List<Backend> ending;
    final List<BackendProbe> ended;
    synchronized (this) {
      if (shutdown) {
        return;
      }
      shutdown = true;
      ending = list();
      ended = List.copyOf(probes);
      onTerminated = ending.isEmpty() ? null : whenTerminated;
    }
    TapProvider.deregister(this);
    ended.forEach(probe -> probe.end(RingChannel.SHUTDOWN));
    ending.forEach(backend -> backend.sessions().shutdown(() -> remove(backend)));
    if (ending.isEmpty()) {
      whenTerminated.run();
    }
  }

  void shutdownNow() {
    list().forEach(backend -> backend.sessions().shutdownNow());
  }

  /** Logs a reason why there is no ring, once until a ring opens. */
  void log(System.Logger.Level level, String reason) {
    synchronized (this) {
      if (shutdown || !logged.add(reason)) {
        return;
      }
      if (logged.size() > MAX_LOGGED) {
        logged.clear();
      }
    }
    System.getLogger(RingChannel.class.getName())
        .log(
            level,
            "there is no ring to {0}, so calls {1}: {2}",
            context.target(),
            policy.meanwhile(),
            reason);
  }

  /** Called when a ring has opened: later reasons are logged again. */
  synchronized void onRing() {
    logged.clear();
  }

  /** Returns the status of a call that needs a ring and gets none. */
  static Status noRing(String reason) {
    return Status.UNAVAILABLE.withDescription("no ring: " + reason);
  }

  /** Tracers of a call whose backend is certain once it has a stream: gRPC may pick again. */
  private final class LateTracers extends ClientStreamTracer.Factory {
    private final MethodDescriptor<?, ?> method;
    private final Pick pick;

    LateTracers(MethodDescriptor<?, ?> method, Pick pick) {
      this.method = method;
      this.pick = pick;
    }

    @Override
    public ClientStreamTracer newClientStreamTracer(
        ClientStreamTracer.StreamInfo info, Metadata headers) {
      return new ForwardingClientStreamTracer() {
        private volatile ClientStreamTracer tracer = new ClientStreamTracer() {};
        private volatile boolean hasStream;

        @Override
        protected ClientStreamTracer delegate() {
          return tracer;
        }

        @Override
        public void streamClosed(Status status) {
          final Backend picked = hasStream ? null : pick.backend();
          if (picked != null) { // it waits for this call's stream no longer
            picked.sessions().streams().onCallSent();
          }
          super.streamClosed(status);
        }

        @Override
        public void streamCreated(Attributes transport, Metadata sent) {
          hasStream = true;
          final Backend picked = pick.backend();
          if (picked != null) {
            picked.countGrpcCall();
            tracer =
                picked.sessions().streams().room().of(method).newClientStreamTracer(info, sent);
          } else {
            onBypassed();
          }
          super.streamCreated(transport, sent);
        }
      };
    }
  }
}
