package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.DESCRIPTION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SLOT_LENGTH;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.WINDOW_UPDATE;
import static dev.ringfetch.session.SessionSteps.UNIT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.carrier.RingPair;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a server holds for a client is counted for as long as a call holds it, and answered once.
 */
@Timeout(60)
class SessionHeldTest {
  private static final int RING_LENGTH = 64 * 1024;
  private static final int LONG = 20_000; // more than a buffer keeps
  private static final int STREAMS = 8;
  private static final int ABANDONED_LIMIT = 64;
  private static final int RESOURCE_EXHAUSTED = 8;

  private final HeapFabric fabric =
      new HeapFabric(ArenaDescriptor.length(RING_LENGTH, RING_LENGTH));
  private final SessionContext context = new SessionContext().spinNs(0).maxHeldLength(2 * LONG);
  private final Poller poller = new Poller(fabric.serverDoorbell(), context);
  private final Geometry geometry =
      new Geometry(RING_LENGTH, RING_LENGTH, 32 * 1024, STREAMS, 7, 100, 200);
  private final List<ServerStream> requests = new ArrayList<>();
  private final List<ServerStream> cancels = new ArrayList<>();
  private RingPair client;
  private ServerSession server;

  /** A frame of the server. */
  private record Frame(int id, int flags, int code, String text) {}

  @BeforeEach
  void start() throws IOException {
    client = RingPair.ofClient(fabric.client(), geometry);
    client.ownControl().consumed(geometry.responsePosition());
    client.peerControl().consumed(geometry.requestPosition());
    server =
        new ServerSession(
            new SessionConnection(fabric.server(), geometry, poller),
            context,
            (session, stream) -> {
              requests.add(stream);
              stream.listener(() -> cancels.add(stream));
            },
            (session, reason) -> {});
    poller.add(server.entry);
    poll();
  }

  private void poll() throws IOException {
    for (int i = 0; i < 4; i++) {
      fabric.serverDoorbell().poll();
      poller.doWork();
    }
  }

  private void write(int id, int flags, byte[] payload) throws IOException {
    int ack = (int) client.poller().position();
    assertEquals(
        RingWriter.WRITTEN, client.writer().write(id, flags, 0, ack, payload, 0, payload.length));
    client.writer().publish();
    fabric.client().ringDoorbell();
    poll();
  }

  private void request(int id, int length) throws IOException {
    write(id, UNIT, new byte[length]);
  }

  private void cancel(int id) throws IOException {
    write(id, CLOSE, new byte[0]);
  }

  private List<Frame> frames() throws IOException {
    poll();
    List<Frame> frames = new ArrayList<>();
    client
        .poller()
        .poll(
            (id, flags, code, ack, region, offset, length) -> {
              byte[] bytes = new byte[length];
              region.getBytes(offset, bytes, 0, length);
              frames.add(new Frame(id, flags, code, new String(bytes, StandardCharsets.UTF_8)));
              return true;
            },
            1000);
    return frames;
  }

  private ServerStream taken() {
    assertEquals(1, requests.size(), "requests");
    return requests.remove(0);
  }

  private void assertRefused(String part) throws IOException {
    List<Frame> frames = frames();
    Frame last = frames.get(frames.size() - 1);
    assertEquals(RESOURCE_EXHAUSTED, last.code());
    assertEquals(SUFFIX | DESCRIPTION, last.flags());
    assertTrue(last.text().contains(part), last::text);
    assertTrue(requests.isEmpty());
    assertFalse(server.hasEnded());
  }

  private static void fill(ServerStream stream, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    stream.outbound().addBytes(bytes, 0, bytes.length);
  }

  private void respond(ServerStream stream, String text) {
    fill(stream, text);
    server.respond(stream, UNIT, 0, true);
  }

  private static Frame ok(int id, String text) {
    return new Frame(id, UNIT, 0, text);
  }

  @Test
  void cancelledRequestsAreHeldUntilTheCallLetsGo() throws IOException {
    List<ServerStream> held = new ArrayList<>();
    for (int id = 1; id <= 2; id++) {
      request(id, LONG);
      held.add(taken());
      cancel(id);
    }
    assertEquals(held, cancels);
    request(3, LONG);
    assertRefused("holds too much");
    request(4, 10);
    taken(); // short ones are not counted
    server.release(held.get(0));
    server.release(held.get(0)); // counts once
    assertTrue(held.get(0).inbound().array().length < LONG, "the request is still in memory");
    request(5, LONG);
    taken();
    request(6, LONG);
    assertRefused("holds too much");
    server.respond(held.get(1), 0, 0, false); // lets go as well, but may still be read
    assertEquals(LONG, held.get(1).inbound().length());
    request(7, LONG);
    taken();
  }

