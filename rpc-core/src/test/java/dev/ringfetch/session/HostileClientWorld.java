package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapCard;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.unit.UnitBuffer;
import dev.ringfetch.session.unit.Units;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A server's session whose client is a fuzzer's program. */
final class HostileClientWorld extends HostileWorld {
  private static final int MIN_ABANDONED = 64;

  private final ServerSession session;
  private final RequestRules rules;
  final List<HostedCall> running = new ArrayList<>();
  private final int[] lastIds;
  private int begun; // id of the chain that was begun last

  HostileClientWorld(FuzzInput input) {
    super(input, true);
    session =
        new ServerSession(
            new SessionConnection(fabric.server(), geometry, false, poller),
            context,
            (told, stream) -> accept(stream),
            (told, reason) -> ends.add(reason));
    rules = new RequestRules(region, geometry, session, context, hostileEnd().registered());
    lastIds = new int[geometry.maxStreams() + 1];
    ring =
        new HostileRing(
            region,
            ArenaDescriptor.REQUEST_RING_OFFSET,
            geometry.requestRingLength(),
            geometry.epoch(),
            geometry.requestPosition(),
            card);
    consumed = geometry.responsePosition();
    poller.add(session.entry);
  }

  @Override
  Session session() {
    return session;
  }

  @Override
  FrameRules rules() {
    return rules;
  }

  private void accept(ServerStream stream) {
    final HostedCall handler = new HostedCall(this, session, stream);
    if (stream.flow() == null) {
      taken.add(unit(stream));
      assertFalse(stream.inboundDiscarded(), "a request that is too long is handed on");
      assertEquals(stream.inboundTotal(), stream.inbound().length());
      checkLength(stream.inbound());
      final int flags = stream.inboundFlags();
      assertEquals(PREFIX | SUFFIX, flags & (PREFIX | SUFFIX), "flags");
      if ((flags & DEADLINE) != 0) {
        assertTrue(stream.deadlineNs() != Stream.NO_DEADLINE && stream.inbound().length() >= 8);
      }
    } else {
      assertNotNull(stream.flow().peek(), "a call of many units without the first");
    }
    running.add(handler);
    stream.listener(handler);
    handler.take();
  }

  void checkLength(UnitBuffer unit) {
    assertTrue(
        unit.length() <= Units.maxLength(context.maxInboundLength(), context.maxMetadataLength()));
  }

  @Override
  void act(int operation) {
    switch (operation) {
      case 0 -> write(id(), flags(), input.next() << input.next(9), payload());
      case 1 -> write(nextId(index()), SessionSteps.UNIT, input.next(), payload());
      case 2 -> request();
      case 3 -> chain();
      case 4 -> write(lastIds[index()], CLOSE, 0, new byte[0]);
      case 5 -> answer();
      case 6 -> burst();
      case 16 -> flow();
      case 17 -> unit(lastIds[index()]);
      case 18 -> {
        final int index = index();
        update(lastIds[index], rules.flow(index));
      }
      case 19 -> flood(lastIds[index()], input.next(100), input.next() * 40);
      default -> actAlike(operation);
    }
  }

  /** The server's card has no room, or has. */
  @Override
  void onWritten() {
    if (card && input.next(16) == 0) {
      ((HeapCard) fabric.server()).refuse(input.next(6));
    }
  }

  @Override
  void leave() {
    if (session.driver.releaseAndTell()) {
      session.driver.drive();
    }
  }

  @Override
  void drain() {
    if (input.next(4) == 0) {
      session.abort("test");
    } else {
      session.drain();
    }
  }

  private int index() {
    return 1 + input.next(geometry.maxStreams());
  }

  private int nextId(int index) {
    lastIds[index] = ((lastIds[index] & ~0xFFFF) + 0x10000) | index;
    return lastIds[index];
  }

  private int id() {
    return switch (input.next(6)) {
      case 0 -> input.nextInt();
      case 1 -> index() | (input.next(4) << 16);
      case 2 -> begun;
      case 3 -> (geometry.maxStreams() + 1) | (input.next() << 16);
      case 4 -> nextId(index());
      default -> lastIds[index()];
    };
  }

  /** A request with sections, as a client that may be right writes it. */
  private void request() {
    final byte[] bytes = payload();
    final int sections = input.choose(DEADLINE, NAMED, METADATA, DEADLINE | METADATA);
    if (bytes.length >= 8 && input.nextBoolean()) {
      ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(0, input.nextShort() * 100L);
    }
    write(nextId(index()), SessionSteps.UNIT | sections, input.next(), bytes);
  }

  /** A chain of some frames, of the length that was announced or of another one. */
  private void chain() {
    final int index = index();
    begun = nextId(index);
    final int piece = Math.min(1 + input.next(), ring.maxPayload() - 4);
    final int pieces = 2 + input.next(3);
    final int error = (int) input.nextError();
    final boolean announcesLess = input.nextBoolean();
    final int announced = announcesLess ? pieces * piece + error : input.nextShort();
    final int flags =
        input.choose(
            SessionSteps.UNIT, SessionSteps.UNIT | DEADLINE, PREFIX | MESSAGE, PREFIX | DEADLINE);
    final byte[] first = new byte[4 + piece];
    ByteBuffer.wrap(first).order(ByteOrder.LITTLE_ENDIAN).putInt(announced);
    write(begun, flags | PARTIAL, input.next(), first);
    final int sent = 1 + input.next(pieces);
    for (int i = 1; i < sent && !session.hasEnded(); i++) {
      goOn(begun, i < pieces - 1, piece);
    }
  }

