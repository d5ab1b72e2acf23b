package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapDoorbell;
import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.fabric.HeapQueuePair;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.FrameRules.Judgement;
import dev.ringfetch.session.FrameRules.Unit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One side of a session whose peer is a fuzzer's program, beside a {@link Bystander} on the same
 * poller, in one thread under a clock of its own. What the program writes into the ring is judged
 * by {@link FrameRules} first; the session must come to the same verdict.
 */
abstract class HostileWorld {
  static final String VIOLATION = "the peer broke the protocol";
  static final String FALSE_CREDIT = "the peer acknowledged what was never sent";

  private static final Set<String> ENDS =
      Set.of(VIOLATION, FALSE_CREDIT, "peer closed", "lost", "test", "drained");

  /** What turns on how much the session has sent by then. */
  private static final Set<Reject> DEPENDS_ON_OUTPUT =
      EnumSet.of(Reject.ACK, Reject.BACKLOG, Reject.NOT_AWAITED);

  /** More than the longest program of judged rounds takes; see also the limit of copies. */
  private static final int MAX_ACCESSES = 4_000;

  private static final long ROUND_NS = 10_000; // doorbells are looked at after some of them

  private static final long LOOK_NS = 50; // at the clock

  private static final int JUDGED_SLOTS = 64; // what one poll takes

  /** Kept from one world to the next: memory outside of the heap comes back slowly. One thread. */
  private static final Map<Integer, HostileRegion> REGIONS = new HashMap<>();

  final FuzzInput input;
  final Geometry geometry;
  final SessionContext context;
  final HostileRegion region;
  final HeapFabric fabric;
  final Poller poller;
  final Bystander bystander;
  final List<String> ends = new ArrayList<>();
  final List<Unit> taken = new ArrayList<>();

  private final HeapDoorbell doorbell;
  private final boolean server;

  HostileRing ring;
  long nowNs = SessionSteps.START_NS;
  long consumed; // of what the session under test has sent, as its peer has it

  private boolean held; // by another thread, as it were

  private final List<Throwable> uncaught = new ArrayList<>();

  HostileWorld(FuzzInput input, boolean server) {
    this.input = input;
    this.server = server;
    final int own = ringLength();
    final int other = ringLength();
    final int requestLength = server ? own : other;
    final int responseLength = server ? other : own;
    final int sizes = input.next();
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
    fabric = new HeapFabric(region);
    doorbell = server ? fabric.serverDoorbell() : fabric.clientDoorbell();
    poller = new Poller(doorbell, context);
    bystander = new Bystander(this, poller, doorbell, server);
    FuzzCounts.session();
  }

  private int ringLength() {
    return input.choose(1024, 128, 256, 4096, 512, 32 * 1024);
  }

  abstract Session session();

  abstract FrameRules rules();

  /** Does the program's next step. */
  abstract void act(int operation);

  /** Nothing that the session's bounds are about has gone beyond them. */
  abstract void checkBounds();

  /** The session under test wants to come to its end. */
  abstract void drain();

  /** Ends what is under way above the session, and then the session; looks at what is left. */
  abstract void finish();

