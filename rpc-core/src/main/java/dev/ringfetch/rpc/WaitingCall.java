package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.ClientTracers;
import dev.ringfetch.call.Deadlines;
import dev.ringfetch.call.DirectExecutor;
import dev.ringfetch.rpc.RoutedCall.Entry;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * A call that waits before it can start: for a ring, or for its credentials. When the wait is over,
 * it starts as another {@link RoutedCall}. It ends at its deadline, when it or its context is
 * cancelled, or when the wait fails.
 */
final class WaitingCall<ReqT, RespT> extends DelayedCall<ReqT, RespT> {
  /** The thing that a call waits for. */
  enum Subject {
    /** A ring, and a backend where the pick has none, because the channel requires a ring. */
    RING("a ring", Entry.NEW),

    /** The ring that is being opened; without one the call goes over gRPC. */
    RING_OR_GRPC("a ring", Entry.WAITED),

    /** The headers of the call's credentials. */
    CREDENTIALS("call credentials", Entry.ADMITTED);

    private final String text;
    private final Entry entry; // of the call that starts afterwards

    Subject(String text, Entry entry) {
      this.text = text;
      this.entry = entry;
    }

    /** True if the channel keeps its transports for the call, also when it is shut down. */
    private boolean holds() {
      return entry != Entry.NEW;
    }
  }

  /** How long a call that can do without a ring waits for one. */
  private static final long RING_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(1);

  private final RoutedCall<ReqT, RespT> route;
  private final Subject subject;
  private final ClientConnection ring; // null: there is none yet
  private final RingChannel channel;
  private final Context context = Context.current();
  private final Context.CancellationListener contextListener =
      cancelled -> close(Contexts.statusFromCancelled(cancelled));

  private volatile Pick pick; // of the call that starts afterwards

  // set once, under this monitor, before the wait begins
  private Listener<RespT> listener;
  private Metadata headers;

  @GuardedBy("this")
  private Status endBeforeStart;

  @GuardedBy("this")
  private CompletableFuture<Metadata> waiting;

  /**
   * Creates a call.
   *
   * @param route the call in whose place this one waits.
   * @param ring of the credentials; otherwise null.
   */
  WaitingCall(RoutedCall<ReqT, RespT> route, Pick pick, Subject subject, ClientConnection ring) {
    super(State.WAITING);
    this.route = route;
    this.channel = route.channel();
    this.pick = pick;
    this.subject = subject;
    this.ring = ring;
  }

  /** Begins the wait; returns the headers that are to be added when it is over. */
  private CompletableFuture<Metadata> await() {
    return switch (subject) {
      case RING ->
          withoutHeaders(
              channel.awaitRing(pick, route.options().isWaitForReady()), picked -> pick = picked);
      case RING_OR_GRPC -> {
        final CompletableFuture<Metadata> opened =
            pick.backend().sessions().connect().handle((made, failure) -> new Metadata());
        later(opened, () -> opened.complete(new Metadata()), RING_TIMEOUT_NS);
        yield opened;
      }
      case CREDENTIALS ->
          Credentials.apply(
              route.method(),
              route.options(),
              route.executor(),
              ring,
              Objects.requireNonNullElse(route.options().getAuthority(), channel.authority()));
    };
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

  /**
   * Ends a wait after a time. Not by the future's own means: their thread stays, with the class
   * loader of the application that had the first.
   */
  private static void later(CompletableFuture<?> wait, Runnable end, long delayNs) {
    final Future<?> timeout = DefaultExecutor.schedule(end, delayNs);
    final CompletableFuture<?> unused =
        wait.whenComplete((value, failure) -> timeout.cancel(false));
  }

  @Override
  public void start(Listener<RespT> listener, Metadata headers) {
    final Status end;
    synchronized (this) {
      this.listener = listener;
      this.headers = headers;
      end = endBeforeStart;
    }
    final Deadline deadline = Deadlines.effective(route.options(), context);
    if (end != null) {
      close(end);
    } else if (deadline != null && deadline.isExpired()) {
      close(Deadlines.startedLate(deadline, route.options()));
    } else if (subject.holds() && !channel.life().enter(this)) {
      close(RingChannel.SHUTDOWN);
    } else {
      await(deadline);
    }
  }

  private void await(Deadline deadline) {
    final CompletableFuture<Metadata> awaiting = await();
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
    if (!isWaiting()) { // cancelled meanwhile
      context.removeListener(contextListener);
      awaiting.cancel(false);
      channel.life().leave(this);
      return;
    }
    // Not the call's executor: a blocking stub's runs tasks only while the stub waits.
    final CompletableFuture<?> unused =
        awaiting.whenCompleteAsync(this::proceed, DefaultExecutor.RETRYING);
  }

  private void proceed(Metadata added, Throwable failure) {
    if (failure == null) {
      context.run(() -> startRouted(added));
      return;
    }
    final Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    close(
        cause instanceof TimeoutException
            ? Status.DEADLINE_EXCEEDED.withDescription(
                "deadline exceeded while waiting for " + subject.text)
            : Status.fromThrowable(cause));
  }

  private void startRouted(Metadata added) {
    final RoutedCall<ReqT, RespT> call = route.again(subject.entry, pick);
    final DelayedListener<RespT> delayed = new DelayedListener<>(listener);
    if (!begin()) {
      return;
    }
    context.removeListener(contextListener); // the other call has its own
    try {
      startRouted(call, delayed, added);
    } finally {
      channel.life().leave(this);
    }
  }

  private void startRouted(
      RoutedCall<ReqT, RespT> call, DelayedListener<RespT> delayed, Metadata added) {
    try {
      headers.merge(added);
      call.start(delayed, headers);
    } catch (RuntimeException | Error e) { // the call may tell nobody, and its events are held
      end();
      tellClosed(Status.fromThrowable(e));
      call.cancel("Failed to start the call", e);
      return;
    }
    become(call, started -> {});
    delayed.release(call, route.executor(), context);
  }

  /** Called on shutdownNow of the channel: ends the wait, without throwing. */
  void onShutdownNow() {
    try {
      close(Status.UNAVAILABLE.withDescription(RingChannel.SHUTDOWN_NOW));
    } catch (RuntimeException | Error e) {
      System.getLogger(WaitingCall.class.getName())
          .log(
              System.Logger.Level.WARNING,
              "the executor rejected " + route.method().getFullMethodName(),
              e);
    }
  }

  /** Ends the call. False if its wait is over. */
  private boolean close(Status status) {
    final CompletableFuture<Metadata> awaiting;
    synchronized (this) {
      if (listener == null) { // a cancel that overtakes the start
        endBeforeStart = status;
        return true;
      }
      awaiting = waiting;
    }
    if (!begin()) {
      return false;
    }
    end();
    context.removeListener(contextListener);
    if (awaiting != null) {
      awaiting.cancel(false); // and with it the timer
    }
    try {
      ClientTracers.closed(route.options(), headers, status);
    } finally {
      try {
        tellClosed(status);
      } finally {
        channel.life().leave(this);
      }
    }
    return true;
  }

  private void tellClosed(Status status) {
    route.executor().execute(context.wrap(() -> listener.onClose(status, new Metadata())));
  }

  @Override
  public void cancel(String message, Throwable cause) {
    if (!close(Status.CANCELLED.withDescription(message).withCause(cause))) {
      super.cancel(message, cause);
    }
  }
}
