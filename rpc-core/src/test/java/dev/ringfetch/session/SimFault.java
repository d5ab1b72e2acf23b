package dev.ringfetch.session;

import dev.ringfetch.fabric.sim.SimFabric;
import dev.ringfetch.fabric.sim.Timeline;

/** What can go wrong in a simulation, with a client and the server that it talks to. */
enum SimFault {
  /** The client stands still for some time. */
  STALL_CLIENT {
    @Override
    boolean strike(Simulation simulation, SimClient client, SimLink link) {
      client.stallUntil(some(simulation, MAX_STALL_NS));
      return true;
    }
  },
  /** The server stands still for some time. */
  STALL_SERVER {
    @Override
    boolean strike(Simulation simulation, SimClient client, SimLink link) {
      simulation.server.stallUntil(some(simulation, MAX_STALL_NS));
      return !simulation.server.isDead();
    }
  },
  /** The client's process is killed; the next one comes up. */
  KILL_CLIENT {
    @Override
    boolean strike(Simulation simulation, SimClient client, SimLink link) {
      simulation.kill(client, true);
      return true;
    }
  },
  /** The client's machine goes down, with the stores that were not visible yet. */
  LOSE_CLIENT {
    @Override
    boolean strike(Simulation simulation, SimClient client, SimLink link) {
      simulation.kill(client, false);
      return true;
    }
  },
  /** The server's process is killed; the next one comes up. */
  KILL_SERVER {
    @Override
    boolean strike(Simulation simulation, SimClient client, SimLink link) {
      return simulation.killServer(true);
    }
  },
  /** The server's machine goes down, with the stores that were not visible yet. */
  LOSE_SERVER {
    @Override
    boolean strike(Simulation simulation, SimClient client, SimLink link) {
      return simulation.killServer(false);
    }
  },
  /** A control stream ends, and the fabric lives. */
  BREAK_CONTROL {
    @Override
    boolean strike(Simulation simulation, SimClient client, SimLink link) {
      if (link != null) {
        link.control.end();
      }
      return link != null;
    }
  },
  /** The fabric breaks, or takes no other connection, and the control stream lives. */
  BREAK_FABRIC {
    @Override
    boolean strike(Simulation simulation, SimClient client, SimLink link) {
      final boolean connecting = link == null || link.session() == null;
      if (connecting) {
        client.fabric.refuse(1);
      }
      if (!connecting || client.session() == null) {
        client.fabric.breakConnections();
      }
      return true;
    }
  },
  /** Rings and ends on their way to one side are late. */
  HOLD_RINGS {
    @Override
    boolean strike(Simulation simulation, SimClient client, SimLink link) {
      side(simulation, client).holdRingsUntil(some(simulation, MAX_HOLD_NS));
      return true;
    }
  },
  /** What one side writes stays invisible, or half visible, for some time. */
  HOLD_WRITES {
    @Override
    boolean strike(Simulation simulation, SimClient client, SimLink link) {
      side(simulation, client).holdWritesUntil(some(simulation, MAX_HOLD_NS));
      return true;
    }
  },
  /** The server asks for no new calls, and will for the sessions that open meanwhile. */
  DRAIN {
    @Override
    boolean strike(Simulation simulation, SimClient client, SimLink link) {
      return simulation.server.drain();
    }
  },
  /** The server cancels every call and ends the session, or the handshake. */
  ABORT {
    @Override
    boolean strike(Simulation simulation, SimClient client, SimLink link) {
      return simulation.server.abort(link);
    }
  };

  private static final int MAX_STALL_NS = 300_000;
  private static final int MAX_HOLD_NS = 100_000;

  /**
   * Strikes; false when there was nothing to strike.
   *
   * @param link of the client that is meant, where only one can be; null: it has none.
   */
  abstract boolean strike(Simulation simulation, SimClient client, SimLink link);

  private static SimFabric side(Simulation simulation, SimClient client) {
    return simulation.timeline.random().nextBoolean() ? client.fabric : simulation.server.fabric;
  }

  private static long some(Simulation simulation, int maxNs) {
    final Timeline timeline = simulation.timeline;
    return timeline.nowNs() + timeline.random().nextInt(maxNs);
  }
}