  /** Runs the whole program. */
  final void run() {
    final Thread thread = Thread.currentThread();
    final Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
    thread.setUncaughtExceptionHandler((in, t) -> uncaught.add(t));
    try {
      bystander.call(3);
      step(false);
      while (!input.isAtEnd() && !session().hasEnded()) {
        act(input.next(16));
        checkUncaught();
      }
      if (held) {
        holdOrLeave();
      }
      step(true);
      bystander.call(40);
      bystander.assertServed();
      finish();
      bystander.call(5);
      bystander.assertServed();
      checkUncaught();
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
    FuzzCounts.execution();
  }

  private void checkUncaught() {
    if (!uncaught.isEmpty()) {
      throw new AssertionError("thrown in a callback", uncaught.get(0));
    }
  }

  /** A round of a poller, which takes some time. */
  final void round(Poller poller) {
    nowNs += ROUND_NS;
    try {
      poller.serveNested();
      poller.doWork();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A round of the poller under test. */
  final void step(boolean rung) {
    observe(
        rung,
        () -> {
          if (rung) {
            hostileEnd().ringDoorbell();
            doorbell.poll();
          }
          round(poller);
        });
  }

  /** Another thread takes the session, or does what was asked of it meanwhile and leaves. */
  private void holdOrLeave() {
    if (held) {
      held = false;
      session().work(false);
      observe(false, this::leave);
    } else {
      held = session().tryAcquire();
    }
  }

  /** Leaves the session as the threads of its side do. */
  abstract void leave();

  final HeapQueuePair hostileEnd() {
    return server ? fabric.client() : fabric.server();
  }

  /** Does what polls the ring under attack, and compares what came of it with the rules. */
  final void observe(boolean polls, Runnable action) {
    final Session session = session();
    if (session.hasEnded()) {
      action.run();
      return;
    }
    final Judgement expected = rules().judge();
    final boolean changing = region.isChanging();
    final long before = session.pollPosition();
    taken.clear();
    region.watch();
    action.run();
    region.unwatch();
    final String end = held ? null : session.endReason(); // told when it is let go
    final boolean polled = (polls && !held) || end != null || session.pollPosition() != before;
    if (polled) {
      FuzzCounts.frames(expected.frames());
      FuzzCounts.units(expected.units().size());
    }
    if (!changing && slots() <= JUDGED_SLOTS && polled) {
      compare(expected, end);
    } else if (VIOLATION.equals(end) && expected.reject() != null && !changing) {
      FuzzCounts.reject(expected.reject());
    }
    if (FALSE_CREDIT.equals(end)) {
      FuzzCounts.reject(Reject.CONTROL_LINE);
    }
    if (end != null) {
      assertTrue(ENDS.contains(end), end);
      if (ends.isEmpty()) {
        round(poller); // found out as the poller went to sleep, which it does not then
      }
      assertEquals(List.of(end), ends);
    }
    assertTrue(region.accesses() <= MAX_ACCESSES, () -> "accesses=" + region.accesses());
    checkBounds();
  }

  private int slots() {
    return (server ? geometry.requestRingLength() : geometry.responseRingLength())
        / FrameDescriptor.SLOT_LENGTH;
  }

  private void compare(Judgement expected, String end) {
    if (end != null && !VIOLATION.equals(end) && DEPENDS_ON_OUTPUT.contains(expected.reject())) {
      return; // what waited for room was sent before the last look at the ring
    }
    if (expected.reject() != null) {
      assertNotNull(end, () -> "went on after " + expected);
      FuzzCounts.reject(expected.reject());
    } else {
      assertTrue(!VIOLATION.equals(end), () -> "ended after " + expected);
    }
    assertEquals(expected.position(), session().pollPosition(), () -> "position after " + expected);
    assertEquals(expected.units(), taken, () -> "units of " + expected);
  }

  static Unit unit(Stream stream) {
    final UnitBuffer buffer = stream.inbound();
    final byte[] copy = new byte[buffer.length()];
    System.arraycopy(buffer.array(), buffer.offset(), copy, 0, copy.length);
    return new Unit(
        stream.id,
        stream.inboundFlags(),
        stream.inboundCode(),
        stream.inboundTotal(),
        stream.inboundDiscarded(),
        ByteBuffer.wrap(copy));
  }

  // What every hostile peer can do.

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
  }

  private boolean hasRoom(int length) {
    return ring.position() + ring.needed(length) - session().pollPosition() <= slots();
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
    return switch (input.next(8)) {
      case 0 -> input.nextShort();
      case 1 -> SessionSteps.UNIT ^ (1 << input.next(16));
      case 2 -> FrameDescriptor.CONTINUATION;
      case 3 -> FrameDescriptor.CONTINUATION | FrameDescriptor.PARTIAL;
      case 4 -> FrameDescriptor.CLOSE;
      case 5 -> SessionSteps.UNIT | FrameDescriptor.PARTIAL;
      case 6 -> FrameDescriptor.DRAIN;
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

  /** What does not depend on who the peer is. */
  final void actAlike(int operation) {
    switch (operation) {
      case 7 -> step(true);
      case 8 -> {
        nowNs += input.next() * 1_000L;
        step(false);
      }
      case 9 -> poke();
      case 10 -> ring.replay(input.next(), input.nextBoolean());
      case 11 -> {
        final int length = (int) (input.next() + input.nextError());
        ring.announce(length);
        if (input.nextBoolean()) {
          ring.commit(FrameDescriptor.slots(length & 0xFFFF));
        }
      }
      case 12 -> control();
      case 13 -> region.changeBefore(input.next(64), this::poke);
      case 14 -> bystander.call(input.next());
      default -> {
        switch (input.next(32)) {
          case 1 -> hostileEnd().close();
          case 2 -> hostileEnd().disconnect("lost");
          case 3 -> drain();
          case 4, 5, 6, 7 -> holdOrLeave();
          default -> bystander.step();
        }
      }
    }
  }
}
