package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapDoorbell;
import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.fabric.HeapQueuePair;
import dev.ringfetch.fabric.RegisteredMemory;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.FrameRules.Judgement;
import dev.ringfetch.session.FrameRules.TakenUnit;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * One side of a session whose peer is a fuzzer's program, beside a {@link Bystander} on the same
 * poller, in one thread under a clock of its own. What the program writes into the ring is judged
 * by {@link FrameRules} first; the session must come to the same verdict.
 */
abstract class HostileWorld extends HostilePeer {
  static final String VIOLATION = "the peer broke the protocol";
  static final String FALSE_CREDIT = "the peer acknowledged what was never sent";

  private static final Set<String> ENDS =
      Set.of(VIOLATION, FALSE_CREDIT, "peer closed", "lost", "test", "drained");

  /** What turns on how much the session has sent by then. */
  private static final Set<Reject> DEPENDS_ON_OUTPUT =
      EnumSet.of(
          Reject.ACK, Reject.BACKLOG, Reject.NOT_AWAITED, Reject.WINDOW, Reject.UPDATE_AHEAD);

  /** More than the longest program of judged rounds takes; see also the limit of copies. */
  private static final int MAX_ACCESSES = 4_000;

  private static final int OFFERED_LENGTH = 1024;

  private static final long ROUND_NS = 10_000; // doorbells are looked at after some of them

  private static final int JUDGED_SLOTS = 64; // what one poll takes

  final HeapFabric fabric;
  final Poller poller;
  final Bystander bystander;
  final List<String> ends = new ArrayList<>();
  final List<TakenUnit> taken = new ArrayList<>();

  private final HeapDoorbell doorbell;

  private boolean held; // by another thread, as it were

  private final List<Throwable> uncaught = new ArrayList<>();

  HostileWorld(FuzzInput input, boolean server) {
    super(input, server);
    fabric = card ? HeapFabric.ofCards(region) : new HeapFabric(region);
    doorbell = server ? fabric.serverDoorbell() : fabric.clientDoorbell();
    poller = new Poller(doorbell, context);
    bystander = new Bystander(this, poller, doorbell, server);
    FuzzCounts.session();
  }

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
        act(input.next(20));
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
  @Override
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
      held = session().driver.tryAcquire();
    }
  }

  /** True while another thread has the session: what was asked of it waits. */
  final boolean isHeld() {
    return held;
  }

  /** Leaves the session as the threads of its side do. */
  abstract void leave();

  final HeapQueuePair hostileEnd() {
    return server ? fabric.client() : fabric.server();
  }

  /** Offers memory, or what is none. */
  private void offerMemory() {
    try {
      final byte[] bytes = payload(OFFERED_LENGTH);
      final RegisteredMemory memory = hostileEnd().register(OFFERED_LENGTH);
      memory.region().putBytes(0, bytes, 0, bytes.length);
      final byte[] descriptor = memory.descriptor();
      descriptor[3] += (byte) input.nextError();
      write(0, BULK, 0, descriptor);
    } catch (IOException e) { // this end is closed
      step(false);
    }
  }

  /** Goes on with a chain: with bytes, or with the name of some in memory that was offered. */
  final void goOn(int id, boolean more, int length) {
    final int flags = CONTINUATION | (more ? PARTIAL : 0);
    final int offers = hostileEnd().registered().size();
    if (offers == 0 || input.nextBoolean()) {
      write(id, flags, 0, payload(length));
      return;
    }
    final byte[] name = new byte[input.next(32) == 31 ? input.next(20) : 16];
    if (name.length == 16) {
      ByteBuffer.wrap(name)
          .order(ByteOrder.LITTLE_ENDIAN)
          .putInt(input.next(offers) + (int) input.nextError())
          .putInt(length + (int) input.nextError())
          .putLong(input.next() * 4L + input.nextError());
    }
    write(id, flags | BULK, 0, name);
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
    if (!changing && isJudged() && polled) {
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

  /** What a client has fetched, and when, is not known here. */
  private boolean isJudged() {
    return slots() <= JUDGED_SLOTS && (server || !card);
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
    assertEquals(ordered(expected.units()), ordered(taken), () -> "units of " + expected);
  }

  /** In order, but between units of flows only where one stream's are: these are told later. */
  private static List<TakenUnit> ordered(List<TakenUnit> units) {
    final List<TakenUnit> ordered = new ArrayList<>(units);
    ordered.sort(Comparator.comparingLong(unit -> unit.flow() ? unit.id() : Long.MIN_VALUE));
    return ordered;
  }

  static TakenUnit unit(Stream stream) {
    return new TakenUnit(
        stream.id,
        false,
        stream.inboundFlags(),
        stream.inboundCode(),
        stream.inboundTotal(),
        stream.inboundDiscarded(),
        copy(stream.inbound()));
  }

  /** Takes a unit of a flow. */
  final void take(int id, Unit unit) {
    taken.add(
        new TakenUnit(
            id,
            true,
            unit.flags(),
            unit.code(),
            unit.total(),
            unit.discarded(),
            copy(unit.bytes())));
  }

  private static ByteBuffer copy(UnitBuffer buffer) {
    final byte[] copy = new byte[buffer.length()];
    System.arraycopy(buffer.array(), buffer.offset(), copy, 0, copy.length);
    return ByteBuffer.wrap(copy);
  }

  /** Operations that do not depend on the kind of peer. */
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
          case 8, 9 -> offerMemory();
          case 10 -> write(0, BULK, input.next(4), new byte[input.next(8)]);
          default -> bystander.step();
        }
      }
    }
  }
}