  /** A stream keeps that much memory from call to call anyway. */
  @Test
  void requestThatNeedsNoMemoryOfItsOwnIsNotCounted() throws IOException {
    request(1, LONG);
    taken();
    request(2, LONG);
    taken();
    request(3, UnitBuffer.RETAINED_LENGTH);
    taken();
    request(4, UnitBuffer.RETAINED_LENGTH + 1);
    assertRefused("holds too much");
  }

  @Test
  void requestsThatWereNotWholeAreNotHeld() throws IOException {
    for (int id = 1; id <= 8; id++) {
      byte[] first = Arrays.copyOf(new byte[] {(byte) LONG, (byte) (LONG >> 8), 0, 0}, 100);
      write(id, UNIT | PARTIAL, first);
      cancel(id);
    }
    assertTrue(requests.isEmpty());
    request(0x10001, LONG);
    taken();
  }

  @Test
  void answeredRequestsAreNotHeld() throws IOException {
    for (int generation = 0; generation < 10; generation++) {
      request(generation << 16 | 1, LONG);
      respond(taken(), "a");
      assertEquals(List.of(ok(generation << 16 | 1, "a")), frames());
    }
  }

  /** The call has let go already when the client cancels: nobody else would. */
  @Test
  void cancelBehindAnAnswerThatWaitsForRoom() throws IOException {
    for (int generation = 0; generation < 2 * ABANDONED_LIMIT; generation++) {
      int id = generation << 16 | 1;
      request(id, 10);
      ServerStream stream = taken();
      stream.outbound().extend(2 * RING_LENGTH);
      server.respond(stream, UNIT, 0, true);
      cancel(id);
      List<Frame> frames = frames();
      while (frames.get(frames.size() - 1).flags() != CLOSE) {
        client.poller().tellConsumed();
        fabric.client().ringDoorbell();
        frames = frames();
      }
      client.poller().tellConsumed();
    }
    assertEquals(2 * ABANDONED_LIMIT, cancels.size());
  }

  @Test
  void cancelledCallsThatStillRunAreBounded() throws IOException {
    List<ServerStream> running = new ArrayList<>();
    for (int i = 0; i < ABANDONED_LIMIT; i++) {
      request(i << 16 | 1, 10);
      running.add(taken());
      cancel(i << 16 | 1);
    }
    frames();
    request(2, 10);
    assertRefused("cancelled calls still run: " + ABANDONED_LIMIT);
    byte[] first = Arrays.copyOf(new byte[] {(byte) 200, 0, 0, 0}, 104);
    write(3, UNIT | PARTIAL, first);
    assertRefused("cancelled calls still run");
    write(3, CONTINUATION, new byte[100]); // crosses the refusal
    server.release(running.get(7));
    request(0x10002, 10);
    respond(taken(), "a");
    assertEquals(List.of(ok(0x10002, "a")), frames());
  }

  @Test
  void callIsAnsweredOnce() throws IOException {
    request(1, 10);
    ServerStream first = taken();
    respond(first, "a");
    assertEquals(List.of(ok(1, "a")), frames());
    server.respond(first, UNIT, 0, true); // it waits in the pool
    assertEquals(List.of(), frames());
    request(2, 10);
    ServerStream second = taken();
    request(3, 10);
    ServerStream third = taken();
    assertNotSame(second, third, "pooled twice");
    respond(second, "b");
    respond(third, "c");
    assertEquals(List.of(ok(2, "b"), ok(3, "c")), frames());
  }

  @Test
  void releaseOfACallThatIsUnderWayAnswersNothing() throws IOException {
    request(1, 10);
    ServerStream stream = taken();
    fill(stream, "half an answer");
    server.release(stream);
    assertEquals(List.of(), frames());
    stream.outbound().clear();
    respond(stream, "a");
    assertEquals(List.of(ok(1, "a")), frames());
  }

