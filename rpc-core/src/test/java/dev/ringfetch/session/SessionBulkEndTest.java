package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.session.BulkSteps.SEGMENT_LENGTH;
import static dev.ringfetch.session.BulkSteps.unit;
import static dev.ringfetch.session.FlowSteps.bytesOf;
import static dev.ringfetch.session.FlowSteps.message;
import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.unit.Unit;
import java.lang.ref.Reference;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A call or its session ends while a long message is on its way, at every step of that: all memory
 * comes back, and other calls go on. The rings are short, so that half of a message can be in one.
 */
@Timeout(60)
class SessionBulkEndTest {
  private static final Sizes SIZES = new Sizes(1024, 512, 8, 1024 * 1024);
  private static final int LENGTH = 25 * SEGMENT_LENGTH - 7;
  private static final int POOL_LENGTH = 64 * SEGMENT_LENGTH;
  private static final int MESSAGES = 5;
  private static final int MESSAGE_LENGTH = 3 * SEGMENT_LENGTH + 7;
  private static final long TIMEOUT_NS = 1_000_000;

  private BulkSteps bulk;
  private SessionSteps steps;

  /** How it ends. */
  private enum End {
    CANCEL,
    DEADLINE,
    ABORT,
    END,
    DISCONNECT;

    boolean isOfSession() {
      return this == ABORT || this == END || this == DISCONNECT;
    }
  }

  private void start() {
    bulk = new BulkSteps(SIZES, POOL_LENGTH).attached();
    steps = bulk.steps;
  }

  private void end(End end, Runnable cancel) {
    switch (end) {
      case CANCEL -> cancel.run();
      case DEADLINE -> steps.advance(2 * TIMEOUT_NS);
      case ABORT -> steps.server.abort("over");
      case END -> steps.client.end("over");
      case DISCONNECT -> steps.fabric.client().disconnect("over");
    }
  }

  private void step(int number) {
    if (number % 2 == 0) {
      steps.stepServer();
    } else {
      steps.stepClient();
    }
  }

  private void check(End end, Call other) {
    steps.settle();
    while (!steps.requests.isEmpty()) {
      final ServerCall call = steps.requests.remove(0);
      if (call.cancels > 0) {
        bulk.respond(call, message(LENGTH, 9)); // for nobody
      } else {
        call.respond(bytes(1, call.request.length));
      }
      steps.settle();
    }
    bulk.assertGivenBack();
    if (end.isOfSession()) {
      assertEquals(1, steps.clientEnds.size());
      assertEquals(1, steps.serverEnds.size());
      assertTrue(other.isOver());
    } else {
      assertNull(steps.client.endReason());
      assertNull(steps.server.endReason());
      assertEquals(Outcome.ANSWERED, other.outcome);
      assertEquals(0, steps.server.heldLength());
      bulk.exchange(LENGTH);
      bulk.assertGivenBack();
    }
  }

  @ParameterizedTest
  @EnumSource(End.class)
  void whileARequestIsOnItsWay(End end) {
    boolean happened = true;
    int step = 0;
    for (; happened; step++) {
      start();
      final Call call = bulk.prepare(message(LENGTH, 1), TIMEOUT_NS);
      steps.client.send(call.stream);
      final Call other = steps.send(bytes(10, 1));
      for (int i = 0; i < step; i++) {
        step(i);
      }
      final int id = call.stream.id;
      happened = steps.requests.stream().noneMatch(request -> request.id == id);
      end(end, call::cancel);
      check(end, other);
      assertTrue(call.isOver());
    }
    assertTrue(step > 5, "steps=" + step);
  }

  /** What the ring has not taken goes back at once, not when the server has seen the cancel. */
  @Test
  void ofARequestThatIsCancelledHalfSent() {
    start();
    final Call call = bulk.prepare(message(LENGTH, 1), TIMEOUT_NS);
    steps.client.send(call.stream);
    steps.stepClient();
    final long before = steps.client.bulk().usedLength();
    call.cancel();
    steps.stepClient();
    final long after = steps.client.bulk().usedLength();
    assertTrue(after > 0 && after < before, () -> "before=" + before + " after=" + after);
    steps.stepServer();
    steps.stepClient(); // the ring takes the cancel
    steps.client.end("over");
    steps.settle();
    bulk.assertGivenBack(); // though nobody resets a stream of an ended session
  }

