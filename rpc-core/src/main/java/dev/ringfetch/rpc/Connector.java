package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.session.ClientHandshake;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.ControlStream;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.v1.OpenRequest;
import dev.ringfetch.v1.OpenResponse;
import dev.ringfetch.v1.SessionServiceGrpc;
import io.grpc.Attributes;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.StreamObserver;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Keeps a channel's ring: opens a session when a call wants one, and again, with backoff, after it
 * was lost or refused. Nothing happens without a call: an idle channel has no timer. Thread-safe.
 */
final class Connector {
  private static final long MIN_BACKOFF_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long MAX_BACKOFF_NS = TimeUnit.SECONDS.toNanos(30);
  private static final long STABLE_NS = TimeUnit.SECONDS.toNanos(10);

  private final Channel control;
  private final SharedFabrics shared;
  private final SessionContext context;
  private final String target;

  private volatile ClientConnection connection;

  // Below: guarded by this.
  private CompletableFuture<ClientConnection> attempt;
  private final Set<ClientSession> sessions = new HashSet<>(); // the newest, and those that drain
  private String obstacle = "no call has asked for a ring yet";
  private String logged;
  private long retryAtNs = System.nanoTime();
  private long backoffNs = MIN_BACKOFF_NS;
  private long openedNs;
  private boolean shutdown;
  private Runnable onTerminated;

  /**
   * Creates the connector; nothing is opened yet.
   *
   * @param control channel over which sessions are opened.
   */
  Connector(Channel control, SharedFabrics shared, SessionContext context, String target) {
    this.control = control;
    this.shared = shared;
    this.context = context;
    this.target = target;
  }

  /**
   * The ring for a new call, or null: then one is being opened, unless it is too early for that.
   */
  ClientConnection current() {
    final ClientConnection open = connection;
    if (open != null && open.isOpen()) {
      return open;
    }
    final Attempt begun = begin();
    if (begun != null) {
      begun.start();
    }
    return null;
  }

  /** As {@link #current}, for a call that will have a ring or nothing. */
  CompletableFuture<ClientConnection> connect() {
    final Attempt begun = begin();
    if (begun != null) {
      begun.start();
      return begun.future;
    }
    synchronized (this) {
      if (connection != null && connection.isOpen()) {
        return CompletableFuture.completedFuture(connection);
      }
      return attempt != null ? attempt : failed(shutdown ? "Channel shutdown invoked" : obstacle);
    }
  }

  /** A new attempt, which the caller starts, or null when it is not the time for one. */
  private synchronized Attempt begin() {
    if ((connection != null && connection.isOpen())
        || attempt != null
        || shutdown
        || retryAtNs - System.nanoTime() > 0) {
      return null;
    }
    if (shared.fabrics().opened().isEmpty()) {
      refused(shared.fabrics().obstacles());
      return null;
    }
    attempt = new CompletableFuture<>();
    return new Attempt(attempt);
  }

  private static CompletableFuture<ClientConnection> failed(String reason) {
    return CompletableFuture.failedFuture(
        Status.UNAVAILABLE.withDescription("no ring: " + reason).asRuntimeException());
  }

  /** What serves the next call. */
  Transport transport() {
    final ClientConnection open = connection;
    if (open != null && open.isOpen()) {
      return new Transport(open.fabric(), open.session().describe());
    }
    synchronized (this) {
      return new Transport(Transport.GRPC, obstacle);
    }
  }

  /** Lets the next call try at once. */
  synchronized void resetBackoff() {
    retryAtNs = System.nanoTime();
    backoffNs = MIN_BACKOFF_NS;
  }

  /** Ends the session when its calls have ended, and opens none any more. */
  void shutdown(Runnable onTerminated) {
    final List<ClientSession> draining;
    synchronized (this) {
      shutdown = true;
      this.onTerminated = onTerminated;
      draining = List.copyOf(sessions);
    }
    draining.forEach(ClientSession::drain);
    terminateIfIdle();
  }

  /** Ends the session, with its calls. */
  void shutdownNow() {
    final List<ClientSession> ending;
    synchronized (this) {
      ending = List.copyOf(sessions);
    }
    ending.forEach(session -> session.end("Channel shutdownNow invoked"));
  }

