package dev.ringfetch.session;

import dev.ringfetch.session.remote.RemoteSide;
import java.util.EnumSet;
import java.util.Set;

/** Where the protocol can be between a client and its server; often in several at once. */
enum SimState {
  /** No session: a handshake is under way, or about to be. */
  OPENING {
    @Override
    void provoke(Simulation simulation, SimClient client) {
      if (client.session() != null) {
        client.session().drain();
      }
    }
  },
  /** A session, and no call. */
  IDLE {
    @Override
    void provoke(Simulation simulation, SimClient client) {
      client.rest();
    }
  },
  /** A request waits for the ring. */
  SENDING,
  /** A request waits for the client's turn. */
  WAITING,
  /** A request is half in the ring. */
  PARTIAL,
  /** A request is in the ring, and unanswered. */
  SENT,
  /** An answer waits for the ring. */
  ANSWERING,
  /** A cancel is on its way. */
  CLOSING {
    @Override
    void provoke(Simulation simulation, SimClient client) {
      client.cancelOne();
    }
  },
  /** The client has no credit. */
  CLIENT_BLOCKED {
    @Override
    void provoke(Simulation simulation, SimClient client) {
      SimFault.STALL_SERVER.strike(simulation, client, null);
    }
  },
  /** The server has no credit. */
  SERVER_BLOCKED {
    @Override
    void provoke(Simulation simulation, SimClient client) {
      SimFault.STALL_CLIENT.strike(simulation, client, null);
    }
  },
  /** The client is to be rung. */
  CLIENT_ARMED,
  /** The server is to be rung. */
  SERVER_ARMED,
  /** The client has said that it goes to sleep, and has not seen yet whether it may. */
  SETTLING,
  /** The client has said that it does not fetch any more, and may have to read what it missed. */
  TURNING,
  /** The session ends after its last call. */
  DRAINING {
    @Override
    void provoke(Simulation simulation, SimClient client) {
      if (client.session() != null) {
        client.session().drain();
      }
    }
  },
  /** Another session is being opened, to take the place of one that goes on. */
  GROWING {
    @Override
    void provoke(Simulation simulation, SimClient client) {
      client.grow();
    }
  },
  /** The session has taken the place of another one, which has calls. */
  OUTGROWN {
    @Override
    void provoke(Simulation simulation, SimClient client) {
      client.grow();
    }
  },
  /** A stream is open, with units yet to come from both sides. */
  STREAMING,
  /** The client has ended its half of a stream, and the server not. */
  HALF_CLOSED,
  /** A unit of a stream, not the first, is half in a ring. */
  CHAIN,
  /** A message stands in registered memory, and its reader has not read it. */
  READING {
    @Override
    void provoke(Simulation simulation, SimClient client) {
      client.callLong();
    }
  },
  /** A client's stream has used up its window. */
  CLIENT_HELD {
    @Override
    void provoke(Simulation simulation, SimClient client) {
      client.fillWindow(SimShape.FLOOD_UP);
    }
  },
  /** A stream of the server has used up its window. */
  SERVER_HELD {
    @Override
    void provoke(Simulation simulation, SimClient client) {
      client.fillWindow(SimShape.FLOOD_DOWN);
    }
  };

  /** Brings the state about sooner, where it is rare. */
  void provoke(Simulation simulation, SimClient client) {}

  /** Where a client is with its server. */
  static Set<SimState> of(Simulation simulation, SimClient client) {
    final EnumSet<SimState> states = EnumSet.noneOf(SimState.class);
    final ClientSession session = client.session();
    if (session == null) {
      states.add(OPENING);
      return states;
    }
    addStreams(session, states);
    addFlows(client, states);
    add(states, IDLE, !session.mustArmToLeave());
    add(states, CLIENT_BLOCKED, session.outbox.isBlocked());
    add(states, WAITING, session.turn.isHolding());
    add(states, CLIENT_ARMED, session.inbox.isArmed());
    add(states, SETTLING, session.inbox.isSettling());
    add(states, TURNING, RemoteSide.isTurning(session.inbox));
    add(states, DRAINING, session.isDraining());
    add(states, GROWING, client.isGrowing());
    add(states, OUTGROWN, client.hasOutgrown());
    final ServerSession server = simulation.server.sessionOf(client);
    if (server != null) {
      add(states, ANSWERING, !server.outbox.isEmpty());
      add(states, SERVER_BLOCKED, server.outbox.isBlocked());
      add(states, SERVER_ARMED, server.inbox.isArmed());
      add(states, READING, !server.reads.isEmpty() || !session.reads.isEmpty());
    }
    return states;
  }

  private static void addStreams(ClientSession session, Set<SimState> states) {
    for (int index = 1; index < session.streams.length(); index++) {
      final ClientStream stream = session.streams.get(index);
      if (stream != null) {
        switch (stream.state) {
          case SENDING -> states.add(stream.outboundBegun ? PARTIAL : SENDING);
          case SENT -> states.add(SENT);
          case CLOSING -> states.add(CLOSING);
          default -> {}
        }
      }
    }
  }

  private static void addFlows(SimClient client, Set<SimState> states) {
    for (int i = 0; i < client.calls.size(); i++) {
      if (client.calls.get(i) instanceof SimStreamCall call
          && call.executions > 0
          && call.session == client.session()) {
        final SimFlow up = call.end;
        final SimFlow down = call.server();
        add(states, STREAMING, !up.hasOffered() && down != null && !down.hasOffered());
        add(states, HALF_CLOSED, down != null && down.hasEnded() && !down.hasOffered());
        add(states, CHAIN, up.isPartial() || (down != null && down.isPartial()));
        add(states, CLIENT_HELD, up.isHeldBack());
        add(states, SERVER_HELD, down != null && down.isHeldBack());
      }
    }
  }

  private static void add(Set<SimState> states, SimState state, boolean holds) {
    if (holds) {
      states.add(state);
    }
  }
}
