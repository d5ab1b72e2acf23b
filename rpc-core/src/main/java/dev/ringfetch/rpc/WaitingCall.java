package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.ClientTracers;
import dev.ringfetch.call.Deadlines;
import dev.ringfetch.call.DirectExecutor;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A call that waits before it can start: for a ring, because its channel requires one, or for its
 * credentials. It queues its operations and replays them on a new call when the wait is over. It
 * ends at its deadline, when it or its context is cancelled, or when the wait fails.
 *
 * <p>No user code runs under the monitor: neither executors nor marshallers.
 */
final class WaitingCall<ReqT, RespT> extends ClientCall<ReqT, RespT> {
  /** How long a call that can do without a ring waits for one. */
  private static final long RING_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(1);

  private final RingChannel channel;
  private final MethodDescriptor<ReqT, RespT> method;
  private final CallOptions options;
  private final CallOptions optionsAfter;
  private final Executor executor;
  private final boolean holds;
  private final boolean once;
  private final String what;
  private final Supplier<CompletableFuture<Metadata>> awaited;
  private volatile Pick pick; // of the call that this one becomes
  private final Context context = Context.current();
  private final Context.CancellationListener contextListener =
      cancelled -> end(Contexts.statusFromCancelled(cancelled));

  @GuardedBy("this")
  private List<Runnable> asked = new ArrayList<>();

  // set once, under this monitor, before the wait begins
  private Listener<RespT> listener;
  private Metadata headers;

  @GuardedBy("this")
  private Status endBeforeStart;

  @GuardedBy("this")
  private CompletableFuture<Metadata> waiting;

  /** Set once: what the call has become. Until {@link #replayed}, operations are still queued. */
  private volatile ClientCall<ReqT, RespT> real;

  private volatile boolean replayed;

  /**
   * Creates a call.
   *
   * @param optionsAfter options of the call that this one becomes.
   * @param holds whether the channel keeps what is beneath for this call, also when it is shut
   *     down.
   * @param once whether the call that this one becomes waits for no ring any more.
   * @param what name of the thing that it waits for, for messages.
   * @param pick of the call that this one becomes.
   * @param awaited headers to be added once it is there; asked for when the call starts.
   */
  private WaitingCall(
      RingChannel channel,
      MethodDescriptor<ReqT, RespT> method,
      CallOptions options,
      CallOptions optionsAfter,
      Executor executor,
      boolean holds,
      boolean once,
      String what,
      Pick pick,
      Supplier<CompletableFuture<Metadata>> awaited) {
    this.channel = channel;
    this.method = method;
    this.options = options;
    this.optionsAfter = optionsAfter;
    this.executor = executor;
    this.holds = holds;
    this.once = once;
    this.what = what;
    this.pick = pick;
    this.awaited = awaited;
  }

  /** A call that waits for a ring, and for a backend where the pick has none. */
  static <ReqT, RespT> WaitingCall<ReqT, RespT> forRing(
      RingChannel channel,
      MethodDescriptor<ReqT, RespT> method,
      CallOptions options,
      Executor executor,
      Pick pick) {
    return new WaitingCall<>(
        channel, method, options, options, executor, false, false, "a ring", pick, null);
  }

  /**
   * Returns empty headers once there is a ring. A cancel or timeout of this future cancels the
   * wait.
   */
  static <T> CompletableFuture<Metadata> withoutHeaders(
      CompletableFuture<T> ring, Consumer<T> onRing) {
    final CompletableFuture<Metadata> headers =
        ring.thenApply(
            made -> {
              onRing.accept(made);
              return new Metadata();
            });
    final CompletableFuture<?> unused = headers.whenComplete((none, failure) -> ring.cancel(false));
    return headers;
  }

  /** A call that waits for the ring that is being opened, and goes over gRPC without one. */
  static <ReqT, RespT> WaitingCall<ReqT, RespT> forRingOrGrpc(
      RingChannel channel,
      MethodDescriptor<ReqT, RespT> method,
      CallOptions options,
      Executor executor,
      Pick pick) {
    return new WaitingCall<>(
        channel,
        method,
        options,
        options,
        executor,
        true,
        true,
        "a ring",
        pick,
        () -> {
          final CompletableFuture<Metadata> ring =
              pick.backend().connect().handle((made, failure) -> new Metadata());
          later(ring, () -> ring.complete(new Metadata()), RING_TIMEOUT_NS);
          return ring;
        });
  }

  /**
   * Ends a wait after a time. Not by the future's own means: their thread stays, with the class
   * loader of the application that had the first.
   */
  private static void later(CompletableFuture<?> wait, Runnable end, long delayNs) {
    final Future<?> timeout = DefaultExecutor.schedule(end, delayNs);
    final CompletableFuture<?> unused =
        wait.whenComplete((value, failure) -> timeout.cancel(false));
  }

  /** A call that waits for its credentials. */
  static <ReqT, RespT> WaitingCall<ReqT, RespT> forCredentials(
      RingChannel channel,
      MethodDescriptor<ReqT, RespT> method,
      CallOptions options,
      Executor executor,
      ClientConnection ring,
      Pick pick) {
    final String authority =
        Objects.requireNonNullElse(options.getAuthority(), channel.authority());
    return new WaitingCall<>(
        channel,
        method,
        options,
        options.withCallCredentials(null),
        executor,
        true,
        false,
        "call credentials",
        pick,
        () -> Credentials.apply(method, options, executor, ring, authority));
  }

