package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.call.Codecs;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Subject;
import dev.ringfetch.session.ClientSession;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * The lifecycle and counts of a channel: owns the gRPC channel and the backends, and ends them.
 * Counters, timers and pollers refer to this object, and this object does not refer to the {@link
 * RingChannel}. So only the application and its calls refer to that one; when it is dropped without
 * a shutdown, it is collected, and then shut down here. Thread-safe.
 */
final class ChannelLife {
  private static final Logger LOGGER = System.getLogger(RingChannel.class.getName());

  /** gRPC's property that says whether the stack trace of each channel's creation is kept. */
  private static final String TRACKING = "io.grpc.ManagedChannel.enableAllocationTracking";

  private final LongAdder ringCalls = new LongAdder();
  private final LongAdder grpcCalls = new LongAdder();
  private final LongAdder repeatedCalls = new LongAdder();

  /** The calls over gRPC by reason; each has one. */
  private final Map<Counter, LongAdder> reasons =
      new EnumMap<>(
          Map.of(
              Counter.CHANNEL_CALLS_FALLBACK, new LongAdder(),
              Counter.CHANNEL_CALLS_KEPT_RETRY, new LongAdder(),
              Counter.CHANNEL_CALLS_KEPT_CONFIG, new LongAdder(),
              Counter.CHANNEL_CALLS_KEPT_METHOD, new LongAdder(),
              Counter.CHANNEL_CALLS_KEPT_AUTHORITY, new LongAdder()));

  private final ManagedChannel grpc;
  private final String target;
  private final SharedFabrics fabrics;
  private final Backends backends;
  private final Subject subject;
  private final Throwable allocationSite;

  @GuardedBy("waiting")
  private final Set<WaitingCall<?, ?>> waiting = new HashSet<>();

  private final CountDownLatch ringTerminated = new CountDownLatch(1);

  private volatile boolean shutdown;

  /** Creates the lifecycle of a new channel, and begins that of its backends. */
  ChannelLife(Backends backends, ChannelContext context, RingPolicy policy, Codecs codecs) {
    this.grpc = context.grpc();
    this.target = context.target();
    this.fabrics = context.fabrics();
    this.allocationSite =
        Boolean.parseBoolean(System.getProperty(TRACKING, "true"))
            ? new Throwable("where the channel was built")
            : null;
    this.backends = backends;
    this.subject = fabrics.counters().add(Kind.CHANNEL, target, this::count);
    backends.begin(context, policy, codecs, this::onIdle, subject.serial());
  }

  /** What has been counted so far. */
  long count(Counter counter) {
    return switch (counter) {
      case CHANNEL_CALLS_RING -> ringCalls.sum();
      case CHANNEL_CALLS_GRPC -> grpcCalls.sum();
      case CHANNEL_CALLS_FALLBACK,
          CHANNEL_CALLS_KEPT_RETRY,
          CHANNEL_CALLS_KEPT_CONFIG,
          CHANNEL_CALLS_KEPT_METHOD,
          CHANNEL_CALLS_KEPT_AUTHORITY ->
          reasons.get(counter).sum();
      case CHANNEL_CALLS_REPEATED -> repeatedCalls.sum();
      case CHANNEL_SESSIONS_OPENED -> backends.opened().sum();
      case CHANNEL_SESSIONS_REFUSED -> backends.refused().sum();
      default -> throw new IllegalArgumentException("counter=" + counter);
    };
  }

  void countRingCall() {
    ringCalls.increment();
  }

  void countRepeatedCall() {
    repeatedCalls.increment();
  }

  /**
   * Creates a call over gRPC, counts it, and watches its stream.
   *
   * @param reason counter of the calls that are on gRPC for the same reason.
   */
  <ReqT, RespT> ClientCall<ReqT, RespT> newGrpcCall(
      MethodDescriptor<ReqT, RespT> method, CallOptions options, Pick pick, Counter reason) {
    grpcCalls.increment();
    reasons.get(reason).increment();
    fabrics.counters().changed();
    final Pick own = pick.forGrpc();
    return grpc.newCall(
        method,
        options.withOption(Pick.PICK, own).withStreamTracerFactory(backends.tracers(method, own)));
  }

  /** Called when a session has had no call for the channel's idle timeout. */
  void onIdle(ClientSession session) {
    if (backends.enterIdle(session)
        && grpcCalls.sum() == 0) { // otherwise the gRPC channel finds out by itself
      grpc.enterIdle();
    }
  }

  /** Registers a call that waits: what is beneath stays until it leaves. False after a shutdown. */
  boolean enter(WaitingCall<?, ?> call) {
    synchronized (waiting) {
      return !shutdown && waiting.add(call);
    }
  }

  /** Called when a registered call is under way on the ring, or has ended. */
  void leave(WaitingCall<?, ?> call) {
    synchronized (waiting) {
      if (!waiting.remove(call) || !shutdown || !waiting.isEmpty()) {
        return;
      }
    }
    shutdownBeneath();
  }

  /** The ring's is what counts the first time only. */
  private void shutdownBeneath() {
    grpc.shutdown();
    backends.shutdown(this::onRingTerminated);
  }

  void shutdown() {
    final boolean last;
    synchronized (waiting) {
      shutdown = true;
      last = waiting.isEmpty();
    }
    if (last) {
      shutdownBeneath();
    }
  }

  void shutdownNow() {
    shutdown();
    final List<WaitingCall<?, ?>> ending;
    synchronized (waiting) {
      ending = List.copyOf(waiting);
    }
    backends.shutdownNow();
    grpc.shutdownNow();
    ending.forEach(WaitingCall::onShutdownNow); // each tells its executor, which is the user's
  }

  /** Called when the channel was collected. Runs on the cleaner's thread, so it must not block. */
  void onCollected() {
    if (!shutdown) {
      DefaultExecutor.RETRYING.execute(this::endOrphan);
    }
  }

  /** Logs in gRPC's own words, since people search for those. Calls under way continue. */
  private void endOrphan() {
    shutdown();
    LOGGER.log(
        Level.ERROR,
        "*~*~*~ Previous channel RingChannel{target="
            + target
            + "} was garbage collected without being shut down! ~*~*~*"
            + System.lineSeparator()
            + "    It was not shutdown properly: make sure to call shutdown()/shutdownNow()",
        allocationSite);
  }

  /** Called on the poller's thread, which cannot wait for its own end. */
  private void onRingTerminated() {
    DefaultExecutor.RETRYING.execute(
        () -> {
          fabrics.counters().remove(subject);
          fabrics.release();
          LOGGER.log(
              Level.DEBUG,
              "the channel to {0} has ended; calls by ring: {1,number,#}, by gRPC: {2,number,#}",
              target,
              ringCalls.sum(),
              grpcCalls.sum());
          ringTerminated.countDown();
        });
  }

  boolean isShutdown() {
    return shutdown;
  }

  boolean isTerminated() {
    return ringTerminated.getCount() == 0 && grpc.isTerminated();
  }

  boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    final long deadline = System.nanoTime() + unit.toNanos(timeout);
    return ringTerminated.await(timeout, unit)
        && grpc.awaitTermination(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
  }
}
