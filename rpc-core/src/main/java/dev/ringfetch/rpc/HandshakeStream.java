package dev.ringfetch.rpc;

import dev.ringfetch.session.ControlStream;
import dev.ringfetch.session.DeadlineTimer;
import dev.ringfetch.v1.OpenRequest;
import dev.ringfetch.v1.OpenResponse;
import dev.ringfetch.v1.SessionServiceGrpc;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The client's stream of the session service, in a session's terms: opened over the channel
 * beneath, and as long-lived as the session. A server that is there and takes no step, as one that
 * was stopped, is waited for no longer than {@link #STEP_TIMEOUT_NS}. Thread-safe.
 */
final class HandshakeStream
    implements ControlStream<OpenRequest>,
        ClientInterceptor,
        ClientResponseObserver<OpenRequest, OpenResponse> {
  private static final long MAX_UNREACHABLE_NS = TimeUnit.SECONDS.toNanos(1);

  /** More than the delay of a server to which too many come at once. */
  static final long STEP_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

  private static final int MAX_HANDSHAKE_LENGTH = 4 * 1024 * 1024;

  private final Listener listener;
  private final long stepTimeoutNs;
  private final ConnectionLevel level = new ConnectionLevel();
  private ClientCall<?, ?> call;
  private ClientCallStreamObserver<OpenRequest> requests;

  // Guarded by this.
  private boolean started;
  private boolean abandoned;
  private boolean closed;
  private int asked; // for a step of the server
  private Future<?> timeout; // of that step; null: none is due
  private boolean timedOut;

  HandshakeStream(Listener listener, long stepTimeoutNs) {
    this.listener = listener;
    this.stepTimeoutNs = stepTimeoutNs;
  }

  /** Opens the stream; the listener is told when its connection stands, or that there is none. */
  void start(Channel channel) {
    try {
      SessionServiceGrpc.newStub(channel)
          .withExecutor(DefaultExecutor.INSTANCE)
          .withInterceptors(this)
          .withCallCredentials(level)
          .withMaxInboundMessageSize(MAX_HANDSHAKE_LENGTH) // the channel's is for its calls
          .open(this);
    } catch (RuntimeException e) { // of an interceptor beneath; a missing ring fails no call
      end("handshake: " + e, Backoff.MAX_NS);
      return;
    } catch (Error e) {
      end("handshake: " + e, Backoff.MAX_NS);
      throw e;
    }
    synchronized (this) {
      started = true;
      if (abandoned) {
        requests.cancel(Connector.SHUTDOWN, null);
        return;
      }
    }
    // Which fabrics may be used depends on the connection.
    final CompletableFuture<Void> unused =
        level.future().thenRunAsync(listener::onConnected, DefaultExecutor.INSTANCE);
  }

  /** The connection's security, once {@link Listener#onConnected} was called. */
  ConnectionLevel level() {
    return level;
  }

  /** The connection's attributes, once it has answered. */
  Attributes attributes() {
    return call.getAttributes();
  }

  /** Keeps the call: of all there is, only it knows the addresses of the connection. */
  @Override
  public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
      MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
    final ClientCall<ReqT, RespT> made = next.newCall(method, options);
    call = made;
    return made;
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<OpenRequest> stream) {
    requests = stream;
    stream.setOnReadyHandler(level::onReady);
  }

  /** Ends the stream without the server; {@link #onError} follows. */
  synchronized void abandon() {
    closed = true;
    abandoned = true;
    if (started) {
      requests.cancel(Connector.SHUTDOWN, null);
    }
  }

  @Override
  public synchronized void send(OpenRequest request) {
    if (!closed) {
      requests.onNext(request);
      if (timeout == null) {
        final int step = ++asked;
        timeout =
            DeadlineTimer.schedule(
                () -> DefaultExecutor.INSTANCE.execute(() -> onTimeout(step)), stepTimeoutNs);
      }
    }
  }

  private synchronized void onTimeout(int step) {
    if (timeout != null && step == asked) {
      timedOut = true;
      closed = true;
      requests.cancel("the server takes no step", null);
    }
  }

  private synchronized void stopTimeout() {
    if (timeout != null) {
      timeout.cancel(false);
      timeout = null;
    }
  }

  @Override
  public synchronized void close() {
    stopTimeout();
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
  public void onNext(OpenResponse response) {
    stopTimeout();
    listener.onResponse(response);
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
      case UNIMPLEMENTED -> end("the server has no Ringfetch", Backoff.MAX_NS);
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
    final boolean late;
    synchronized (this) {
      closed = true;
      late = timedOut;
      stopTimeout();
    }
    listener.onEnd(
        late ? "handshake: no step of the server in time: timeoutNs=" + stepTimeoutNs : reason,
        maxBackoffNs);
  }

  /** Told what comes of the stream. */
  interface Listener {
    /** The connection is known: the handshake may begin. */
    void onConnected();

    /** The server has taken a step. */
    void onResponse(OpenResponse response);

    /**
     * The stream has ended, by whomever. Called once.
     *
     * @param maxBackoffNs longest pause before the next one, in nanoseconds.
     */
    void onEnd(String reason, long maxBackoffNs);
  }
}