  /** Before anybody has sent it. */
  @ParameterizedTest
  @EnumSource(End.class)
  void beforeARequestIsSent(End end) {
    start();
    final Call call = bulk.prepare(message(LENGTH, 1), TIMEOUT_NS);
    final Call other = steps.send(bytes(10, 1));
    end(end, () -> {});
    call.cancelled = true;
    steps.client.cancel(call.stream);
    steps.client.send(call.stream);
    if (end.isOfSession()) {
      call.stream.outbound().releaseSegments(); // nobody resets a stream of an ended session
    }
    check(end, other);
  }

  @ParameterizedTest
  @EnumSource(End.class)
  void whileAResponseIsOnItsWay(End end) {
    boolean happened = true;
    int step = 0;
    for (; happened; step++) {
      start();
      final Call call = steps.send(bytes(1, 1), TIMEOUT_NS);
      steps.settle();
      final Call other = steps.send(bytes(10, 1));
      bulk.respond(steps.requests.remove(0), message(LENGTH, 2));
      for (int i = 0; i < step; i++) {
        step(i + 1);
      }
      happened = call.outcome == null;
      end(end, call::cancel);
      check(end, other);
      assertTrue(call.isOver());
      if (call.outcome == Outcome.ANSWERED && call.flags == SessionSteps.UNIT) {
        assertArrayEquals(message(LENGTH, 2), call.response);
      }
    }
    assertTrue(step > 5, "steps=" + step);
  }

  /** By a handler that learns of it only when it responds, if then. */
  @ParameterizedTest
  @EnumSource(End.class)
  void afterAResponseWasMarshalled(End end) {
    for (final boolean instead : new boolean[] {false, true}) {
      start();
      final Call call = steps.send(bytes(1, 1), TIMEOUT_NS);
      steps.settle();
      final ServerStream stream = steps.requests.remove(0).stream;
      final ServerStream carrier = instead ? ServerStream.substitute() : stream;
      try {
        BulkSteps.put(steps.server, carrier.outbound(), message(LENGTH, 2));
        assertTrue(steps.server.bulk().usedLength() > 0, "nothing to lose");
        end(end, call::cancel);
        steps.settle();
        if (instead) {
          steps.server.respondInstead(stream, carrier, SessionSteps.UNIT, 0);
        } else {
          steps.server.respond(stream, SessionSteps.UNIT, 0, true);
        }
        steps.settle();
        bulk.assertGivenBack();
        assertTrue(call.isOver());
      } finally {
        Reference.reachabilityFence(carrier); // it was not the collector
      }
    }
  }

  private FlowSteps.Call begin() {
    final FlowSteps.Call call = bulk.flows.begin(steps.nowNs() + TIMEOUT_NS, PREFIX, new byte[0]);
    steps.settle();
    return call;
  }

