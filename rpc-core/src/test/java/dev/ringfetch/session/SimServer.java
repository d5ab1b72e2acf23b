package dev.ringfetch.session;

import dev.ringfetch.fabric.sim.Timeline;
import dev.ringfetch.session.handshake.HandshakeSteps;
import dev.ringfetch.session.handshake.ServerHandshake;
import dev.ringfetch.session.unit.Unit;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** The server of a simulation: takes sessions, and has threads that answer some time. */
final class SimServer extends SimProcess {
  private static final int HANDLERS = 2;
  private static final int MOMENT_NS = 30_000;

  /** Open sessions by control stream. */
  final TreeMap<Long, ServerSession> sessions = new TreeMap<>();

  final List<SimControl> controls = new ArrayList<>();
  final List<Request> requests = new ArrayList<>();
  private long drainingUntilNs;
  private long abortingUntilNs;
  private long restUntilNs;

  SimServer(Simulation simulation) {
    super(simulation);
    simulation.add(new PollerThread("server poller"));
    for (int i = 0; i < HANDLERS; i++) {
      simulation.add(new Handler());
      simulation.add(new StreamThread("server streams"));
    }
  }

  /** The other end of a client's session that takes calls, or will, or null. */
  ServerSession sessionOf(SimClient client) {
    return sessions.get(client.channel());
  }

  /** No handler does anything before then. */
  void restUntil(long timeNs) {
    restUntilNs = timeNs;
  }

  /** Asks for no new calls, on sessions that open in a moment, too. False when it is dead. */
  boolean drain() {
    drainingUntilNs = simulation.timeline.nowNs() + MOMENT_NS;
    List.copyOf(sessions.values()).forEach(ServerSession::drain);
    return !isDead();
  }

  /** Aborts a link's session, or those that open in a moment. False when it is dead. */
  boolean abort(SimLink link) {
    final ServerSession session = link == null ? null : sessions.get(link.control.channel);
    if (session == null) {
      abortingUntilNs = simulation.timeline.nowNs() + MOMENT_NS;
    } else {
      abort(link.control.channel, session);
    }
    return !isDead();
  }

  private void abort(long channel, ServerSession session) {
    simulation.ledger.aborted(channel);
    session.abort("aborted");
  }

  /** A request that a handler has. */
  final class Request implements ServerStream.Listener {
    final ServerSession session;
    final ServerStream stream;
    final SimCall call; // null when the client was killed
    boolean cancelled;
    private SimServerFlow flow; // once it is answered in several units

    Request(ServerSession session, ServerStream stream, SimCall call) {
      this.session = session;
      this.stream = stream;
      this.call = call;
      stream.listener(this);
    }

    @Override
    public void onCancelled() {
      simulation.check(!cancelled, "a cancel was told twice");
      cancelled = true;
      if (flow != null) {
        flow.onCancelled();
      }
    }

    @Override
    public void onFlow() {
      if (flow != null) {
        flow.onFlow();
      }
    }

    private void begin(SimServerFlow begun) {
      flow = begun;
      if (cancelled) {
        flow.onCancelled();
      }
      flows.add(flow);
    }
  }

  /** A control stream has come. */
  ServerHandshake accept(SimControl control) {
    final Timeline timeline = simulation.timeline;
    return HandshakeSteps.server(
        List.of(polled),
        simulation.context,
        fabric -> (session, stream) -> onRequest(control, session, stream),
        control.serverEnd(),
        new Listener(control),
        (task, delayNs) -> {
          final boolean[] cancelled = {false};
          timeline.after(
              delayNs,
              "offer timeout",
              () -> {
                if (!cancelled[0]) {
                  task.run();
                }
              });
          return () -> cancelled[0] = true;
        },
        timeline.random());
  }

