package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.session.SessionSteps.UNIT;
import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.bulk.MemoryQuota;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions that share a budget of messages: it holds, nothing hangs, and nothing leaks. */
@Timeout(60)
class SessionBudgetTest {
  private static final Sizes SIZES = new Sizes(64 * 1024, 4 * 1024, 64, 1 << 20);
  private static final int LONG = 100_000;
  private static final long HOUR_NS = 3_600_000_000_000L;

  private static final int RESOURCE_EXHAUSTED = 8;
  private static final int FREE = HeldBytes.FREE_LENGTH;

  private final List<SessionSteps> sessions = new ArrayList<>();
  private MemoryQuota quota;

  private SessionSteps session() {
    final SessionSteps steps = new SessionSteps(SIZES, context -> context.messageQuota(quota));
    sessions.add(steps);
    return steps;
  }

  private SessionSteps session(long limit) {
    quota = new MemoryQuota(limit);
    return session();
  }

  private void settle() {
    sessions.forEach(SessionSteps::settle);
  }

  private void advance(long nanos) {
    sessions.forEach(steps -> steps.advance(nanos));
  }

  private static long roundUp(long bytes) {
    return (bytes + HeldBytes.STEP_LENGTH - 1) / HeldBytes.STEP_LENGTH * HeldBytes.STEP_LENGTH;
  }

  /** The bytes of all sessions beyond their free ones count, and never exceed the budget. */
  private void checkBudget(long limit, int longest) {
    long held = 0;
    for (final SessionSteps each : sessions) {
      held += Math.max(0, each.server.heldLength() - FREE);
    }
    assertTrue(held <= quota.reserved(), "more is held than counts");
    assertTrue(quota.reserved() < limit + roundUp(longest), () -> "reserved=" + quota.reserved());
  }

