package dev.ringfetch.session;

import dev.ringfetch.fabric.sim.SimFabric;
import dev.ringfetch.fabric.sim.Timeline;
import java.util.List;

/** What can go wrong in a simulation, with a client and the server that it talks to. */
enum SimFault {
  /** The client stands still for some time. */
  STALL_CLIENT {
    @Override
    void strike(Simulation simulation, SimClient client) {
      client.stallUntil(some(simulation, MAX_STALL_NS));
    }
  },
  /** The server stands still for some time. */
  STALL_SERVER {
    @Override
    void strike(Simulation simulation, SimClient client) {
      simulation.server.stallUntil(some(simulation, MAX_STALL_NS));
    }
  },
  /** The client's process is killed; the next one comes up. */
  KILL_CLIENT {
    @Override
    void strike(Simulation simulation, SimClient client) {
      simulation.kill(client, true);
    }
  },
  /** The client's machine goes down, with the stores that were not visible yet. */
  LOSE_CLIENT {
    @Override
    void strike(Simulation simulation, SimClient client) {
      simulation.kill(client, false);
    }
  },
  /** The server's process is killed; the next one comes up. */
  KILL_SERVER {
    @Override
    void strike(Simulation simulation, SimClient client) {
      simulation.killServer(true);
    }
  },
  /** The server's machine goes down, with the stores that were not visible yet. */
  LOSE_SERVER {
    @Override
    void strike(Simulation simulation, SimClient client) {
      simulation.killServer(false);
    }
  },
  /** The control stream ends, and the fabric lives. */
  BREAK_CONTROL {
    @Override
    void strike(Simulation simulation, SimClient client) {
      if (client.control != null) {
        client.control.end();
      }
    }
  },
  /** The fabric breaks, and the control stream lives. */
  BREAK_FABRIC {
    @Override
    void strike(Simulation simulation, SimClient client) {
      if (client.session == null) {
        client.fabric.refuse(1);
      }
      client.fabric.breakConnections();
    }
  },
  /** Rings and ends on their way to one side are late. */
  HOLD_RINGS {
    @Override
    void strike(Simulation simulation, SimClient client) {
      side(simulation, client).holdRingsUntil(some(simulation, MAX_HOLD_NS));
    }
  },
  /** What one side writes stays invisible, or half visible, for some time. */
  HOLD_WRITES {
    @Override
    void strike(Simulation simulation, SimClient client) {
      side(simulation, client).holdWritesUntil(some(simulation, MAX_HOLD_NS));
    }
  },
  /** The server asks for no new calls. */
  DRAIN {
    @Override
    void strike(Simulation simulation, SimClient client) {
      List.copyOf(simulation.server.sessions.values()).forEach(ServerSession::drain);
    }
  },
  /** The server cancels every call and ends the session. */
  ABORT {
    @Override
    void strike(Simulation simulation, SimClient client) {
      simulation.aborted();
      final ServerSession session = simulation.server.sessionOf(client);
      if (session != null) {
        session.abort("aborted");
      }
    }
  };

  private static final int MAX_STALL_NS = 300_000;
  private static final int MAX_HOLD_NS = 100_000;

  abstract void strike(Simulation simulation, SimClient client);

  private static SimFabric side(Simulation simulation, SimClient client) {
    return simulation.timeline.random().nextBoolean() ? client.fabric : simulation.server.fabric;
  }

  private static long some(Simulation simulation, int maxNs) {
    final Timeline timeline = simulation.timeline;
    return timeline.nowNs() + timeline.random().nextInt(maxNs);
  }
}
