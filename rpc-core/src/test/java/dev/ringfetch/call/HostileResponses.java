package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.PAD;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.ClientStream;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionConnection;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.Metadata;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.TreeMap;

/** A client whose responses have sections of any content: each becomes a status, some way. */
final class HostileResponses {
  private static final int RING_LENGTH = 16 * 1024;
  private static final int MAX_LENGTH = 2_000;
  private static final int UNIT = ServerSteps.UNIT;
  private static final Map<String, Long> STATUSES = new TreeMap<>();

  private final HeapFabric fabric =
      new HeapFabric(ArenaDescriptor.length(RING_LENGTH, RING_LENGTH));
  private final ClientLimits limits = new ClientLimits(100, 300);
  private final ClientSession session;
  private final Poller poller;
  private final RingWriter writer;
  private final ControlFlyweight serverLine;
  private int id = 1; // of the only stream, as the session counts its generations
  private Response read;

  HostileResponses() {
    final Geometry geometry = new Geometry(RING_LENGTH, RING_LENGTH, 8 * 1024, 1, 7, 100, 200);
    final SessionContext context = new SessionContext().spinNs(0);
    serverLine = new ControlFlyweight(fabric.server(), ArenaDescriptor.SERVER_CONTROL_OFFSET);
    final var clientLine =
        new ControlFlyweight(fabric.client(), ArenaDescriptor.CLIENT_CONTROL_OFFSET);
    serverLine.consumed(geometry.requestPosition());
    clientLine.consumed(geometry.responsePosition());
    poller = new Poller(fabric.clientDoorbell(), context);
    session =
        new ClientSession(
            new SessionConnection(fabric.client(), geometry, poller),
            context,
            (ended, reason) -> {});
    writer =
        new RingWriter(
            fabric.server(),
            ArenaDescriptor.responseRingOffset(RING_LENGTH),
            RING_LENGTH,
            geometry.epoch(),
            geometry.responsePosition(),
            clientLine);
    session.serve();
    poll();
  }

  private void poll() {
    try {
      for (int i = 0; i < 3; i++) {
        fabric.clientDoorbell().poll();
        poller.doWork();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void read(int anyFlags, int code, byte[] unit) {
    final ClientStream stream = session.open();
    assertNotNull(stream, "the only stream did not come back");
    stream.prepare(this::onClosed, UNIT, 0, ClientStream.NO_DEADLINE, MAX_LENGTH);
    session.send(stream);
    serverLine.consumed(session.writePosition());
    final int flags = (anyFlags & CLOSE) != 0 ? CLOSE : anyFlags | SUFFIX;
    read = null;
    assertEquals(
        RingWriter.WRITTEN,
        writer.write(
            id,
            flags & ~(PARTIAL | CONTINUATION | PAD | BULK),
            code,
            (int) session.writePosition(),
            unit,
            0,
            unit.length));
    writer.publish();
    fabric.server().ringDoorbell();
    poll();
    assertFalse(session.hasEnded(), session.endReason());
    assertNotNull(read, "nothing was told");
    id += 1 << 16;
  }

  private void onClosed(ClientStream stream, Outcome outcome) {
    assertEquals(Outcome.ANSWERED, outcome);
    assertNull(read, "told twice");
    final Response response = Response.read(stream, limits);
    assertNotNull(response.status);
    assertNotNull(response.trailers);
    final UnitBuffer unit = stream.inbound();
    if (response.messageLength >= 0) {
      assertTrue(response.messageLength <= limits.maxInboundMessageLength());
      assertTrue(response.messageOffset >= unit.offset());
      assertTrue(response.messageOffset + response.messageLength <= unit.offset() + unit.length());
    }
    touch(response.trailers);
    if (response.headers != null) {
      touch(response.headers);
    }
    STATUSES.merge(response.status.getCode().name(), 1L, Long::sum);
    read = response;
    session.recycle(stream);
  }

  private static void touch(Metadata metadata) {
    for (final String name : metadata.keys()) {
      assertNotNull(name);
    }
    assertNotNull(metadata.toString());
  }

  /** How often each status came. */
  static String outcomes() {
    return STATUSES.toString();
  }
}
