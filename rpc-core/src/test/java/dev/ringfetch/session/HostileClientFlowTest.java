package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.DRAIN;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.WINDOW_UPDATE;
import static dev.ringfetch.session.SessionSteps.UNIT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What no client may write of a stream of many units, and what that may cost. */
@Timeout(60)
class HostileClientFlowTest {
  private static final VarHandle HELD = FrameRules.field(HeldBytes.class, "length", long.class);
  private static final int LENGTH = 1_000; // of a message, of which 62 close the window

  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
  private final RingWriter writer = steps.hostileClient();

  private void write(int streamId, int flags, byte[] payload) {
    final int ack = (int) steps.geometry.responsePosition();
    int written = writer.write(streamId, flags, 0, ack, payload, 0, payload.length);
    if (written == RingWriter.INSUFFICIENT_CREDIT) {
      steps.settle();
      written = writer.write(streamId, flags, 0, ack, payload, 0, payload.length);
    }
    assertEquals(RingWriter.WRITTEN, written);
    steps.fabric.client().ringDoorbell();
  }

  private void write(int flags, int length) {
    write(1, flags, new byte[length]);
  }

  /** A chain's first frame. */
  private void announce(int streamId, int flags, int length) {
    final ByteBuffer first = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
    write(streamId, flags | PARTIAL, first.putInt(length).array());
  }

  /** A chain of frames of this length. */
  private void chain(int flags, int total) {
    announce(1, flags, total);
    for (int left = total - 60; left > 0; left -= 2_000) {
      write(CONTINUATION | (left > 2_000 ? PARTIAL : 0), Math.min(left, 2_000));
    }
  }

  private void update(long consumed) {
    final ByteBuffer payload = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
    write(1, WINDOW_UPDATE, payload.putLong(consumed).array());
  }

  private ServerCall begin() {
    write(PREFIX, 0);
    steps.settle();
    return steps.request();
  }

  private static Unit message(int length) {
    final UnitBuffer bytes = new UnitBuffer();
    bytes.extend(length);
    return new Unit(MESSAGE, 0, bytes);
  }

  private long held() {
    return (long) HELD.get(steps.server.held);
  }

  private void assertAlive() {
    steps.settle();
    assertNull(steps.server.endReason());
  }

