package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.fabric.shm.SharedSlices;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Both sides of a session over mapped memory. No poller serves them: the actors take the steps, and
 * whom a doorbell would have woken, or a poller would have come back for, is counted.
 */
class SessionSides {
  static final int SMALL_RING_LENGTH = ArenaDescriptor.MIN_RING_LENGTH;
  static final int LARGE_RING_LENGTH = 1024;

  private static final int UNIT = PREFIX | MESSAGE | SUFFIX;
  private static final SharedSlices SMALL =
      new SharedSlices(ArenaDescriptor.length(SMALL_RING_LENGTH, SMALL_RING_LENGTH));
  private static final SharedSlices LARGE =
      new SharedSlices(ArenaDescriptor.length(LARGE_RING_LENGTH, LARGE_RING_LENGTH));
  private static final byte[] REQUEST = new byte[LARGE_RING_LENGTH];

  final HeapFabric fabric;
  final ClientSession client;
  final ServerSession server;
  final ArrayDeque<ServerStream> requests = new ArrayDeque<>(); // the server's poller's
  final AtomicInteger told = new AtomicInteger(); // calls that were told of an answer

  /**
   * Connects both sides.
   *
   * @param ringLength {@link #SMALL_RING_LENGTH} or {@link #LARGE_RING_LENGTH}.
   */
  SessionSides(int ringLength, int maxStreams) {
    fabric = (ringLength == SMALL_RING_LENGTH ? SMALL : LARGE).connect();
    final Geometry geometry =
        new Geometry(
            ringLength, ringLength, ringLength, maxStreams, 0x5EED_0000_0000_5EEDL, 0, -16);
    new ControlFlyweight(fabric.server(), ArenaDescriptor.SERVER_CONTROL_OFFSET)
        .consumed(geometry.requestPosition());
    new ControlFlyweight(fabric.client(), ArenaDescriptor.CLIENT_CONTROL_OFFSET)
        .consumed(geometry.responsePosition());
    final SessionContext context = Sessions.CONTEXT;
    client =
        new ClientSession(new SessionConnection(fabric.client(), geometry, new Poller(fabric.clientDoorbell(), context)),
            context,
            (session, reason) -> {
              throw new IllegalStateException(reason);
            });
    server =
        new ServerSession(new SessionConnection(fabric.server(), geometry, new Poller(fabric.serverDoorbell(), context)),
            context,
            (session, stream) -> requests.add(stream),
            (session, reason) -> {
              throw new IllegalStateException(reason);
            });
  }

  /** Fills a call's stream with a request that takes this many slots. */
  static ClientStream fill(ClientStream stream, int slots, ClientStream.Listener listener) {
    stream.outbound().addBytes(REQUEST, 0, FrameDescriptor.maxPayload(slots));
    stream.prepare(listener, UNIT, 1, Stream.NO_DEADLINE, LARGE_RING_LENGTH);
    return stream;
  }

  /** Opens a call that is recycled when it is answered. */
  final ClientStream prepare(int slots) {
    return fill(
        client.open(),
        slots,
        (stream, outcome) -> {
          told.incrementAndGet();
          client.recycle(stream);
        });
  }

  /** Takes a request's stream and answers it. */
  final void respond() {
    server.respond(requests.remove(), UNIT, 0, true);
  }

  /** What the client's poller does with an idle session. */
  final void clientPolls() {
    client.driver.service(false);
    client.retire();
  }

  /** What the server's poller does with an idle session: false when it goes on polling. */
  final boolean serverPolls() {
    server.driver.service(false);
    return server.retire();
  }

  /** The next round of the client's poller: it serves the session only where somebody said so. */
  final void serveThoseCalled() {
    try {
      client.poller().doWork();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