  @ParameterizedTest
  @CsvSource({"1, 16", "300000, 16", "1000000, 16", "2000000, 256"})
  void burstOfSessionsKeepsToTheBudget(long limit, int count) {
    final Random random = new Random(Long.getLong("ringfetch.seed", 1));
    quota = new MemoryQuota(limit);
    final List<Call> calls = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      final SessionSteps steps = session();
      for (int j = 0; j < 128 / count + 1; j++) {
        calls.add(steps.send(bytes(LONG, j)));
      }
    }
    for (int i = 0; !calls.stream().allMatch(Call::isOver); i++) {
      assertTrue(i < 10_000, "a session hangs");
      for (int j = 0; j < count; j++) {
        final SessionSteps steps = sessions.get(random.nextInt(count));
        steps.stepClient();
        steps.stepServer();
        if (!steps.requests.isEmpty() && random.nextInt(4) == 0) {
          steps.requests.remove(random.nextInt(steps.requests.size())).respond(bytes(10, 1));
        }
      }
      checkBudget(limit, LONG);
    }
    long waits = 0;
    for (final SessionSteps steps : sessions) {
      waits += steps.server.count(Counter.SESSION_BUDGET_WAITS);
    }
    assertNotEquals(0, waits);
    settle();
    assertEquals(0, quota.reserved());
  }

  /** Streams and calls that are taken, cancelled, late, or end with their session. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void nothingLeaksWhateverBecomesOfCalls(int seed) {
    final Random random = new Random(Long.getLong("ringfetch.seed", seed));
    final long limit = 4 * LONG;
    quota = new MemoryQuota(limit);
    final List<FlowSteps.Call> flows = new ArrayList<>();
    final List<Call> calls = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      session();
    }
    for (int i = 0; i < 3_000; i++) {
      final SessionSteps steps = sessions.get(random.nextInt(sessions.size()));
      final long timeoutNs = random.nextInt(3) == 0 ? 1000 : Stream.NO_DEADLINE;
      switch (random.nextInt(14)) {
        case 0 -> {
          if (!steps.client.hasEnded() && steps.client.callCount() < 20) {
            calls.add(steps.send(bytes(random.nextInt(LONG), i), timeoutNs));
          }
        }
        case 1 -> {
          if (!steps.client.hasEnded() && steps.client.callCount() < 20) {
            flows.add(new FlowSteps(steps).begin());
          }
        }
        case 2, 3 -> {
          if (!flows.isEmpty()) {
            final byte[] message = bytes(random.nextInt(random.nextInt(LONG) + 1), i);
            flows.get(random.nextInt(flows.size())).write(MESSAGE, message);
          }
        }
        case 4 -> {
          if (!flows.isEmpty() && random.nextInt(4) == 0) {
            flows.remove(random.nextInt(flows.size())).cancel();
          }
        }
        case 5 -> {
          if (!calls.isEmpty() && random.nextInt(4) == 0) {
            calls.remove(random.nextInt(calls.size())).cancel();
          }
        }
        case 6, 7 -> takeOne(steps, random);
        case 8 -> steps.advance(100);
        case 9 -> {
          if (random.nextInt(100) == 0) {
            steps.client.end("the test wants it");
          }
        }
        default -> {
          steps.stepClient();
          steps.stepServer();
        }
      }
      checkBudget(limit, LONG);
    }
    for (final SessionSteps steps : sessions) {
      steps.client.end("the test wants it");
      steps.settle();
      for (final ServerCall call : steps.requests) {
        steps.server.release(call.stream);
      }
      steps.settle();
      assertEquals(0, steps.server.heldLength());
    }
    assertEquals(0, quota.reserved());
  }

  private static void takeOne(SessionSteps steps, Random random) {
    if (steps.requests.isEmpty()) {
      return;
    }
    final ServerCall call = steps.requests.get(random.nextInt(steps.requests.size()));
    if (call.stream.flow != null) {
      FlowSteps.takeAll(steps.server, call.stream);
    } else {
      steps.requests.remove(call);
      call.respond(bytes(10, 1));
    }
  }

  @Test
  void shortMessagesTouchNoBudget() {
    final SessionSteps steps = session(1);
    assertTrue(quota.reserveShare(1, 0)); // another session's
    for (int i = 0; i < 8; i++) {
      steps.send(bytes(UnitBuffer.RETAINED_LENGTH, i));
    }
    final FlowSteps.Call stream =
        new FlowSteps(steps).begin(Stream.NO_DEADLINE, PREFIX | MESSAGE, new byte[1000]);
    stream.write(40); // not taken
    settle();
    assertEquals(9, steps.requests.size());
    steps.requests.subList(0, 8).forEach(ServerCall::echo);
    settle();
    assertEquals(1, quota.reserved());
    assertEquals(0, steps.server.count(Counter.SESSION_BUDGET_WAITS));
  }

  @Test
  void messagesOfStreamsCountBeyondAWindow() {
    final SessionSteps steps = session(1 << 20);
    final FlowSteps flows = new FlowSteps(steps);
    for (int i = 0; i < 8; i++) {
      flows.begin().write(32);
    }
    settle();
    assertEquals(roundUp(steps.server.heldLength() - FREE), quota.reserved());
    assertTrue(quota.reserved() > 0);
    for (int i = 0; i < 8; i++) {
      flows.served(i).takeAll();
    }
    settle();
    assertEquals(0, quota.reserved());
  }

  /** Few consumed bytes are worth no update of a window, and yet do not count. */
  @Test
  void consumedMessagesGiveTheirShareBackAtOnce() {
    final SessionSteps steps = session(1);
    final FlowSteps flows = new FlowSteps(steps);
    final List<FlowSteps.Call> calls = new ArrayList<>();
    final List<FlowSteps.Served> served = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      calls.add(flows.begin());
      settle();
      served.add(flows.served());
    }
    for (int round = 0; round < 2; round++) {
      calls.subList(0, 7).forEach(call -> call.write(MESSAGE, bytes(9_000, 1)));
      settle();
      assertEquals(0, quota.reserved());
      assertFalse(steps.server.held.isTight());
      calls.get(7).write(MESSAGE, bytes(9_000, 1));
      settle();
      assertEquals(HeldBytes.STEP_LENGTH, quota.reserved());
      assertTrue(steps.server.held.isTight());
      served.get(round).takeAll();
      settle();
      assertEquals(0, quota.reserved());
      assertFalse(steps.server.held.isTight());
      served.forEach(FlowSteps.Served::takeAll); // is not reported
      settle();
      calls.get(7).write(MESSAGE, bytes(9_000, 1)); // and is counted here
      settle();
      assertEquals(0, quota.reserved());
      served.get(7).takeAll();
      settle();
      assertEquals(0, steps.server.count(Counter.SESSION_BUDGET_WAITS));
    }
  }

  /** A session whose handlers do not read leaves the other half to the rest. */
  @Test
  void sessionThatHoldsMuchLeavesRoomForOthers() {
    final SessionSteps greedy = session(10 * LONG);
    for (int i = 0; i < 20; i++) {
      greedy.send(bytes(LONG, i));
    }
    settle();
    final int taken = greedy.requests.size();
    assertTrue(taken >= 5 && taken <= 7, "taken=" + taken);
    final SessionSteps other = session();
    for (int i = 0; i < 50; i++) {
      final Call call = other.send(bytes(LONG, i));
      settle();
      other.request().echo();
      settle();
      assertEquals(Outcome.ANSWERED, call.outcome);
    }
    assertEquals(taken, greedy.requests.size());
  }

  /** Time alone lets no message begin: one is released, and one begins. */
  @Test
  void waitEndsByARelease() {
    final SessionSteps stuck = session(1);
    stuck.send(bytes(2 * LONG, 1));
    settle();
    final SessionSteps first = session();
    final SessionSteps second = session();
    first.send(bytes(2 * LONG, 1));
    second.send(bytes(2 * LONG, 1));
    for (int i = 0; i < 100; i++) {
      settle();
      assertEquals(0, first.requests.size() + second.requests.size());
      advance(HOUR_NS);
    }
    stuck.request().respond(bytes(1, 1));
    settle();
    assertEquals(1, first.requests.size() + second.requests.size());
    (first.requests.isEmpty() ? second : first).request().respond(bytes(1, 1));
    settle();
    settle();
    assertEquals(1, first.requests.size() + second.requests.size());
  }

  @Test
  void cancelledCallThatWaitedGivesAllBack() {
    final SessionSteps steps = session(1);
    final Call held = steps.send(bytes(2 * LONG, 1));
    settle();
    final Call waiting = steps.send(bytes(2 * LONG, 2));
    final Call late = steps.send(bytes(2 * LONG, 3), 1000);
    settle();
    assertTrue(steps.server.intake.isWaiting());
    waiting.cancel();
    advance(1000);
    settle();
    assertEquals(Outcome.DEADLINE_EXCEEDED, late.outcome, "deadlines hold while the ring stands");
    held.cancel(); // stands behind the message that waits
    steps.request().respond(bytes(10, 1));
    settle();
    assertFalse(steps.server.intake.isWaiting());
    for (final ServerCall call : steps.requests) {
      steps.server.release(call.stream);
    }
    settle();
    assertEquals(0, quota.reserved());
    assertEquals(0, steps.server.heldLength());
  }

  @Test
  void waitingSessionLetsThePollersSleep() throws Exception {
    final SessionSteps steps = session(1);
    steps.send(bytes(2 * LONG, 1));
    steps.send(bytes(2 * LONG, 1));
    settle();
    final Poller poller = steps.serverPoller;
    advance(1_000_000);
    while (poller.doWork() != 0) {}
    assertTrue(poller.isIdle());
    final long sleepNs = poller.beginSleep(true);
    poller.endSleep();
    assertTrue(sleepNs > 0 && sleepNs <= 1_000_000, "sleeps for " + sleepNs);
    steps.request().respond(bytes(10, 1));
    settle();
    steps.request().respond(bytes(10, 1));
    settle();
    assertTrue(steps.server.inbox.isArmed(), "sleeps on its doorbell again");
  }

  /** As gRPC does: what flow control kept back is lost with the connection, calls are cancelled. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void endOfASessionDropsWhatWaits(boolean dead) {
    final SessionSteps other = session(2 * LONG);
    final SessionSteps steps = session();
    other.send(bytes(2 * LONG + FREE, 1));
    settle();
    final FlowSteps.Call call = new FlowSteps(steps).begin();
    settle();
    final FlowSteps.Served served = new FlowSteps(steps).served();
    call.write(MESSAGE, bytes(10, 1));
    call.write(MESSAGE | SUFFIX, bytes(LONG, 2));
    final Call unary = steps.send(bytes(LONG, 3));
    settle();
    assertTrue(steps.server.intake.isWaiting());
    if (dead) {
      steps.server.end("the peer has died");
    } else {
      steps.client.end("the test wants it");
    }
    settle();
    assertTrue(steps.server.hasEnded() && steps.client.hasEnded());
    assertEquals(List.of(0, 10), served.takeAll().stream().map(Unit::total).toList());
    assertEquals(1, served.cancels);
    assertTrue(steps.requests.isEmpty());
    assertEquals(Outcome.SESSION_ENDED, call.outcome());
    assertEquals(Outcome.NOT_SENT, unary.outcome, "sent after the stream's message");
    assertEquals(0, steps.server.heldLength());
    other.request().respond(bytes(1, 1));
    settle();
    assertEquals(0, quota.reserved());
  }

  /** Where nothing waits, an end delivers what was committed, as without a budget. */
  @Test
  void endOfASessionDeliversWhatHasRoom() {
    final SessionSteps steps = session(10 * LONG);
    final FlowSteps.Call call = new FlowSteps(steps).begin();
    settle();
    final FlowSteps.Served served = new FlowSteps(steps).served();
    call.write(MESSAGE | SUFFIX, bytes(50_000, 2));
    steps.send(bytes(3_000, 3));
    steps.client.end("the test wants it");
    settle();
    assertEquals(List.of(0, 50_000), served.takeAll().stream().map(Unit::total).toList());
    assertEquals(3_000, steps.request().request.length);
    assertEquals(1, served.cancels);
    assertEquals(0, quota.reserved());
  }

  @Test
  void endOfASessionGivesAllBack() {
    final SessionSteps steps = session(3 * LONG);
    final SessionSteps other = session();
    for (int i = 0; i < 10; i++) {
      steps.send(bytes(LONG, i));
    }
    settle();
    assertTrue(steps.server.intake.isWaiting());
    assertNotEquals(0, quota.reserved());
    steps.client.end("the test wants it");
    settle();
    assertEquals(0, quota.reserved());
    steps.requests.forEach(call -> call.respond(bytes(1, 1)));
    settle();
    assertEquals(0, quota.reserved(), "given back twice");
    other.send(bytes(LONG, 1));
    settle();
    assertEquals(1, other.requests.size());
  }

  /** Writes to a server's ring what no client of ours would. */
  private final class Hostile {
    final SessionSteps steps;
    final RingWriter writer;

    Hostile(SessionSteps steps) {
      this.steps = steps;
      this.writer = steps.hostileClient();
    }

    void write(int id, int flags, byte[] payload) {
      final int ack = (int) steps.client.pollPosition();
      assertEquals(RingWriter.WRITTEN, writer.write(id, flags, 5, ack, payload, 0, payload.length));
      writer.publish();
      steps.fabric.client().ringDoorbell();
      settle();
    }

    /** The first frame of a unit of 64 KiB times so much. */
    void begin(int id, int flags, int length) {
      final byte[] payload = new byte[100];
      payload[2] = (byte) length;
      write(id, flags | PARTIAL, payload);
    }

    /** The other frames of that unit. */
    void complete(int id, int length) {
      int left = (length << 16) - 96;
      for (; left > 4000; left -= 4000) {
        write(id, CONTINUATION | PARTIAL, new byte[4000]);
      }
      write(id, CONTINUATION, new byte[left]);
    }
  }

  /** A peer that announces a length and sends no more counts with all of it, until it ends. */
  @Test
  void announcedLengthCountsUntilTheSessionEnds() {
    final SessionSteps steps = session(10 * LONG);
    new Hostile(steps).begin(1, UNIT, 10);
    assertEquals(roundUp((10 << 16) - FREE), quota.reserved());
    steps.client.end("the test wants it");
    settle();
    assertEquals(0, quota.reserved());
  }

  @Test
  void unitThatBreaksARuleGivesAllBack() {
    final SessionSteps steps = session(10 * LONG);
    new Hostile(steps).begin(1, UNIT | FrameDescriptor.CLOSE, 10);
    assertNotEquals(null, steps.server.endReason());
    assertEquals(0, quota.reserved());
  }

  /** Where the rest of a unit stands behind another one, neither waits for the other. */
  @Test
  void unitBetweenFramesOfAnotherDoesNotWait() {
    final SessionSteps steps = session(LONG);
    final Hostile hostile = new Hostile(steps);
    hostile.write(1, PREFIX, new byte[1]);
    hostile.begin(2, UNIT, 2);
    hostile.begin(3, UNIT, 2);
    hostile.write(1, MESSAGE, new byte[UnitBuffer.RETAINED_LENGTH]);
    hostile.write(3, CONTINUATION | PARTIAL, new byte[100]);
    assertEquals(2, steps.requests.size() + 1, "the stream has begun");
    assertFalse(steps.server.intake.isWaiting());
    assertEquals(
        UnitBuffer.RETAINED_LENGTH,
        new FlowSteps(steps).served().takeAll().get(1).total(),
        "a short message passes");
    assertNull(steps.server.endReason());
    final ServerStream first = steps.server.streams.get(2);
    assertTrue(first.incoming.isPartial() && !first.incoming.isDiscarded());
    assertNull(steps.server.streams.get(3), "rejected");
    assertEquals(
        "messageBudget of the server is used up, and the rest of another long message is behind"
            + " this one: length=131072",
        steps.server.held.refusal(2 << 16));
    hostile.complete(2, 2);
    assertEquals(2 << 16, steps.request().request.length);
    hostile.write(1, MESSAGE, new byte[UnitBuffer.RETAINED_LENGTH]);
    assertTrue(steps.server.intake.isWaiting());
    steps.server.end("the test wants it");
    assertEquals(0, quota.reserved());
  }

  /** Where a session has exceeded its share, short requests go on. */
  @Test
  void requestThatDoesNotCountNeverWaits() {
    final SessionSteps steps = session(LONG);
    final Hostile hostile = new Hostile(steps);
    hostile.write(1, PREFIX, new byte[1]);
    hostile.begin(2, UNIT, 2);
    for (int i = 0; i < 2; i++) {
      hostile.write(1, MESSAGE, new byte[UnitBuffer.RETAINED_LENGTH]);
    }
    hostile.complete(2, 2);
    assertEquals(2, steps.requests.size());
    hostile.write(3, UNIT, new byte[UnitBuffer.RETAINED_LENGTH]);
    assertEquals(3, steps.requests.size());
  }

  /** A message that crossed the end of its stream is dropped, and needs no memory. */
  @Test
  void messageOfAStreamThatHasEndedDoesNotWait() {
    final SessionSteps steps = session(1);
    final SessionSteps other = session();
    final FlowSteps.Call call = new FlowSteps(steps).begin();
    settle();
    final ServerStream stream = steps.request().stream;
    other.send(bytes(LONG, 1));
    settle();
    call.write(MESSAGE, bytes(LONG, 1));
    steps.client.driver.drive();
    assertTrue(steps.server.driver.tryAcquire());
    steps.server.cancel(stream, RESOURCE_EXHAUSTED);
    steps.server.driver.releaseAndTell();
    steps.server.driver.drive();
    settle();
    steps.server.release(stream);
    settle();
    assertFalse(steps.server.intake.isWaiting());
    assertEquals(0, steps.server.count(Counter.SESSION_BUDGET_WAITS));
    other.request().respond(bytes(1, 1));
    settle();
    assertEquals(0, quota.reserved());
  }

  /** The limit of the session ends a call at once, whether or not the budget has room. */
  @Test
  void requestBeyondTheSessionsLimitDoesNotWait() {
    quota = new MemoryQuota(1);
    final SessionSteps steps =
        new SessionSteps(
            SIZES, context -> context.messageQuota(quota).maxHeldLength(2 * LONG + LONG / 2));
    steps.send(bytes(2 * LONG, 1));
    final Call beyond = steps.send(bytes(LONG, 2));
    steps.settle();
    assertEquals(Outcome.ANSWERED, beyond.outcome);
    assertEquals(RESOURCE_EXHAUSTED, beyond.code & 0xFF);
  }
}
