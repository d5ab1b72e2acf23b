package dev.ringfetch.session;

import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.session.handshake.ControlStream;
import dev.ringfetch.session.handshake.ServerHandshake;

/**
 * A control stream between a client and the server that was there when it was opened: in order,
 * late, and at its end told to both sides, unless they are dead.
 */
final class SimControl {
  private static final int MAX_DELAY_NS = 20_000;

  final SimServer server;
  final long channel;
  private final Simulation simulation;
  private final SimClient client;
  private final SimLink link;
  private ServerHandshake handshake;
  private long toServerNs;
  private long toClientNs;
  private boolean telling;
  private boolean ended;

  SimControl(SimLink link, SimServer server, long channel) {
    this.link = link;
    this.client = link.client;
    this.server = server;
    this.channel = channel;
    this.simulation = client.simulation;
  }

  /** What the client's handshake sends to. */
  ControlStream<OpenRequest> clientEnd() {
    return new End<>() {
      @Override
      public void send(OpenRequest step) {
        toServer("request", () -> handshake().onRequest(step));
      }
    };
  }

  /** What the server's handshake sends to. */
  ControlStream<OpenResponse> serverEnd() {
    return new End<>() {
      @Override
      public void send(OpenResponse step) {
        toClient("response", () -> link.onResponse(step));
      }
    };
  }

  private abstract class End<T> implements ControlStream<T> {
    @Override
    public void close() {
      end();
    }

    @Override
    public void exhausted(String reason) {
      end();
    }

    @Override
    public void expired(String reason) {
      end();
    }
  }

  private ServerHandshake handshake() {
    if (handshake == null) {
      handshake = server.accept(this);
    }
    return handshake;
  }

  /** Ends the stream: one of its sides has, or what is between them. */
  void end() {
    if (!ended) {
      ended = true;
      final long closed = simulation.timeline.random().nextInt(MAX_DELAY_NS);
      simulation.timeline.after(closed, "control ended at server", this::endAtServer);
      toClientNs = Math.max(toClientNs, simulation.timeline.nowNs());
      toClientNs++;
      tellClient("control ended at client", link::onControlEnded);
    }
  }

  /** Also of a dead server: what it had on offer is counted in statics, which go with a process. */
  private void endAtServer() {
    if (handshake != null) {
      handshake.onClosed();
    }
  }

  private void toServer(String what, Runnable step) {
    toServerNs = Math.max(toServerNs, simulation.timeline.nowNs()) + delayNs();
    tellServer(what, step);
  }

  private void tellServer(String what, Runnable step) {
    later(
        toServerNs,
        what,
        () -> {
          if (server.isDead()) {
            end();
          } else if (!ended && isStalled(server)) {
            toServerNs = server.stalledUntilNs() + delayNs();
            tellServer(what, step);
          } else if (!ended) {
            step.run();
          }
        });
  }

  private boolean isStalled(SimProcess process) {
    return !process.isRunning(simulation.timeline.nowNs());
  }

  private void toClient(String what, Runnable step) {
    toClientNs = Math.max(toClientNs, simulation.timeline.nowNs()) + delayNs();
    tellClient(what, step);
  }

  /** One at a time: what comes while the client is within a step, or stalled, waits. */
  private void tellClient(String what, Runnable step) {
    later(
        toClientNs,
        what,
        () -> {
          if (client.isDead()) {
            return;
          }
          if (telling || isStalled(client)) {
            toClientNs = Math.max(client.stalledUntilNs(), simulation.timeline.nowNs()) + delayNs();
            tellClient(what, step);
            return;
          }
          telling = true;
          step.run();
          telling = false;
        });
  }

  private void later(long timeNs, String what, Runnable step) {
    simulation.timeline.after(Math.max(0, timeNs - simulation.timeline.nowNs()), what, step);
  }

  private long delayNs() {
    return 1L + simulation.timeline.random().nextInt(MAX_DELAY_NS);
  }
}
