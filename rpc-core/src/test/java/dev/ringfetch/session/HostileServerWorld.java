package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.DESCRIPTION;
import static dev.ringfetch.ring.FrameDescriptor.DRAIN;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapCard;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.bulk.MemoryExchange;
import dev.ringfetch.session.remote.RemoteSide;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A client's session whose server is a fuzzer's program. */
final class HostileServerWorld extends HostileWorld {
  private final ClientSession session;
  private final ResponseRules rules;
  private final List<Call> calls = new ArrayList<>();
  private int nextCall;

  HostileServerWorld(FuzzInput input) {
    super(input, false);
    session =
        new ClientSession(
            new SessionConnection(fabric.client(), geometry, false, poller),
            context,
            (told, reason) -> ends.add(reason));
    rules = new ResponseRules(region, geometry, session, hostileEnd().registered());
    ring =
        new HostileRing(
            region,
            ArenaDescriptor.responseRingOffset(geometry.requestRingLength()),
            geometry.responseRingLength(),
            geometry.epoch(),
            geometry.responsePosition(),
            card);
    consumed = geometry.requestPosition();
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

  @Override
  void act(int operation) {
    switch (operation) {
      case 0 -> write(id(), flags(), input.next() << input.next(9), payload());
      case 1 -> write(awaited(), SessionSteps.UNIT, input.next(), payload());
      case 2 -> call(false);
      case 3 -> chain();
      case 4 -> {
        if (!calls.isEmpty()) {
          calls.get(input.next(calls.size())).cancel();
        }
      }
      case 5 -> write(awaited(), input.choose(CLOSE, SUFFIX, SUFFIX | DESCRIPTION), 4, payload(8));
      case 6 -> {
        if (input.next(8) == 0) {
          write(0, DRAIN, 0, new byte[0]);
        } else {
          call(true);
        }
      }
      case 16 -> {
        if (input.nextBoolean()) {
          flow();
        } else {
          goOn();
        }
      }
      case 17 -> unit(awaited());
      case 18 -> {
        final Call call = anyCall();
        update(call == null ? 1 : call.id, call == null ? null : call.stream.flow);
      }
      case 19 -> flood(awaited(), input.next(100), input.next() * 40);
      default -> actAlike(operation);
    }
  }

  /** The server's card does something, or nothing. */
  @Override
  void onWritten() {
    if (!card) {
      return;
    }
    final HeapCard client = (HeapCard) fabric.client();
    final int offset = ArenaDescriptor.responseRingOffset(geometry.requestRingLength());
    final int length = geometry.responseRingLength();
    switch (input.next(16)) {
      case 0 -> client.push(offset, length);
      case 1 -> client.push(offset, length / 2);
      case 2 ->
          client.push(ArenaDescriptor.SERVER_CONTROL_OFFSET, ControlDescriptor.CONTROL_LENGTH);
      case 3 -> client.stall(true);
      case 4 -> client.stall(false);
      case 5 -> client.receive(payload(input.next()));
      case 10 -> client.refuse(input.next(6));
      case 11 -> {
        if (input.next(4) == 0) {
          client.breakDatagrams();
        }
      }
      case 6, 7, 8, 9 -> {
        final byte[] datagram = new byte[64 * (1 + input.next(4))];
        final int slot = (int) (session.pollPosition() & (slots() - 1L));
        final int left = Math.min(datagram.length, (slots() - slot) * 64);
        region.getBytes(offset + slot * 64, datagram, 0, left);
        datagram[input.next() % datagram.length] += (byte) input.nextError();
        client.receive(Arrays.copyOf(datagram, input.nextBoolean() ? left : input.next() % 300));
      }
      default -> {}
    }
  }

  @Override
  void leave() {
    if (session.driver.leave()) {
      session.driver.drive();
    }
  }

  @Override
  void drain() {
    session.drain();
  }

  private void call(boolean polls) {
    if (RemoteSide.chooses(session.carrier)) {
      RemoteSide.turn(session.carrier); // in the midst of whatever is under way
    }
    final ClientStream stream = session.open();
    if (stream == null) {
      return;
    }
    final int maxLength = input.choose(1 << 20, 0, 100, 2_000);
    final long timeoutNs = input.nextBoolean() ? Stream.NO_DEADLINE : input.next() * 1_000L;
    final Call call = new Call(stream, nextCall++, maxLength);
    calls.add(call);
    stream.outbound().extend(input.nextBoolean() ? input.next() : input.nextShort() % 3_000);
    stream.prepare(
        call,
        SessionSteps.UNIT,
        5,
        timeoutNs == Stream.NO_DEADLINE ? timeoutNs : nowNs + timeoutNs,
        maxLength);
    if (polls) {
      observe(false, () -> session.sendAndPoll(stream));
    } else {
      session.send(stream);
    }
  }

  /** A call that sends and takes units as it goes. */
  private void flow() {
    final ClientStream stream = session.open();
    if (stream == null) {
      return;
    }
    final int maxLength = input.choose(1 << 20, 0, 100, 2_000);
    final long deadlineNs =
        input.nextBoolean() ? Stream.NO_DEADLINE : nowNs + input.next() * 1_000L;
    final Call call = new Call(stream, nextCall++, maxLength);
    calls.add(call);
    final UnitBuffer bytes = new UnitBuffer();
    bytes.extend(outboundLength());
    final int flags = PREFIX | (input.nextBoolean() ? MESSAGE : 0);
    stream.prepareFlow(call, deadlineNs, maxLength, new Unit(flags, 5, bytes));
    session.send(stream);
  }

  private void goOn() {
    final Call call = anyCall();
    if (call != null && call.stream.flow != null) {
      call.goOn();
    }
  }

  /** A call that is not over, if there is one. */
  private Call anyCall() {
    return calls.isEmpty() ? null : calls.get(input.next(calls.size()));
  }

  private int awaited() {
    final Call call = anyCall();
    return call == null ? 1 : call.id;
  }

  private int id() {
    return switch (input.next(5)) {
      case 0 -> input.nextInt();
      case 1 -> 0;
      case 2 -> (1 + input.next(geometry.maxStreams() + 1)) | (input.next(4) << 16);
      default -> awaited();
    };
  }

  private void chain() {
    final int id = awaited();
    final int piece = Math.min(1 + input.next(), ring.maxPayload() - 4);
    final int pieces = 2 + input.next(3);
    final byte[] first = new byte[4 + piece];
    ByteBuffer.wrap(first)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(pieces * piece + (int) input.nextError());
    write(id, SessionSteps.UNIT | PARTIAL, input.next(), first);
    final int sent = 1 + input.next(pieces);
    for (int i = 1; i < sent && !session.hasEnded(); i++) {
      goOn(id, i < pieces - 1, piece);
    }
  }

  @Override
  void checkBounds() {
    assertTrue(calls.size() <= nextCall);
    assertTrue(
        session.outbox.length() <= geometry.maxStreams() + MemoryExchange.MAX_OFFERS,
        () -> "backlog=" + session.outbox.length());
  }

  @Override
  void finish() {
    session.end("test");
    for (int i = 0; i < 4; i++) {
      round(poller);
    }
    assertEquals(1, ends.size(), "ends told");
    assertTrue(fabric.client().isClosed(), "the connection is closed");
    for (final Call call : List.copyOf(calls)) {
      assertTrue(call.isOver(), () -> "left behind: call " + call.number);
    }
    final ClientStream late = session.open();
    if (late != null) {
      final Call call = new Call(late, nextCall++, 1);
      late.prepare(call, SessionSteps.UNIT, 1, Stream.NO_DEADLINE, 1);
      session.send(late);
      assertEquals(Outcome.NOT_SENT, call.outcome);
    }
  }

  /** A call of the application's, which keeps the rules. */
  private final class Call implements ClientStream.Listener, ClientStream.FlowListener {
    private final ClientStream stream;
    private final int id;
    private final int number;
    private final int maxLength;
    private Outcome outcome;
    private boolean cancelled;
    private final List<Unit> unread = new ArrayList<>();
    private boolean answered; // the last unit has come
    private boolean halfClosed;

    Call(ClientStream stream, int number, int maxLength) {
      this.stream = stream;
      this.id = stream.id;
      this.number = number;
      this.maxLength = maxLength;
    }

    boolean isOver() {
      return cancelled || outcome != null;
    }

    void cancel() {
      cancelled = true;
      calls.remove(this);
      session.cancel(stream);
    }

    @Override
    public void onClosed(ClientStream closed, Outcome how) {
      assertEquals(stream, closed);
      assertEquals(id, closed.id);
      assertNull(outcome, "told twice");
      assertNotNull(how);
      assertTrue(!cancelled, "a call that has let go is told");
      outcome = how;
      calls.remove(this);
      if (how == Outcome.TOO_MANY_RESPONSES) {
        taken.add(ResponseRules.tooMany(id));
      }
      if (how == Outcome.ANSWERED) {
        taken.add(unit(closed));
        assertTrue(closed.inbound().length() <= Math.max(0, maxLength), "a long response is kept");
        session.recycle(closed);
      } else {
        session.release(closed, false);
      }
    }

    /** Reads, or writes. */
    void goOn() {
      switch (input.next(8)) {
        case 0, 1, 2, 3 -> {
          for (int units = 1 + input.next(20); units > 0 && !unread.isEmpty(); units--) {
            session.consumed(stream, unread.remove(0));
          }
        }
        case 4 -> write(SUFFIX, 0);
        case 5 -> { // a thread of the application's writes, which does not know yet
          cancel();
          write(MESSAGE, outboundLength());
        }
        default -> {
          for (int units = 1 + input.next(30); units > 0; units--) {
            write(MESSAGE, outboundLength());
          }
        }
      }
    }

    private void write(int flags, int length) {
      if (!halfClosed) {
        halfClosed = (flags & SUFFIX) != 0;
        final UnitBuffer bytes = new UnitBuffer();
        bytes.extend(length);
        session.write(stream, new Unit(flags, 0, bytes));
        checkWindow(stream.flow);
      }
    }

    @Override
    public void onFlow() {
      final Flow flow = stream.flow();
      final Outcome told = flow.outcome();
      Unit unit;
      while ((unit = flow.peek()) != null) {
        assertFalse(cancelled, "a call that has let go is told");
        assertFalse(answered, "a unit after the last");
        flow.remove();
        take(id, unit);
        assertTrue(unit.bytes().length() <= Math.max(0, maxLength), "a long response is kept");
        answered = unit.has(SUFFIX | CLOSE);
        unread.add(unit);
      }
      if (told != null && !cancelled) {
        assertTrue(outcome == null || outcome == told, "told of two ends");
        assertEquals(answered, told == Outcome.ANSWERED, "answered");
        outcome = told;
        calls.remove(this);
      }
    }
  }
}