  /** Begins a stream of many units, and goes on with it. */
  private void flow() {
    final int id = nextId(index());
    write(id, PREFIX | input.choose(0, MESSAGE, METADATA), input.next(), payload());
    for (int units = input.next(4); units > 0; units--) {
      unit(id);
    }
  }

  /** The handler of a call answers, or learns of a cancel, or goes on. */
  private void answer() {
    if (running.isEmpty()) {
      return;
    }
    final HostedCall handler = running.get(input.next(running.size()));
    final boolean opens = input.next(4) == 0;
    if (handler.stream.flow() == null && !opens) {
      running.remove(handler);
      respond(handler.stream);
    } else {
      handler.goOn();
    }
  }

  private void respond(ServerStream stream) {
    final int length = outboundLength();
    switch (input.next(4)) {
      case 0 -> {
        if (stream.isCancelled()) {
          session.release(stream);
        } else {
          final ServerStream substitute = ServerStream.substitute();
          substitute.outbound().extend(length);
          session.respondInstead(stream, substitute, SessionSteps.UNIT, 2);
        }
      }
      case 1 -> {
        stream.outbound().extend(length);
        session.respond(stream, SessionSteps.UNIT, 0, false);
        if (stream.isCancelled()) {
          session.release(stream);
        }
      }
      default -> {
        stream.outbound().extend(length);
        session.respond(stream, SessionSteps.UNIT, 0, true);
      }
    }
  }

  /** Many calls, each cancelled at once or not at all, with or without a round between them. */
  private void burst() {
    final int calls = input.next(100);
    final boolean cancels = input.nextBoolean();
    final boolean steps = input.nextBoolean();
    final int length = input.next() * 40;
    final int index = index();
    for (int i = 0; i < calls && !session.hasEnded(); i++) {
      final int id = nextId(cancels ? index : 1 + i % geometry.maxStreams());
      if (length < 8192) {
        final byte[] bytes = new byte[Math.min(length, ring.maxPayload())];
        write(id, SessionSteps.UNIT, 1, (int) consumed, bytes);
      } else { // announced, and never sent
        final byte[] first = new byte[Math.min(64, ring.maxPayload())];
        ByteBuffer.wrap(first).order(ByteOrder.LITTLE_ENDIAN).putInt(length);
        write(id, SessionSteps.UNIT | PARTIAL, 1, (int) consumed, first);
      }
      if (cancels) {
        write(id, CLOSE, 0, (int) consumed, new byte[0]);
      }
      if (steps) {
        step(true);
      }
    }
  }

  @Override
  void checkBounds() {
    final int maxStreams = geometry.maxStreams();
    final int maxRunning = maxStreams + Math.max(MIN_ABANDONED, maxStreams);
    assertTrue(running.size() <= 2 * maxRunning, () -> "running=" + running.size());
    assertTrue(rules.abandoned() <= maxRunning, () -> "abandoned=" + rules.abandoned());
    assertTrue(rules.held() <= context.maxHeldLength(), () -> "held=" + rules.held());
    assertTrue(rules.held() >= 0, () -> "held=" + rules.held());
    assertTrue(rules.inTable() <= maxStreams, () -> "in the table=" + rules.inTable());
    // A DRAIN, and by one an index: what is one too many ends the session.
    final int backlog = session.outbox.length();
    assertTrue(backlog <= 2 * (maxStreams + 2) + 64, () -> "backlog=" + backlog);
    if (!session.hasEnded() && !isHeld()) {
      checkHeld();
    }
  }

  /** What handlers have not let go of is counted, and what is counted is somewhere. */
  private void checkHeld() {
    final Set<ServerStream> streams = rules.streams();
    long unconsumed = 0;
    for (final HostedCall handler : running) {
      if (handler.stream.abandoned) {
        streams.add(handler.stream);
      }
      if (streams.contains(handler.stream)) {
        unconsumed += handler.unconsumed();
      }
    }
    long counted = 0;
    for (final ServerStream stream : streams) {
      counted += stream.heldLength + (stream.flow == null ? 0 : stream.flow.heldLength());
    }
    assertEquals(counted, rules.held(), "held");
    assertTrue(unconsumed <= counted, "unconsumed=" + unconsumed + " held=" + counted);
  }

  @Override
  void finish() {
    if (input.nextBoolean()) {
      session.end("test");
    }
    List.copyOf(running).forEach(HostedCall::end);
    fabric.client().close();
    step(true);
    for (int i = 0; i < 4; i++) {
      round(poller);
    }
    List.copyOf(running).forEach(HostedCall::end); // what was committed when the session ended
    assertEquals(1, ends.size(), "ends told");
    assertTrue(fabric.server().isClosed(), "the connection is closed");
    assertEquals(0, rules.inTable(), "in the table");
    assertEquals(0, rules.abandoned(), "abandoned");
    assertEquals(0, rules.held(), "held");
    assertEquals(0, session.outbox.length(), "backlog");
  }
}
