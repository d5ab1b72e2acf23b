package dev.ringfetch.session;

import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.handshake.ClientHandshake;
import java.util.List;

/** A control stream of a simulated client, with the handshake and the session that go with it. */
final class SimLink implements ClientHandshake.Listener {
  final SimClient client;
  final SimControl control;
  private final ClientHandshake handshake;
  private ClientSession session;
  private boolean over;

  SimLink(SimClient client) {
    final Simulation simulation = client.simulation;
    this.client = client;
    this.control = new SimControl(this, simulation.server, simulation.nextChannel());
    this.handshake =
        new ClientHandshake(
            List.of(client.polled),
            simulation.context,
            ArenaDescriptor.MAX_RING_LENGTH,
            control.clientEnd(),
            this);
  }

  void start() {
    handshake.start();
  }

  /** Null before it is open, and when it has ended. */
  ClientSession session() {
    return session;
  }

  /** The server has taken a step of the handshake. */
  void onResponse(OpenResponse response) {
    if (!over && session == null) {
      handshake.onResponse(response);
    }
  }

  /** The control stream has ended; a session finishes its calls. */
  void onControlEnded() {
    if (client.isDead() || over) {
      return;
    }
    if (session == null) {
      end();
    } else {
      session.drain();
    }
  }

  @Override
  public void onSession(ClientSession made, String fabric, List<String> methods) {
    if (!made.hasEnded()) {
      session = made;
      client.onOpened(this);
    }
  }

  @Override
  public void onCrowded(ClientSession crowded) {
    client.onCrowded(this);
  }

  @Override
  public void onRefused(String reason) {
    end();
  }

  @Override
  public void onEnded(ClientSession ended, String reason) {
    if (!client.isDead() && !(client.isOutgrown(this) && reason.equals(SimClient.OUTGROWN))) {
      client.simulation.checkReason(reason);
    }
    session = null;
    end();
  }

  private void end() {
    if (!over) {
      over = true;
      control.end();
      client.onOver(this);
    }
  }
}