  @Override
  public void start(Listener<RespT> listener, Metadata headers) {
    final Status end;
    synchronized (this) {
      this.listener = listener;
      this.headers = headers;
      end = endBeforeStart;
    }
    if (end != null) {
      end(end);
      return;
    }
    final Deadline deadline = Deadlines.effective(options, context);
    if (deadline != null && deadline.isExpired()) {
      end(Deadlines.startedLate(deadline, options));
      return;
    }
    if (holds && !channel.enter(this)) {
      end(RingChannel.SHUTDOWN);
      return;
    }
    final CompletableFuture<Metadata> awaiting =
        awaited == null
            ? withoutHeaders(
                channel.awaitRing(pick, options.isWaitForReady()), picked -> pick = picked)
            : awaited.get();
    if (deadline != null) {
      later(
          awaiting,
          () -> awaiting.completeExceptionally(new TimeoutException()),
          deadline.timeRemaining(TimeUnit.NANOSECONDS));
    }
    synchronized (this) {
      waiting = awaiting;
    }
    context.addListener(contextListener, DirectExecutor.INSTANCE);
    if (real != null) { // cancelled meanwhile
      context.removeListener(contextListener);
      awaiting.cancel(false);
      channel.leave(this);
      return;
    }
    // Not the call's executor: a blocking stub's runs tasks only while the stub waits.
    final CompletableFuture<?> unused =
        awaiting.whenCompleteAsync(
            (added, failure) -> proceed(headers, added, failure), DefaultExecutor.RETRYING);
  }

  private void proceed(Metadata headers, Metadata added, Throwable failure) {
    if (failure == null) {
      headers.merge(added);
      context.run(() -> replay(headers));
      return;
    }
    final Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    end(
        cause instanceof TimeoutException
            ? Status.DEADLINE_EXCEEDED.withDescription(
                "deadline exceeded while waiting for " + what)
            : Status.fromThrowable(cause));
  }

  /** Turns this call into another one, if it has not become one before. */
  private boolean become(ClientCall<ReqT, RespT> call) {
    synchronized (this) {
      if (real != null) {
        return false;
      }
      real = call;
    }
    context.removeListener(contextListener); // the other one has its own
    return true;
  }

  private void replay(Metadata headers) {
    final RoutedCall<ReqT, RespT> call =
        new RoutedCall<>(channel, method, optionsAfter.withOption(Pick.PICK, pick), executor);
    if (!become(call)) {
      return;
    }
    if (holds) {
      call.admit();
    }
    if (once) {
      call.waitNoLonger();
    }
    try {
      call.start(listener, headers);
      for (List<Runnable> actions = takeAsked(); actions != null; actions = takeAsked()) {
        actions.forEach(Runnable::run);
      }
    } catch (RuntimeException | Error e) { // which nobody else would hear of
      replayed = true;
      call.cancel("Failed to repeat what was asked", e);
    } finally {
      channel.leave(this);
    }
  }

  /** Takes the queued operations; null when there are none, and from then on none are queued. */
  private synchronized List<Runnable> takeAsked() {
    if (asked.isEmpty()) {
      replayed = true;
      return null;
    }
    final List<Runnable> taken = asked;
    asked = new ArrayList<>();
    return taken;
  }

  /** Called on shutdownNow of the channel: ends the wait, without throwing. */
  void onShutdownNow() {
    try {
      end(Status.UNAVAILABLE.withDescription("Channel shutdownNow invoked"));
    } catch (RuntimeException | Error e) {
      System.getLogger(WaitingCall.class.getName())
          .log(
              System.Logger.Level.WARNING,
              "the executor rejected " + method.getFullMethodName(),
              e);
    }
  }

  private void end(Status status) {
    final CompletableFuture<Metadata> awaiting;
    synchronized (this) {
      if (listener == null) { // a cancel that overtakes the start
        endBeforeStart = status;
        return;
      }
      awaiting = waiting;
    }
    if (!become(new ClosedCall<>())) {
      return;
    }
    takeAsked();
    replayed = true;
    if (awaiting != null) {
      awaiting.cancel(false); // and with it the timer
    }
    try {
      ClientTracers.closed(options, headers, status);
    } finally {
      try {
        executor.execute(context.wrap(() -> listener.onClose(status, new Metadata())));
      } finally {
        channel.leave(this);
      }
    }
  }

  private void ask(Runnable action) {
    if (!replayed) {
      synchronized (this) {
        if (!replayed) {
          asked.add(action);
          return;
        }
      }
    }
    action.run();
  }

  @Override
  public void request(int numMessages) {
    ask(() -> real.request(numMessages));
  }

  @Override
  public void sendMessage(ReqT message) {
    ask(() -> real.sendMessage(message));
  }

  @Override
  public void halfClose() {
    ask(() -> real.halfClose());
  }

  @Override
  public boolean isReady() {
    return replayed && real.isReady(); // which says so when that changes
  }

  @Override
  public Attributes getAttributes() {
    final ClientCall<ReqT, RespT> call = real;
    return call == null ? Attributes.EMPTY : call.getAttributes();
  }

  @Override
  public void setMessageCompression(boolean enabled) {
    ask(() -> real.setMessageCompression(enabled));
  }

  @Override
  public void cancel(String message, Throwable cause) {
    end(Status.CANCELLED.withDescription(message).withCause(cause));
    ask(() -> real.cancel(message, cause)); // if it waits no longer
  }
}