  private static void checkMessages(int from, List<Unit> units) {
    int seed = from;
    for (final Unit unit : units) {
      if ((unit.flags() & MESSAGE) != 0) {
        assertArrayEquals(message(MESSAGE_LENGTH, seed++), bytesOf(unit));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(End.class)
  void whileAStreamOfRequestsIsOnItsWay(End end) {
    boolean happened = true;
    int step = 0;
    for (; happened; step++) {
      start();
      final FlowSteps.Call call = begin();
      final FlowSteps.Served served = bulk.flows.served();
      assertEquals(PREFIX, served.take().flags());
      for (int i = 0; i < MESSAGES; i++) {
        steps.client.write(call.stream, unit(steps.client, MESSAGE, message(MESSAGE_LENGTH, i)));
      }
      final Call other = steps.send(bytes(10, 1));
      int came = 0;
      for (int i = 0; i < step; i++) {
        step(i);
        final List<Unit> units = served.takeAll();
        checkMessages(came, units);
        came += units.size();
      }
      happened = came < MESSAGES;
      end(end, call::cancel);
      steps.client.write(call.stream, unit(steps.client, MESSAGE, message(LENGTH, 1)));
      steps.settle();
      steps.client.write(call.stream, unit(steps.client, MESSAGE, message(LENGTH, 1)));
      steps.server.release(served.stream);
      check(end, other);
      assertEquals(1, served.cancels);
    }
    assertTrue(step > 5, "steps=" + step);
  }

  @ParameterizedTest
  @EnumSource(End.class)
  void whileAStreamOfResponsesIsOnItsWay(End end) {
    boolean happened = true;
    int step = 0;
    for (; happened; step++) {
      start();
      final FlowSteps.Call call = begin();
      final FlowSteps.Served served = bulk.flows.served();
      assertEquals(PREFIX, served.take().flags());
      for (int i = 0; i < MESSAGES; i++) {
        steps.server.write(
            served.stream,
            unit(steps.server, i == 0 ? PREFIX | MESSAGE : MESSAGE, message(MESSAGE_LENGTH, i)));
      }
      final Call other = steps.send(bytes(10, 1));
      int came = 0;
      for (int i = 0; i < step; i++) {
        step(i + 1);
        final List<Unit> units = call.takeAll();
        checkMessages(came, units);
        came += units.size();
      }
      happened = came < MESSAGES;
      end(end, call::cancel);
      steps.server.write(served.stream, unit(steps.server, MESSAGE, message(LENGTH, 1)));
      steps.settle();
      steps.server.write(served.stream, unit(steps.server, MESSAGE, message(LENGTH, 1)));
      steps.server.release(served.stream);
      check(end, other);
      assertEquals(1, served.cancels);
    }
    assertTrue(step > 5, "steps=" + step);
  }

  /** Nothing is pending of a stream but that its last message is being read. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whileTheLastMessageOfAStreamIsRead(boolean memoryIsGone) {
    start();
    final FlowSteps.Call call = begin();
    final FlowSteps.Served served = bulk.flows.served();
    served.take();
    final byte[] last = message(LENGTH, 1);
    steps.server.write(served.stream, unit(steps.server, PREFIX | MESSAGE | SUFFIX, last));
    while (call.stream.state != ClientStream.State.DONE) {
      steps.stepServer();
      steps.stepClient();
    }
    assertNull(call.outcome());
    if (memoryIsGone) {
      assertTrue(steps.client.driver.tryAcquire());
      steps.client.ending.failed(new InternalError("a fault of the test"));
      steps.client.driver.releaseAndTell();
      assertNull(call.take(), "half of it may be garbage");
      assertEquals(Outcome.SESSION_ENDED, call.outcome());
    } else {
      steps.client.end("over");
      assertArrayEquals(last, bytesOf(call.take()));
      assertEquals(Outcome.ANSWERED, call.outcome());
    }
    assertNull(call.take());
  }

  /** A request that is being read, and one behind it that is too long to be. */
  @Test
  void failureWithReadsInLineThatNobodyWants() {
    bulk = new BulkSteps(new Sizes(64 * 1024, 4096, 8, 20_000), POOL_LENGTH).attached();
    steps = bulk.steps;
    final Call read = bulk.send(message(19_000, 1));
    final Call dropped = bulk.send(message(LENGTH, 2));
    assertTrue(steps.server.driver.tryAcquire());
    steps.server.work(true);
    assertFalse(steps.server.reads.isEmpty());
    steps.server.ending.failed(new InternalError("a fault of the test"));
    steps.server.driver.releaseAndTell();
    assertEquals(
        List.of("session failed: java.lang.InternalError: a fault of the test"), steps.serverEnds);
    assertTrue(steps.requests.isEmpty());
    steps.settle();
    assertEquals(Outcome.SESSION_ENDED, read.outcome);
    assertTrue(dropped.isOver());
    bulk.assertGivenBack();
  }
}
