package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.HeapDoorbell;
import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * A session whose both sides behave, and whose one side shares its poller with a session that is
 * under attack. Its server answers at once.
 */
final class Bystander {
  private static final int RING_LENGTH = 1024;
  private static final int LENGTH = ArenaDescriptor.length(RING_LENGTH, RING_LENGTH);
  private static final Geometry GEOMETRY =
      new Geometry(RING_LENGTH, RING_LENGTH, 256, 8, 0xB15, 17, 23);
  private static final int ROUNDS = 200;

  /** Kept from one to the next: memory outside of the heap comes back slowly. One thread. */
  private static final DirectRegion REGION = new DirectRegion(LENGTH);

  private final HostileWorld world;
  private final ClientSession client;
  private final Poller own;
  private final Poller shared;
  private final ArrayDeque<byte[]> asked = new ArrayDeque<>();
  private String end;
  private int answered;

  /**
   * Opens the session.
   *
   * @param asServer true when the server's side is the one beside the session under attack.
   */
  Bystander(HostileWorld world, Poller shared, HeapDoorbell sharedDoorbell, boolean asServer) {
    final SessionContext context = new SessionContext().clock(() -> world.nowNs).spinNs(0);
    this.world = world;
    REGION.putBytes(0, new byte[LENGTH], 0, LENGTH);
    final HeapFabric fabric = new HeapFabric(REGION);
    new ControlFlyweight(fabric.server(), ArenaDescriptor.SERVER_CONTROL_OFFSET)
        .consumed(GEOMETRY.requestPosition());
    new ControlFlyweight(fabric.client(), ArenaDescriptor.CLIENT_CONTROL_OFFSET)
        .consumed(GEOMETRY.responsePosition());
    this.shared = shared;
    own = new Poller(asServer ? fabric.clientDoorbell() : fabric.serverDoorbell(), context);
    sharedDoorbell.add(asServer ? fabric.server() : fabric.client());
    client =
        new ClientSession(
            new SessionConnection(fabric.client(), GEOMETRY, asServer ? own : shared),
            context,
            (session, reason) -> end = reason);
    final ServerSession server =
        new ServerSession(
            new SessionConnection(fabric.server(), GEOMETRY, asServer ? shared : own),
            context,
            Bystander::answer,
            (session, reason) -> end = reason);
    client.poller().add(client.entry);
    server.poller().add(server.entry);
  }

  private static void answer(ServerSession session, ServerStream stream) {
    final UnitBuffer request = stream.inbound();
    for (int i = 0; i < request.length(); i++) {
      final int at = stream.outbound().extend(1);
      stream.outbound().array()[at] = (byte) (request.array()[request.offset() + i] + 1);
    }
    session.respond(stream, SessionSteps.UNIT, 0, true);
  }

  /** Sends a request that no other one is like. */
  void call(int length) {
    final ClientStream stream = client.open();
    if (stream == null) {
      return; // as many as there can be are under way
    }
    final byte[] request = new byte[length + 1];
    Arrays.fill(request, (byte) (31 * answered + asked.size() + length));
    asked.add(request);
    stream.outbound().addBytes(request, 0, request.length);
    stream.prepare(
        (told, outcome) -> onClosed(told, outcome, request),
        SessionSteps.UNIT,
        3,
        Stream.NO_DEADLINE,
        1 << 20);
    client.send(stream);
  }

  private void onClosed(ClientStream told, Outcome outcome, byte[] request) {
    assertEquals(Outcome.ANSWERED, outcome, "bystander's call");
    assertEquals(SessionSteps.UNIT, told.inboundFlags(), "bystander's flags");
    final UnitBuffer unit = told.inbound();
    final byte[] answer =
        Arrays.copyOfRange(unit.array(), unit.offset(), unit.offset() + unit.length());
    assertArrayEquals(SessionSteps.answerTo(request), answer, "bystander's answer");
    assertTrue(asked.remove(request), "bystander is answered once");
    answered++;
    client.recycle(told);
  }

  /** A round of the side that is alone. */
  void step() {
    world.round(own);
  }

  /** Everything asked is answered within some rounds of both pollers, however the other fares. */
  void assertServed() {
    for (int i = 0; i < ROUNDS && !asked.isEmpty(); i++) {
      step();
      world.round(shared);
    }
    assertNull(end, "the bystander's session ended");
    assertEquals(0, asked.size(), "bystander's calls are left behind");
    FuzzCounts.bystanderCalls(answered);
  }
}
