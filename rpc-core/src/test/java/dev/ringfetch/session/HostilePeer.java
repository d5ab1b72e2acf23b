package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;

/** A fuzzer's program as a peer: the memory that it shares, and what it can write there. */
abstract class HostilePeer {
  private static final int MAX_OUTBOUND_LENGTH = 3_000;

  private static final long LOOK_NS = 50; // at the clock

  private static final long HINT_WAIT_NS = 40 * LOOK_NS;

  private static final ReplyPolicy[] REPLY_MODES = ReplyPolicy.values();

  /** Kept from one world to the next: memory outside of the heap comes back slowly. One thread. */
  private static final Map<Integer, HostileRegion> REGIONS = new HashMap<>();

  final FuzzInput input;
  final Geometry geometry;
  final SessionContext context;
  final HostileRegion region;
  final boolean server;
  final boolean card; // between the two

  HostileRing ring;
  long nowNs = SessionSteps.START_NS;
  long consumed; // of what the session under test has sent, as its peer has it

  HostilePeer(FuzzInput input, boolean server) {
    this.input = input;
    this.server = server;
    final int own = ringLength();
    final int other = ringLength();
    final int requestLength = server ? own : other;
    final int responseLength = server ? other : own;
    final int sizes = input.next();
    card = (sizes & 12) == 12;
    geometry =
        new Geometry(
            requestLength,
            responseLength,
            64 << (sizes & 3),
            input.choose(1, 2, 4, 8),
            0x5EED_0000_0000_5EEDL,
            Long.MAX_VALUE - 10,
            -20);
    context =
        new SessionContext()
            .clock(() -> nowNs += LOOK_NS)
            .spinNs(sizes < 128 ? 0 : 20 * LOOK_NS)
            .maxMetadataLength(1)
            .maxInboundLength(input.choose(64, 1000, 8192, 20_000))
            .maxHeldLength(input.choose(0, 9_000, 20_000, 100_000));
    if (card && !server) {
      context.replyPolicy(REPLY_MODES[input.next(REPLY_MODES.length)]).hintWaitNs(HINT_WAIT_NS);
    }
    final int length = ArenaDescriptor.length(requestLength, responseLength);
    region = REGIONS.computeIfAbsent(length, HostileRegion::new);
    region.changeBefore(-1, () -> {});
    region.putBytes(0, new byte[length], 0, length);
    region.putLong(
        ArenaDescriptor.SERVER_CONTROL_OFFSET + ControlDescriptor.CONSUMED_OFFSET,
        geometry.requestPosition());
    region.putLong(
        ArenaDescriptor.CLIENT_CONTROL_OFFSET + ControlDescriptor.CONSUMED_OFFSET,
        geometry.responsePosition());
  }

  private int ringLength() {
    return input.choose(1024, 128, 256, 4096, 512, 32 * 1024);
  }

  /** The session under test. */
  abstract Session session();

  /** A round of the poller under test. */
  abstract void step(boolean rung);

  final int slots() {
    return (server ? geometry.requestRingLength() : geometry.responseRingLength())
        / FrameDescriptor.SLOT_LENGTH;
  }

  /** Writes a frame; where there is no room for it the session is let go on, or is overrun. */
  final void write(int streamId, int flags, int code, byte[] payload) {
    write(streamId, flags, code, (int) (consumed + input.nextError()), payload);
  }

  final void write(int streamId, int flags, int code, int ack, byte[] payload) {
    if (!hasRoom(payload.length)) {
      step(true);
      if (!hasRoom(payload.length)) {
        ring.position(session().pollPosition());
      }
    }
    ring.write(streamId, flags, code, ack, payload);
    onWritten();
  }

  /** A frame has been written. */
  abstract void onWritten();

  private boolean hasRoom(int length) {
    return ring.position() + ring.needed(length) - session().pollPosition() <= slots();
  }

  private static int[] laterFlags() {
    return new int[] {
      FrameDescriptor.MESSAGE,
      FrameDescriptor.SUFFIX,
      FrameDescriptor.PREFIX,
      FrameDescriptor.MESSAGE | FrameDescriptor.SUFFIX,
      FrameDescriptor.MESSAGE | FrameDescriptor.PARTIAL
    };
  }

  /** A unit that a flow may have next, or one of those that it may not. */
  final void unit(int id) {
    final int flags = input.choose(laterFlags());
    write(id, flags & ~FrameDescriptor.PARTIAL, input.next(), payload());
  }

