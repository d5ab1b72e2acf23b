package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.call.CallAcceptor;
import dev.ringfetch.call.Peer;
import dev.ringfetch.call.ServerCallContext;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.flight.FlightEvents;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.handshake.ControlStream;
import dev.ringfetch.session.handshake.HandshakeContext;
import dev.ringfetch.session.handshake.PolledFabric;
import dev.ringfetch.session.handshake.ServerHandshake;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.InternalServer;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** The session service of a server: opens sessions over gRPC and keeps track of the open ones. */
final class SessionEndpoint {
  private static final Context.Key<Peer> PEER = Context.key("ringfetch-peer");
  private static final Context.Key<String> PULSE = Context.key("ringfetch-pulse");

  private final ServerCallContext calls;
  private final List<String> methodNames = new ArrayList<>();
  private final SessionContext context;
  private final PlaintextFabrics plaintext;
  private final int maxSessions;
  private final Set<ServerSession> sessions = ConcurrentHashMap.newKeySet();
  private final AtomicInteger sessionCount = new AtomicInteger();
  private final Admission admission;
  private final LongAdder sessionsOpened = new LongAdder();
  private final LongAdder sessionsRefused = new LongAdder();

  @GuardedBy("sessions")
  private long endedCalls; // of sessions that have ended

  private volatile ConnectionRules rules = ConnectionRules.NONE;
  private volatile HandshakeContext handshakes;
  private volatile Context callContext = Context.ROOT;
  private volatile boolean draining;
  private volatile String abortReason;

  SessionEndpoint(
      ServerCallContext calls,
      SessionContext context,
      PlaintextFabrics plaintext,
      int maxSessions) {
    this.calls = calls;
    for (final ServerMethodDefinition<?, ?> method : calls.methods()) {
      methodNames.add(method.getMethodDescriptor().getFullMethodName());
    }
    this.context = context;
    this.handshakes = new HandshakeContext(List.of(), methodNames, context, SessionEndpoint::later);
    this.plaintext = plaintext;
    this.maxSessions = maxSessions;
    this.admission = new Admission(context.clock());
  }