  private void assertEnded() {
    steps.settle();
    assertEquals(List.of("the peer broke the protocol"), steps.serverEnds);
    assertEquals(0, held());
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        PREFIX,
        PREFIX | MESSAGE,
        PREFIX | NAMED,
        PREFIX | METADATA,
        PREFIX | MESSAGE | DEADLINE
      })
  void requestsThatGoOn(int flags) {
    write(flags, 8);
    write(MESSAGE, 3);
    write(MESSAGE | SUFFIX, 0);
    assertAlive();
    final Flow flow = steps.request().stream.flow();
    for (final int expected : new int[] {flags, MESSAGE, MESSAGE | SUFFIX}) {
      assertEquals(expected, flow.peek().flags());
      flow.remove();
    }
    assertNull(flow.peek());
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        0,
        PARTIAL,
        PREFIX,
        PREFIX | MESSAGE,
        UNIT,
        MESSAGE | DEADLINE,
        MESSAGE | METADATA,
        MESSAGE | NAMED,
        MESSAGE | 0x8000,
        MESSAGE | CLOSE,
        MESSAGE | WINDOW_UPDATE,
        SUFFIX | WINDOW_UPDATE,
        SUFFIX | DRAIN,
        CONTINUATION,
        CONTINUATION | PARTIAL,
        CONTINUATION | MESSAGE,
        DRAIN
      })
  void flagsThatNoLaterUnitHas(int flags) {
    final ServerCall call = begin();
    write(flags, 8);
    assertEnded();
    assertEquals(1, call.cancels);
  }

  @ParameterizedTest
  @ValueSource(ints = {MESSAGE, SUFFIX, MESSAGE | SUFFIX, MESSAGE | PARTIAL})
  void unitsBehindTheLast(int flags) {
    begin();
    write(SUFFIX, 0);
    assertAlive();
    write(flags, 8);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {MESSAGE, SUFFIX, WINDOW_UPDATE})
  void whatFollowsOnAWholeRequest(int flags) {
    write(UNIT, 8);
    assertAlive();
    write(flags, 8);
    assertEnded();
  }

  /** Though its answer has several units, its request has one. */
  @ParameterizedTest
  @ValueSource(ints = {MESSAGE, SUFFIX})
  void whatFollowsOnAWholeRequestOfAStreamingMethod(int flags) {
    write(UNIT, 8);
    steps.settle();
    steps.request().stream.openFlow();
    update(0);
    assertAlive();
    write(flags, 8);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {MESSAGE, SUFFIX, MESSAGE | PARTIAL})
  void unitWithinAChain(int flags) {
    begin();
    announce(1, MESSAGE, 100);
    write(flags, 8);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 9, 16})
  void updateOfAnotherLength(int length) {
    begin();
    write(WINDOW_UPDATE, length);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, -1, Long.MAX_VALUE, Long.MIN_VALUE})
  void updateOfWhatWasNeverSent(long consumed) {
    begin();
    update(0);
    assertAlive();
    update(consumed);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(longs = {163, 165, 0, -1, Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE + 100})
  void updateThatGoesBackOrAhead(long consumed) {
    steps.server.write(begin().stream, message(100));
    update(164);
    update(164);
    assertAlive();
    update(consumed);
    assertEnded();
  }

  @Test
  void updateWithinAChain() {
    final ServerCall call = begin();
    announce(1, MESSAGE, 100);
    update(0);
    write(CONTINUATION, 40);
    assertAlive();
    call.stream.flow().remove();
    assertEquals(100, call.stream.flow().peek().bytes().length());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 40, LENGTH})
  void moreThanTheWindow(int length) {
    final ServerCall call = begin();
    long sum = 0;
    while (sum < 65_536) {
      write(MESSAGE, length);
      sum += length + 64;
    }
    assertAlive();
    assertEquals(sum, held());
    update(0);
    assertAlive();
    write(MESSAGE, length);
    assertEnded();
    assertEquals(1, call.cancels);
  }

  @Test
  void endWhileTheWindowIsClosed() {
    begin();
    for (int i = 0; i < 62; i++) {
      write(MESSAGE, LENGTH);
    }
    write(SUFFIX, 8);
    assertAlive();
  }

  /** Whatever is announced: only what is in the way counts. */
  @Test
  void oneMessageBeyondTheWindow() {
    begin();
    chain(MESSAGE, 200_000);
    assertAlive();
    assertEquals(200_064, held());
    write(MESSAGE, 0);
    assertEnded();
  }

  @Test
  void consumedMessagesOpenTheWindow() {
    final ServerCall call = begin();
    final Flow flow = call.stream.flow();
    flow.remove();
    for (int round = 0; round < 10; round++) {
      for (int i = 0; i < 30; i++) { // a quarter of the window may not be told
        write(MESSAGE, LENGTH);
      }
      assertAlive();
      Unit unit;
      while ((unit = flow.peek()) != null) {
        flow.remove();
        steps.server.consumed(call.stream, unit);
      }
    }
    assertAlive();
    assertTrue(held() < 16 * 1024, "held=" + held());
    write(1, CLOSE, new byte[0]);
    assertAlive();
    steps.server.release(call.stream);
    assertEquals(0, held());
  }

  @Test
  void cancelledFlowIsHeldUntilTheHandlerLetsGo() {
    final ServerCall call = begin();
    write(MESSAGE, LENGTH);
    announce(1, MESSAGE, 500);
    write(CLOSE, 0);
    assertAlive();
    assertEquals(LENGTH + 64 + 500 + 64, held());
    steps.server.release(call.stream);
    assertEquals(0, held());
    assertEquals(1, call.cancels);
  }

  /** It is refused on its first frame, with one answer, and nothing of it is held. */
  @Test
  void tooLongAFirstMessage() {
    final long position = steps.server.writePosition();
    announce(1, PREFIX | MESSAGE, 2 << 20);
    write(CONTINUATION | PARTIAL, 2_000);
    assertAlive();
    assertEquals(0, held());
    assertEquals(2, steps.server.writePosition() - position, "slots of the answer");
    assertTrue(steps.requests.isEmpty());
  }

  /** Nobody tells when they were read: so they count to the end of their stream. */
  @Test
  void unitsWithoutAMessageAreHeldToo() {
    announce(2, PREFIX, 500_000);
    chain(PREFIX, 100_000);
    chain(SUFFIX, 50_000);
    assertAlive();
    assertEquals(650_000, held());
    final ServerCall call = steps.request();
    final UnitBuffer status = new UnitBuffer();
    steps.server.write(call.stream, new Unit(PREFIX | SUFFIX, 0, status));
    assertAlive();
    assertEquals(500_000, held());
    write(2, CLOSE, new byte[0]);
    assertAlive();
    assertEquals(0, held());
  }

  @ParameterizedTest
  @ValueSource(
      ints = {0, MESSAGE, SUFFIX, WINDOW_UPDATE, DRAIN, CLOSE, CLOSE | MESSAGE, 0x4000, 0x6000})
  void framesThatCrossedTheLastOneAreNoOffence(int flags) {
    final ServerCall call = begin();
    steps.server.write(call.stream, new Unit(PREFIX | SUFFIX, 0, new UnitBuffer()));
    assertTrue(call.stream.flow().isSent());
    write(flags, 3);
    assertAlive();
    write(0x10001, PREFIX, new byte[0]);
    write(flags, 3);
    write(0x10001, MESSAGE, new byte[1]);
    assertAlive();
    final Flow flow = steps.request().stream.flow();
    flow.remove();
    assertEquals(1, flow.peek().bytes().length());
  }
}