  private void onRequest(SimControl control, ServerSession session, ServerStream stream) {
    if (isDead()) {
      return;
    }
    final Unit first = stream.flow() == null ? null : stream.flow().peek();
    final SimCall call =
        first == null
            ? simulation.ledger.executed(control.channel, stream)
            : simulation.ledger.executed(control.channel, first, stream.deadlineNs());
    final Request request = new Request(session, stream, call);
    if (call instanceof SimStreamCall streaming) {
      final Flow flow = stream.openFlow();
      final Unit taken = flow.peek();
      flow.remove();
      request.begin(SimServerFlow.of(this, session, stream, streaming, taken));
    } else {
      simulation.check(first == null || call == null, "a call with one request has a flow");
      requests.add(request);
    }
    simulation.ledger.checkHeld(session, requests);
  }

  private final class Listener implements ServerHandshake.Listener {
    private final SimControl control;

    Listener(SimControl control) {
      this.control = control;
      controls.add(control);
    }

    @Override
    public boolean onOpening() {
      return true;
    }

    @Override
    public void onNotOpened() {
      controls.remove(control);
    }

    @Override
    public void onSession(ServerSession session) {
      if (!session.hasEnded()) {
        sessions.put(control.channel, session);
      }
      if (simulation.timeline.nowNs() < abortingUntilNs) {
        abort(control.channel, session);
      } else if (simulation.timeline.nowNs() < drainingUntilNs) {
        session.drain();
      }
    }

    @Override
    public void onEnded(ServerSession session, String reason) {
      sessions.remove(control.channel);
      controls.remove(control);
      if (!isDead()) {
        simulation.checkReason(reason);
      }
    }
  }

  /** A thread of the application. */
  private final class Handler extends SimActor {
    private ServerSession held;

    Handler() {
      super("handler", SimServer.this);
    }

    @Override
    boolean isReady(long nowNs) {
      return (held != null || !requests.isEmpty()) && nowNs >= restUntilNs;
    }

    @Override
    long wakeNs() {
      final boolean waits = !requests.isEmpty() && restUntilNs > simulation.timeline.nowNs();
      return waits ? restUntilNs : Long.MAX_VALUE;
    }

    @Override
    void step() {
      final Timeline timeline = simulation.timeline;
      if (held != null) {
        final ServerSession left = held;
        held = null;
        if (left.driver.releaseAndTell()) {
          left.driver.drive();
        }
      } else if (timeline.oneIn(8) && !sessions.isEmpty() && !simulation.isQuiet()) {
        hold();
      } else if (timeline.oneIn(3) || simulation.isQuiet()) {
        answer(requests.remove(timeline.random().nextInt(requests.size())));
      }
    }

    /** Loses the processor while it owns a session. */
    private void hold() {
      final List<ServerSession> all = new ArrayList<>(sessions.values());
      final ServerSession session = all.get(simulation.timeline.random().nextInt(all.size()));
      if (session.driver.tryAcquire()) {
        held = session;
        session.work(false);
      }
    }

    private void answer(Request request) {
      final ServerStream stream = request.stream;
      if (request.call == null || (request.cancelled && simulation.timeline.oneIn(2))) {
        request.session.release(stream);
        return;
      }
      final byte[] answer =
          SimUnaryCall.answerTo(request.call.request, simulation.sizes.ringLength());
      if (request.call.isSplit() || simulation.timeline.oneIn(20)) {
        stream.openFlow().remove();
        final SimScript script =
            request.call.isSplit() ? SimScript.split(answer) : SimScript.whole(answer);
        request.begin(new SimServerFlow(SimServer.this, request.session, stream, script));
      } else if (simulation.timeline.oneIn(10)) {
        final ServerStream substitute = ServerStream.substitute();
        simulation.marshal(request.session, substitute.outbound(), answer);
        request.session.respondInstead(stream, substitute, SimCall.UNIT, 0);
      } else {
        simulation.marshal(request.session, stream.outbound(), answer);
        request.session.respond(stream, SimCall.UNIT, 0, simulation.timeline.oneIn(2));
      }
    }
  }
}