  private void terminateIfIdle() {
    final Runnable terminated;
    synchronized (this) {
      if (!shutdown || !sessions.isEmpty() || attempt != null || onTerminated == null) {
        return;
      }
      terminated = onTerminated;
      onTerminated = null;
    }
    terminated.run();
  }

  /** Guarded by this. */
  private void refused(String reason) {
    obstacle = reason;
    retryAtNs =
        System.nanoTime() + backoffNs + ThreadLocalRandom.current().nextLong(backoffNs / 4 + 1);
    backoffNs = Math.min(2 * backoffNs, MAX_BACKOFF_NS);
    log(reason);
  }

  /** Guarded by this. A reason is logged once, until another one comes. */
  private void log(String reason) {
    if (!reason.equals(logged) && !shutdown) {
      logged = reason;
      System.getLogger(RingChannel.class.getName())
          .log(
              System.Logger.Level.INFO,
              "calls to {0} go over gRPC, there is no ring: {1}",
              target,
              reason);
    }
  }

  /** One handshake: adapts the stream of the session service to the session's terms. */
  private final class Attempt
      implements ClientHandshake.Listener,
          ControlStream<OpenRequest>,
          ClientResponseObserver<OpenRequest, OpenResponse> {
    final CompletableFuture<ClientConnection> future;

    private final ClientHandshake handshake =
        new ClientHandshake(shared.fabrics().opened(), context, this, this);
    private StreamObserver<OpenRequest> requests;
    private boolean closed;
    private ClientSession opened;

    Attempt(CompletableFuture<ClientConnection> future) {
      this.future = future;
    }

    void start() {
      requests =
          SessionServiceGrpc.newStub(control).withExecutor(DefaultExecutor.INSTANCE).open(this);
      handshake.start();
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<OpenRequest> stream) {
      requests = stream;
    }

    @Override
    public synchronized void send(OpenRequest step) {
      if (!closed) {
        requests.onNext(step);
      }
    }

    @Override
    public synchronized void close() {
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
      handshake.onResponse(response);
    }

    @Override
    public void onError(Throwable t) {
      final Status status = Status.fromThrowable(t);
      lost(
          status.getCode() == Status.Code.UNIMPLEMENTED
              ? "the server has no Ringfetch"
              : "handshake: " + status.getCode() + ": " + status.getDescription());
    }

    @Override
    public void onCompleted() {
      close();
      lost("the server has ended the session");
    }

    /** The control stream has ended. A session that is open finishes the calls that it has. */
    private void lost(String reason) {
      synchronized (this) {
        closed = true;
      }
      final ClientSession draining;
      synchronized (Connector.this) {
        draining = opened;
      }
      if (draining == null) {
        onRefused(reason);
      } else {
        draining.drain();
      }
    }

    @Override
    public void onSession(ClientSession session, String fabric, List<String> methods) {
      final ClientConnection made =
          new ClientConnection(session, fabric, methods, Attributes.EMPTY);
      final boolean unwanted;
      synchronized (Connector.this) {
        attempt = null;
        opened = session;
        openedNs = System.nanoTime();
        unwanted = shutdown;
        if (!session.hasEnded()) {
          sessions.add(session);
          connection = made;
          logged = null;
        }
      }
      future.complete(made);
      if (unwanted) {
        session.drain();
      }
    }

    @Override
    public void onRefused(String reason) {
      synchronized (Connector.this) {
        if (attempt != future) {
          return;
        }
        attempt = null;
        refused(reason);
      }
      future.completeExceptionally(
          Status.UNAVAILABLE.withDescription("no ring: " + reason).asRuntimeException());
      terminateIfIdle();
    }

    @Override
    public void onEnded(ClientSession session, String reason) {
      synchronized (Connector.this) {
        opened = session;
        sessions.remove(session);
        if (connection != null && connection.session() == session) {
          connection = null;
          if (System.nanoTime() - openedNs > STABLE_NS) {
            backoffNs = MIN_BACKOFF_NS;
          }
          refused(reason);
        }
      }
      close();
      terminateIfIdle();
    }
  }
}