  /** Returns this service, with the interceptor that tells it the client's connection. */
  ServerServiceDefinition definition() {
    final ServerMethodDefinition<OpenRequest, OpenResponse> open =
        MalformedRequests.refusedBy(
            ServerMethodDefinition.create(
                SessionService.OPEN, ServerCalls.asyncBidiStreamingCall(this::open)),
            new OpenRequest());
    return ServerInterceptors.intercept(
        ServerServiceDefinition.builder(SessionService.NAME).addMethod(open).build(),
        new ServerInterceptor() {
          @Override
          public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
              ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
            final Peer peer =
                new Peer(
                    call.getAttributes(), call.getAuthority(), call.getSecurityLevel(), headers);
            return Contexts.interceptCall(
                Context.current().withValues(PEER, peer, PULSE, headers.get(Pulse.HEADER)),
                call,
                headers,
                next);
          }
        });
  }

  /**
   * Runs a task after a time, in a thread that it may keep. The runnable that is returned cancels
   * it.
   */
  static Runnable later(Runnable task, long delayNs) {
    final Future<?> due = DefaultExecutor.schedule(task, delayNs);
    return () -> due.cancel(false);
  }

  /** Keeps sessions no longer than these rules allow. */
  void rules(ConnectionRules rules) {
    this.rules = rules;
  }

  /** Serves these fabrics from now on. */
  void start(Server server, List<PolledFabric> fabrics) {
    this.callContext = Context.ROOT.withValue(InternalServer.SERVER_CONTEXT_KEY, server);
    this.handshakes = new HandshakeContext(fabrics, methodNames, context, SessionEndpoint::later);
  }

  /** Asks the clients to leave, and takes no new ones. */
  void drain() {
    draining = true;
    sessions.forEach(ServerSession::drain);
  }

  /** Cancels all calls and ends the sessions. */
  void abort(String reason) {
    draining = true;
    abortReason = reason;
    sessions.forEach(session -> session.abort(reason));
  }

  /** True when no session is open: every call on a ring has ended. */
  boolean isIdle() {
    return sessions.isEmpty();
  }

  /** Waits until no session is open. False when the time is over before. */
  boolean awaitIdle(long timeoutNs) throws InterruptedException {
    final long start = System.nanoTime();
    synchronized (sessions) {
      while (!sessions.isEmpty()) {
        final long remainingNs = timeoutNs - (System.nanoTime() - start);
        if (remainingNs <= 0) {
          return false;
        }
        TimeUnit.NANOSECONDS.timedWait(sessions, remainingNs);
      }
    }
    return true;
  }

  /** Returns the value of a counter of this server, without calls over gRPC. */
  long count(Counter counter) {
    return switch (counter) {
      case SERVER_CALLS_RING -> ringCalls();
      case SERVER_SESSIONS_OPEN -> sessions.size();
      case SERVER_SESSIONS_OPENED -> sessionsOpened.sum();
      case SERVER_SESSIONS_REFUSED -> sessionsRefused.sum();
      default -> throw new IllegalArgumentException("counter=" + counter);
    };
  }

  private long ringCalls() {
    synchronized (sessions) { // in which one ends
      long calls = endedCalls;
      for (final ServerSession session : sessions) {
        calls += session.count(Counter.SESSION_CALLS);
      }
      return calls;
    }
  }

  /** Sessions that are open or on offer. */
  int sessionCount() {
    return sessionCount.get();
  }

  private StreamObserver<OpenRequest> open(StreamObserver<OpenResponse> responses) {
    final Opening opening = new Opening((ServerCallStreamObserver<OpenResponse>) responses);
    opening.begin(PEER.get());
    return opening;
  }

  /** One client's stream: connects gRPC's call with the server side of the handshake. */
  private final class Opening
      implements StreamObserver<OpenRequest>,
          ControlStream<OpenResponse>,
          ServerHandshake.Listener {
    private final ServerCallStreamObserver<OpenResponse> responses;
    private final Pulse pulse; // null where the client has asked for none
    private ServerHandshake handshake;
    private ConnectionRules.Watch watch; // null before there is a session
    private Peer peer;
    private Object host;
    private String fabric; // of the session that is on offer
    private Future<?> turn; // of a client that has to wait for it
    private boolean ended;
    private boolean silent; // has not said hello
    private boolean tenant; // of the connection, which has not terminated before the session

    Opening(ServerCallStreamObserver<OpenResponse> responses) {
      this.responses = responses;
      this.pulse = Pulse.of(PULSE.get(), this::beat);
    }

    /** Sends a beat. False when the stream has ended. */
    private synchronized boolean beat() {
      if (!ended && responses.isReady()) { // otherwise the client does not read
        responses.onNext(new OpenResponse());
      }
      return !ended;
    }

    /** Called when the stream has ended, or is about to. */
    private synchronized void onStreamEnd() {
      ended = true;
      if (pulse != null) {
        pulse.stop();
      }
    }

    void begin(Peer opener) {
      peer = opener;
      host = Admission.hostOf(opener.attributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
      handshake = new ServerHandshake(handshakes, this::acceptor, this, this);
      responses.setOnCancelHandler(this::cancelled);
      silent = admission.onStream(host);
      if (silent) {
        try {
          handshake.onOpened();
        } catch (RuntimeException | Error e) {
          spoken(); // or the host would be charged for ever
          throw e;
        }
      } else {
        sessionsRefused.increment();
        exhausted("too many streams of this host have said no hello");
        handshake.onClosed();
      }
    }

    /**
     * Creates the acceptor of a session's calls, with the identity of the connection that opens it.
     */
    private CallAcceptor acceptor(String offered) {
      fabric = offered;
      return new CallAcceptor(
          calls,
          callContext,
          peer.on(
              peer.attributes().toBuilder().set(Transport.TRANSPORT_ATTR_FABRIC, fabric).build(),
              PlaintextFabrics.level(fabric, peer.securityLevel())));
    }

    @Override
    public String obstacle(String fabric) {
      return plaintext.obstacle(fabric, peer.securityLevel());
    }

    @Override
    public String between(byte[] clientAddress) {
      return Endpoints.between(
          clientAddress, peer.attributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
    }

    private void spoken() {
      synchronized (this) {
        if (!silent) {
          return;
        }
        silent = false;
      }
      admission.onSpoken(host);
    }

    private void cancelled() {
      spoken();
      synchronized (this) {
        onStreamEnd();
        if (turn != null) {
          turn.cancel(false);
        }
      }
      handshake.onClosed();
    }

    @Override
    public void onNext(OpenRequest request) {
      spoken();
      handshake.onRequest(request);
    }

    @Override
    public void onError(Throwable t) {
      cancelled();
    }

    @Override
    public void onCompleted() {
      spoken();
      handshake.onClosed();
    }

    @Override
    public synchronized void send(OpenResponse step) {
      if (!ended) {
        responses.onNext(step);
      }
    }

    @Override
    public synchronized void close() {
      if (!ended) {
        onStreamEnd();
        responses.onCompleted();
      }
    }

    @Override
    public void exhausted(String reason) {
      fail(
          draining // even where there is no room: the client looks for another server
              ? Status.UNAVAILABLE.withDescription("the server is shutting down")
              : Status.RESOURCE_EXHAUSTED.withDescription(reason));
    }

    @Override
    public void expired(String reason) {
      fail(Status.DEADLINE_EXCEEDED.withDescription(reason));
    }

    @Override
    public void onAbandoned() {
      spoken();
      admission.onAbandoned(host);
    }

    private synchronized void fail(Status status) {
      if (!ended) {
        onStreamEnd();
        responses.onError(status.asRuntimeException());
      }
    }

    @Override
    public void onHello(Runnable answer) {
      synchronized (this) {
        if (ended) {
          return; // it takes no turn
        }
      }
      final long delayNs = admission.delayNs(host);
      if (delayNs == Admission.REFUSED) {
        sessionsRefused.increment();
        exhausted("too many sessions are opened from this host");
      } else if (delayNs == 0) {
        answer.run();
      } else { // it makes files, for which the timer has no time
        synchronized (this) {
          if (!ended) {
            turn = DefaultExecutor.schedule(() -> answerLate(answer), delayNs);
          }
        }
      }
    }

    private void answerLate(Runnable answer) {
      try {
        answer.run();
      } catch (RuntimeException | Error e) { // as gRPC does where the answer is given at once
        fail(Status.UNKNOWN.withCause(e));
        throw e;
      }
    }

    @Override
    public boolean onOpening() {
      if (draining) {
        return false;
      }
      if (sessionCount.incrementAndGet() > maxSessions) {
        sessionCount.decrementAndGet();
        sessionsRefused.increment();
        return false;
      }
      return true;
    }

    @Override
    public void onNotOpened() {
      sessionCount.decrementAndGet();
    }

    @Override
    public void onSession(ServerSession session) {
      final TransportFilters.Tenancy tenancy = TransportFilters.tenancy(peer.attributes());
      tenant = tenancy != null && tenancy.enter();
      watch = rules.watch(session); // first: shutdownNow ends whatever is in the set
      sessions.add(session);
      sessionsOpened.increment();
      if (pulse != null) {
        pulse.start();
      }
      final String aborted = abortReason;
      if (tenancy != null && !tenant) { // its filters know it no longer
        session.abort("the connection has ended");
      } else if (aborted != null) { // between the offer and the client's arrival
        session.abort(aborted);
      } else if (draining) {
        session.drain();
      }
      FlightEvents.opened(FlightEvents.Side.SERVER, client(), fabric);
    }

    private Object client() {
      return peer.attributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    }

    @Override
    public void onEnded(ServerSession session, String reason) {
      final Attributes attributes = peer.attributes();
      if (tenant && TransportFilters.tenancy(attributes).leave()) { // what runs then is the user's
        DefaultExecutor.RETRYING.execute(
            () -> {
              try {
                TransportFilters.tenancy(attributes).terminate(attributes);
              } finally {
                forget(session);
              }
            });
      } else {
        forget(session);
      }
      FlightEvents.ended(
          FlightEvents.Side.SERVER, client(), reason, session.count(Counter.SESSION_CALLS));
    }

    private void forget(ServerSession session) {
      if (watch != null) { // there was memory for it
        watch.stop();
      }
      synchronized (sessions) {
        if (sessions.remove(session)) {
          endedCalls += session.count(Counter.SESSION_CALLS);
        }
        sessions.notifyAll();
      }
      sessionCount.decrementAndGet();
      admission.onEnded(host, session.isPeerAtFault(), session.unanswered());
    }
  }
}
