package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.fabric.Obstacle;
import dev.ringfetch.protocol.MessageType;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.session.handshake.ControlStream;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.ClientStreamTracer;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * The client's stream of the session service: opened over the gRPC channel, it lives as long as the
 * session. A stopped server sends no step, or accepts no connection, so both waits are limited
 * ({@link #STEP_TIMEOUT_NS}, {@link #CONNECT_TIMEOUT_NS}). Thread-safe.
 */
final class HandshakeStream
    implements ControlStream<OpenRequest>, ClientResponseObserver<OpenRequest, OpenResponse> {
  private static final long MAX_UNREACHABLE_NS = TimeUnit.SECONDS.toNanos(1);

  /** Longer than a server delays a client at most when too many come at once. */
  static final long STEP_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

  /** Longer than grpc-netty's own connect timeout for a single address. */
  static final long CONNECT_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);

  private static final long GIVE_UP_NS = TimeUnit.SECONDS.toNanos(1);

  private final Listener listener;
  private final long connectTimeoutNs;
  private final long stepTimeoutNs;
  // there is one wait at a time
  private final AtomicReference<Timeout> due = new AtomicReference<>();
  private final ConnectionLevel level = new ConnectionLevel();
  private final ClientStreamTracer.Factory end =
      new ClientStreamTracer.Factory() {
        @Override
        public ClientStreamTracer newClientStreamTracer(
            ClientStreamTracer.StreamInfo info, Metadata headers) {
          return new End();
        }
      };
  private boolean pulsing; // set before the start
  // the only source of the connection's addresses
  private ClientCall<OpenRequest, OpenResponse> call;
  private ClientCallStreamObserver<OpenRequest> requests;

  @GuardedBy("this")
  private boolean started;

  @GuardedBy("this")
  private boolean abandoned;

  @GuardedBy("this")
  private boolean closed;

  @GuardedBy("this")
  private long givenUpNs; // 0: not given up

  private volatile Supplier<String> late; // why this side has ended it, or null

  /**
   * Creates a stream that is not started yet.
   *
   * @param connectTimeoutNs longest wait for a connection, in nanoseconds.
   * @param stepTimeoutNs longest wait for a step of the server's.
   */
  HandshakeStream(Listener listener, long connectTimeoutNs, long stepTimeoutNs) {
    this.listener = listener;
    this.connectTimeoutNs = connectTimeoutNs;
    this.stepTimeoutNs = stepTimeoutNs;
  }

  /** Opens the stream, without a pulse. */
  void start(Channel channel) {
    start(channel, CallOptions.DEFAULT, 0);
  }

  /**
   * Opens the stream; tells the listener when the connection is established, or that there is none.
   *
   * @param options that say to which backend it goes.
   * @param pulseNs how often the server is asked to send something, in nanoseconds; 0: never.
   */
  void start(Channel channel, CallOptions options, long pulseNs) {
    final Metadata headers = new Metadata();
    if (pulseNs > 0) {
      pulsing = true;
      headers.put(Pulse.HEADER, Long.toString(TimeUnit.NANOSECONDS.toMillis(pulseNs)));
    }
    try {
      call =
          ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers))
              .newCall(
                  SessionService.OPEN,
                  options
                      .withExecutor(DefaultExecutor.RETRYING)
                      .withCallCredentials(level)
                      .withStreamTracerFactory(end)
                      .withMaxInboundMessageSize(
                          MessageType.MAX_LENGTH)); // the channel's limit is for calls
      final StreamObserver<OpenRequest> unused = ClientCalls.asyncBidiStreamingCall(call, this);
    } catch (RuntimeException | LinkageError e) {
      // Ringfetch's own failure, or that of an interceptor of the gRPC channel, which calls over
      // gRPC will meet, too: a missing ring fails no call.
      end("handshake: " + Obstacle.of(e), Backoff.MAX_NS);
      return;
    } catch (Error e) {
      end("handshake: " + e, Backoff.MAX_NS);
      throw e;
    }
    final boolean cancel;
    synchronized (this) {
      started = true;
      cancel = abandoned;
    }
    if (cancel) {
      requests.cancel(Backend.SHUTDOWN, null);
      return;
    }
    expect("no connection", connectTimeoutNs);
    // Which fabrics may be used depends on the connection.
    final CompletableFuture<Void> unused =
        level.future().thenRunAsync(this::onConnected, DefaultExecutor.RETRYING);
  }

  private void onConnected() {
    arrived();
    try {
      listener.onConnected();
    } catch (RuntimeException | Error e) { // nobody else is told
      requests.cancel(Obstacle.of(e), null);
    }
  }

  /** The connection's security, once {@link Listener#onConnected} was called. */
  ConnectionLevel level() {
    return level;
  }

  /** The connection's attributes, once it has answered. */
  Attributes attributes() {
    return call.getAttributes();
  }

  /**
   * This side's address on the connection, once {@link Listener#onConnected} was called; null when
   * the transport does not tell.
   */
  SocketAddress ownAddress() {
    final SocketAddress told = level.attributes().get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR);
    return told == null ? call.getAttributes().get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR) : told;
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<OpenRequest> stream) {
    requests = stream;
    stream.setOnReadyHandler(level::onReady);
  }

  /** Ends the stream without the server; {@link #onError} follows. */
  void abandon() {
    final boolean cancel;
    synchronized (this) {
      closed = true;
      abandoned = true;
      cancel = started; // otherwise the starting thread looks again
    }
    if (cancel) {
      requests.cancel(Backend.SHUTDOWN, null);
    }
  }

  /**
   * Makes room on the connection for another stream, by half-closing this one instead of cancelling
   * it: gRPC flushes a stream that waits for the end of a cancelled one only with the next write,
   * and there may be none. If the server has not answered a second later, the stream is cancelled.
   *
   * @param why called on the transport's thread when the stream ends, before another stream can
   *     take its place, and perhaps once more: returns the reason.
   */
  void giveUp(Supplier<String> why) {
    final boolean again;
    synchronized (this) {
      if (!started) { // the thread that starts it cancels it
        late = why;
        closed = true;
        abandoned = true;
        return;
      }
      again = givenUpNs != 0;
      if (!again) {
        givenUpNs = System.nanoTime() | 1;
      } else if (System.nanoTime() - givenUpNs < GIVE_UP_NS) {
        return;
      }
    }
    late = why;
    if (again) {
      abandon();
    } else {
      close();
    }
  }

  @Override
  public void send(OpenRequest request) {
    expect("no step of the server", stepTimeoutNs); // before it can be there
    synchronized (this) {
      if (!closed) {
        requests.onNext(request);
      }
    }
  }

  /** Starts a timeout, unless one is running. */
  private void expect(String what, long timeoutNs) {
    final Timeout timeout = new Timeout(what, timeoutNs);
    if (due.compareAndSet(null, timeout)) {
      timeout.begin();
    }
  }

  /** Ends the timeout: the awaited step has arrived. */
  private void arrived() {
    final Timeout timeout = due.getAndSet(null);
    if (timeout != null) {
      timeout.cancel();
    }
  }

  private void onTimeout(Timeout timeout) {
    if (!due.compareAndSet(timeout, null)) {
      return;
    }
    synchronized (this) { // closed before, it may have kept back what the server is to answer
      closed = true;
      if (late == null) {
        late = timeout::toString;
      }
    }
    // outside the lock: interceptors of the gRPC channel may do anything
    requests.cancel(late.get(), null);
  }

  @Override
  public synchronized void close() {
    arrived();
    if (!closed) {
      closed = true;
      requests.onCompleted();
    }
  }

  @Override
  public void exhausted(String reason) {
    close();
  }

  @Override
  public void expired(String reason) {
    close();
  }

  @Override
  public void onNext(OpenResponse response) {
    if (pulsing && !response.has(OpenResponse.ANSWER) && !response.has(OpenResponse.REFUSAL)) {
      return; // a beat: it was sent for the connection's sake
    }
    arrived();
    if (late == null) { // it may have been on its way here when its time was over
      listener.onResponse(response);
    }
  }

  @Override
  public void onError(Throwable t) {
    final Status status = Status.fromThrowable(t);
    final Throwable cause = status.getCause();
    final String text =
        "handshake: "
            + status.getCode()
            + ": "
            + status.getDescription()
            + (cause == null ? "" : ": " + cause.getMessage());
    switch (status.getCode()) {
      case UNIMPLEMENTED -> end("the server has no Ringfetch", ReconnectPolicy.UNTIL_CONNECTED_NS);
      case UNAVAILABLE -> end(text, MAX_UNREACHABLE_NS); // gRPC's channel has its own backoff
      default -> end(text, Backoff.MAX_NS);
    }
  }

  @Override
  public void onCompleted() {
    close();
    end("the server has ended the session", Backoff.MAX_NS);
  }

  private void end(String reason, long maxBackoffNs) {
    synchronized (this) {
      closed = true;
    }
    arrived();
    final Supplier<String> why = late;
    listener.onEnd(why == null ? reason : "handshake: " + why.get(), maxBackoffNs);
  }

  /** Tracer that settles the reason of a stream that this side has ended. */
  private final class End extends ClientStreamTracer {
    @Override
    public void streamClosed(Status status) {
      final Supplier<String> why = late;
      if (why != null) {
        final String settled = why.get();
        late = () -> settled;
      }
    }
  }

  /** The timeout of one wait. */
  private final class Timeout {
    private final String what;
    private final long ns;
    private volatile Future<?> future; // null for a moment

    Timeout(String what, long ns) {
      this.what = what;
      this.ns = ns;
    }

    void begin() {
      future = DefaultExecutor.schedule(() -> onTimeout(this), ns);
    }

    /** Cancels on best effort; a timeout that fires all the same finds no wait. */
    void cancel() {
      final Future<?> begun = future;
      if (begun != null) {
        begun.cancel(false);
      }
    }

    @Override
    public String toString() {
      return what + " in time: timeoutNs=" + ns;
    }
  }

  /** Listener for the events of the stream. */
  interface Listener {
    /** Called when the connection is known: the handshake may begin. */
    void onConnected();

    /** Called for each step of the server. */
    void onResponse(OpenResponse response);

    /**
     * Called once, when either side has ended the stream.
     *
     * @param maxBackoffNs longest pause before the next one, in nanoseconds.
     */
    void onEnd(String reason, long maxBackoffNs);
  }
}