  /** A window update of what may be right. */
  final void update(int id, Flow flow) {
    final long begun = flow == null ? 0 : FlowRules.begun(flow);
    final long error = input.nextError();
    final int length =
        switch (input.next(16)) {
          case 14 -> 12;
          case 15 -> input.next(10);
          default -> 8;
        };
    final byte[] bytes = new byte[length];
    if (length >= 8) {
      final ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      buffer.putLong(begun + error);
      if (length == 12) {
        buffer.putInt(FlowRules.WINDOW + (int) input.nextError());
      }
    }
    write(id, FrameDescriptor.WINDOW_UPDATE, 0, bytes);
  }

  /** Many messages of one stream, of this length, with rounds between them. */
  final void flood(int id, int count, int length) {
    final byte[] bytes = new byte[Math.min(length, ring.maxPayload())];
    for (int i = 0; i < count && !session().hasEnded(); i++) {
      write(id, FrameDescriptor.MESSAGE, 0, (int) consumed, bytes);
    }
  }

  /** No more is under way than a window and the message that crosses its end. */
  static void checkWindow(Flow flow) {
    assertTrue(
        FlowRules.underWay(flow)
            < FlowRules.peerWindow(flow) + FlowRules.cost(2, MAX_OUTBOUND_LENGTH),
        () -> "under way=" + FlowRules.underWay(flow));
  }

  /** Length of a unit that the session under test is to send. */
  final int outboundLength() {
    return input.nextBoolean() ? input.next() : input.nextShort() % MAX_OUTBOUND_LENGTH;
  }

  /** A payload that begins with the program's bytes. */
  final byte[] payload() {
    final int length =
        switch (input.next(8)) {
          case 6 -> input.nextShort();
          case 7 -> Integer.MAX_VALUE;
          case 5 -> 8;
          default -> input.next(40);
        };
    return payload(Math.min(length, ring.maxPayload()));
  }

  final byte[] payload(int length) {
    final byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i < 12 ? input.next() : i);
    }
    return bytes;
  }

  final int flags() {
    return switch (input.next(12)) {
      case 0 -> input.nextShort();
      case 1 -> SessionSteps.UNIT ^ (1 << input.next(16));
      case 2 -> FrameDescriptor.CONTINUATION;
      case 3 -> FrameDescriptor.CONTINUATION | FrameDescriptor.PARTIAL;
      case 4 -> FrameDescriptor.CLOSE;
      case 5 -> SessionSteps.UNIT | FrameDescriptor.PARTIAL;
      case 6 -> FrameDescriptor.DRAIN;
      case 7 -> FrameDescriptor.WINDOW_UPDATE;
      case 8 -> input.choose(laterFlags());
      default -> SessionSteps.UNIT;
    };
  }

  /** Changes some bytes anywhere, or at the head of the frame that is read next. */
  final void poke() {
    final int length = 1 + input.next(8);
    final int at =
        input.nextBoolean()
            ? input.nextShort() % (region.length() - length)
            : ringOffset()
                + (int) (session().pollPosition() & (slots() - 1L)) * FrameDescriptor.SLOT_LENGTH
                + input.next(56);
    final byte[] bytes = payload(length);
    region.putBytes(at, bytes, 0, length);
  }

  private int ringOffset() {
    return server
        ? ArenaDescriptor.REQUEST_RING_OFFSET
        : ArenaDescriptor.responseRingOffset(geometry.requestRingLength());
  }

  private int controlOffset() {
    return server ? ArenaDescriptor.CLIENT_CONTROL_OFFSET : ArenaDescriptor.SERVER_CONTROL_OFFSET;
  }

  /** Credits the session, rightly or not, or says that this side sleeps or waits for credit. */
  final void control() {
    final int control = controlOffset();
    switch (input.next(4)) {
      case 0 -> region.putInt(control + ControlDescriptor.SLEEP_OFFSET, input.next());
      case 1 -> region.putInt(control + ControlDescriptor.BLOCKED_OFFSET, input.next());
      case 2 ->
          region.putLongRelease(
              control + ControlDescriptor.CONSUMED_OFFSET,
              session().writePosition() + input.nextError());
      default -> credit();
    }
  }

  /** Credits the session with all that it has sent. */
  final void credit() {
    consumed = session().writePosition();
    region.putLongRelease(controlOffset() + ControlDescriptor.CONSUMED_OFFSET, consumed);
  }
}