  @Test
  void streamIsReusedUnlessSomebodyMayStillLookAtIt() throws IOException {
    request(1, 10);
    ServerStream first = taken();
    server.respond(first, UNIT, 0, false);
    request(2, 10);
    ServerStream second = taken();
    assertNotSame(first, second);
    server.respond(second, UNIT, 0, true);
    request(3, 10);
    assertSame(second, taken());
  }

  @Test
  void secondAnswerWhileTheFirstWaitsForRoom() throws IOException {
    request(1, 10);
    ServerStream stream = taken();
    stream.outbound().extend(2 * RING_LENGTH);
    server.respond(stream, UNIT, 0, true);
    server.respond(stream, SUFFIX, 13, true);
    int received = 0;
    for (int i = 0; i < 20; i++) {
      for (Frame frame : frames()) {
        assertEquals(0, frame.code());
        received += frame.text().length();
      }
      client.poller().tellConsumed();
      fabric.client().ringDoorbell();
    }
    assertEquals(2 * RING_LENGTH + Integer.BYTES, received);
  }

  @Test
  void answerFromAnotherStream() throws IOException {
    request(1, LONG);
    ServerStream first = taken();
    ServerStream substitute = ServerStream.substitute();
    fill(substitute, "x");
    fill(first, "whoever still writes here");
    server.respondInstead(first, substitute, UNIT, 2);
    assertEquals(List.of(new Frame(1, UNIT, 2, "x")), frames());
    server.respond(first, UNIT, 0, true);
    cancel(1); // crosses the answer
    assertEquals(List.of(), frames());
    for (int id = 2; id <= 3; id++) { // nothing is held of the first
      request(id, LONG);
      assertNotSame(first, taken(), "reused");
    }
    assertFalse(server.hasEnded());
  }

  @Test
  void answerFromAnotherStreamIsDroppedAfterACancel() throws IOException {
    request(1, LONG);
    ServerStream first = taken();
    cancel(1);
    server.respondInstead(first, ServerStream.substitute(), UNIT, 2);
    assertEquals(List.of(new Frame(1, CLOSE, 1, "")), frames());
    for (int id = 2; id <= 3; id++) { // nothing is held of the first
      request(id, LONG);
      taken();
    }
  }

  private Unit take(ServerStream stream) {
    Unit unit = stream.flow().peek();
    stream.flow().remove();
    server.consumed(stream, unit);
    return unit;
  }

  /** Half a message whose whole length is announced. */
  private void writeHalf(int id, int flags) throws IOException {
    byte[] first = Arrays.copyOf(new byte[] {(byte) LONG, (byte) (LONG >> 8), 0, 0}, 100);
    write(id, flags | PARTIAL, first);
  }

  private void assertClosed(int id, List<Frame> frames) {
    assertEquals(List.of(new Frame(id, CLOSE, RESOURCE_EXHAUSTED, "")), frames);
    assertFalse(server.hasEnded());
  }

  @Test
  void messagesOfFlowsAreHeldUntilTheyAreConsumed() throws IOException {
    write(1, PREFIX, new byte[0]);
    ServerStream stream = taken();
    write(1, MESSAGE, new byte[LONG - 2 * SLOT_LENGTH]);
    write(2, PREFIX, new byte[0]);
    ServerStream other = taken();
    write(2, MESSAGE, new byte[LONG]); // both together take the limit to the byte
    write(3, PREFIX, new byte[0]);
    ServerStream third = taken();
    write(3, MESSAGE, new byte[0]);
    assertClosed(3, frames());
    assertEquals(List.of(third), cancels);
    take(other);
    assertEquals(LONG, take(other).total());
    write(4, PREFIX, new byte[0]);
    taken();
    write(4, MESSAGE, new byte[LONG]);
    assertEquals(WINDOW_UPDATE, frames().get(0).flags());
    write(4, MESSAGE, new byte[0]);
    assertClosed(4, frames());
    server.respond(stream, 0, 0, true); // nothing for a flow
    assertEquals(List.of(), frames());
  }

