package dev.ringfetch.session;

import dev.ringfetch.fabric.CountedQueuePair;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.sim.SimFabric;
import dev.ringfetch.fabric.sim.Timeline;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import java.io.IOException;

/**
 * Both sides of a session behind simulated network cards, without the handshake.
 *
 * @param client side's queue pair.
 * @param server side's queue pair.
 * @param geometry of the session.
 */
record RemotePair(CountedQueuePair client, CountedQueuePair server, Geometry geometry) {
  /**
   * Connects two processes.
   *
   * @param datagrams whether the server's side may send any.
   */
  static RemotePair connect(
      Timeline timeline,
      SimFabric owner,
      Doorbell ownerDoorbell,
      SimFabric peer,
      Doorbell peerDoorbell,
      Geometry geometry,
      boolean datagrams)
      throws IOException {
    final QueuePair[] arrived = new QueuePair[1];
    final byte[] token = new byte[16];
    final Fabric.Offer offer =
        owner.offer(
            ownerDoorbell,
            peer.hint(),
            ArenaDescriptor.length(geometry.requestRingLength(), geometry.responseRingLength()),
            token,
            queuePair -> arrived[0] = queuePair);
    geometry.prepare(offer.memory());
    final QueuePair connected = peer.connect(peerDoorbell, offer.descriptor(), token, 0, datagrams);
    geometry.prepare(connected.memory());
    while (arrived[0] == null) {
      timeline.runNext();
      ownerDoorbell.poll();
    }
    return new RemotePair(counted(connected), counted(arrived[0]), geometry);
  }

  private static CountedQueuePair counted(QueuePair queuePair) {
    return new CountedQueuePair(queuePair, ArenaDescriptor.REQUEST_RING_OFFSET);
  }

  /** The client's session, added to a poller of its doorbell. It must not end. */
  ClientSession openClient(Poller poller, SessionContext context) {
    return openClient(poller, context, RemotePair::failOnEnd);
  }

  /** As the other one, but that it may end. */
  ClientSession openClient(Poller poller, SessionContext context, ClientSession.Listener listener) {
    final ClientSession session =
        new ClientSession(new SessionConnection(client, geometry, poller), context, listener);
    poller.add(session.entry);
    return session;
  }

  /** The server's session, added to a poller of its doorbell. It must not end. */
  ServerSession openServer(Poller poller, SessionContext context, ServerSession.Acceptor acceptor) {
    return openServer(poller, context, acceptor, RemotePair::failOnEnd);
  }

  /** As the other one, but that it may end. */
  ServerSession openServer(
      Poller poller,
      SessionContext context,
      ServerSession.Acceptor acceptor,
      ServerSession.Listener listener) {
    final ServerSession session =
        new ServerSession(
            new SessionConnection(server, geometry, poller), context, acceptor, listener);
    poller.add(session.entry);
    return session;
  }

  private static void failOnEnd(Session session, String reason) {
    throw new AssertionError(reason);
  }
}