  @Test
  void messagesOfFlowsAreHeldFromTheirFirstFrameOn() throws IOException {
    for (int id = 1; id <= 2; id++) {
      write(id, PREFIX, new byte[0]);
      taken();
    }
    writeHalf(1, MESSAGE);
    writeHalf(2, MESSAGE);
    assertClosed(2, frames());
    write(2, CONTINUATION, new byte[LONG - 96]); // crosses the refusal
    cancel(1);
    assertEquals(List.of(new Frame(1, CLOSE, 1, "")), frames());
    assertEquals(2, cancels.size());
    cancels.forEach(server::release);
    writeHalf(3, PREFIX | MESSAGE);
    write(3, CONTINUATION, new byte[LONG - 96]);
    assertEquals(LONG, take(taken()).total());
    assertEquals(WINDOW_UPDATE, frames().get(0).flags());
    writeHalf(4, PREFIX | MESSAGE);
    cancel(4); // nobody knows of it
    writeHalf(5, PREFIX | MESSAGE);
    write(5, CONTINUATION, new byte[LONG - 96]);
    taken();
    writeHalf(6, PREFIX | MESSAGE);
    assertEquals(RESOURCE_EXHAUSTED, frames().get(1).code());
  }

  @Test
  void messagesOfCancelledFlowsAreHeldUntilTheCallLetsGo() throws IOException {
    for (int generation = 0; generation < 10; generation++) {
      write(generation << 16 | 1, PREFIX | MESSAGE, new byte[LONG]);
      ServerStream stream = taken();
      cancel(generation << 16 | 1);
      assertEquals(1, frames().get(0).code());
      take(stream); // late: that is not counted twice
      write(generation << 16 | 2, PREFIX | MESSAGE, new byte[LONG]);
      assertClosed(generation << 16 | 2, frames());
      server.release(stream);
      server.release(stream);
    }
  }

  @Test
  void messagesOfAnsweredFlowsAreNotHeld() throws IOException {
    for (int generation = 0; generation < 10; generation++) {
      int id = generation << 16 | 1;
      write(id, PREFIX | MESSAGE, new byte[LONG / 2]);
      ServerStream stream = taken();
      write(id, MESSAGE, new byte[LONG / 4]);
      take(stream);
      writeHalf(id, MESSAGE);
      server.write(stream, new Unit(SUFFIX, 0, new UnitBuffer()));
      assertEquals(SUFFIX, frames().get(0).flags());
      take(stream);
    }
  }

  /** Of what is no message a flow counts nothing; but somebody has to keep it, if it is long. */
  @Test
  void unitsWithoutAMessageAreHeld() throws IOException {
    write(1, PREFIX | METADATA, new byte[LONG]);
    ServerStream stream = taken();
    write(1, SUFFIX, new byte[LONG - 10]);
    take(stream);
    take(stream);
    write(2, PREFIX | METADATA, new byte[LONG]);
    assertClosed(2, frames());
    write(3, PREFIX | METADATA, new byte[10]);
    taken();
    server.write(stream, new Unit(SUFFIX, 0, new UnitBuffer()));
    assertEquals(SUFFIX, frames().get(0).flags());
    write(0x10001, PREFIX | METADATA, new byte[LONG]);
    taken();
  }

  @Test
  void cancelledFlowsThatStillRunAreBounded() throws IOException {
    List<ServerStream> running = new ArrayList<>();
    for (int i = 0; i < ABANDONED_LIMIT; i++) {
      write(i << 16 | 1, PREFIX, new byte[0]);
      running.add(taken());
      cancel(i << 16 | 1);
    }
    frames();
    write(2, PREFIX, new byte[0]);
    assertRefused("cancelled calls still run: " + ABANDONED_LIMIT);
    write(2, MESSAGE, new byte[10]); // crosses the refusal
    server.write(running.get(0), new Unit(SUFFIX, 0, new UnitBuffer())); // that is not to let go
    write(0x10002, PREFIX, new byte[0]);
    assertRefused("cancelled calls still run: " + ABANDONED_LIMIT);
    server.release(running.get(0));
    write(0x20002, PREFIX, new byte[0]);
    taken();
  }

  /** Its handler has done with it, so that it is nobody's when the client cancels. */
  @Test
  void flowWhoseEndHasLeftIsNotAbandoned() throws IOException {
    for (int i = 0; i <= ABANDONED_LIMIT; i++) {
      write(i << 16 | 1, PREFIX, new byte[0]);
      ServerStream stream = taken();
      server.write(stream, new Unit(SUFFIX, 0, new UnitBuffer()));
      cancel(i << 16 | 1); // crosses it
      assertEquals(List.of(SUFFIX), frames().stream().map(Frame::flags).toList());
    }
    assertEquals(List.of(), cancels);
  }
}
