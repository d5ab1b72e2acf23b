package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.DESCRIPTION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.WINDOW_UPDATE;
import static dev.ringfetch.session.SessionSteps.UNIT;
import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What no server may write of a stream of many units, and to a call that takes one. */
@Timeout(60)
class HostileServerFlowTest {
  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
  private ClientStream stream;
  private Call unary;
  private RingWriter writer;

  @BeforeEach
  void start() {
    unary = steps.send(bytes(4, 1));
    stream = steps.client.open();
    stream.prepareFlow(() -> {}, Stream.NO_DEADLINE, 1 << 20, unit(PREFIX | MESSAGE, 100));
    steps.client.send(stream);
    steps.settle();
    assertEquals(2, steps.requests.size());
    writer = steps.hostileServer();
  }

  private static Unit unit(int flags, int length) {
    final UnitBuffer bytes = new UnitBuffer();
    bytes.extend(length);
    return new Unit(flags, 0, bytes);
  }

  private void write(int streamId, int flags, byte[] payload) {
    final int ack = (int) steps.geometry.requestPosition();
    int written = writer.write(streamId, flags, 0, ack, payload, 0, payload.length);
    if (written == RingWriter.INSUFFICIENT_CREDIT) {
      stepClient();
      written = writer.write(streamId, flags, 0, ack, payload, 0, payload.length);
    }
    assertEquals(RingWriter.WRITTEN, written);
    steps.fabric.server().ringDoorbell();
  }

  private void write(int flags, int length) {
    write(stream.id, flags, new byte[length]);
  }

  private void update(int streamId, long consumed) {
    final ByteBuffer payload = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
    write(streamId, WINDOW_UPDATE, payload.putLong(consumed).array());
  }

  /** Until all is read: one round takes some of it. */
  private void stepClient() {
    for (int i = 0; i < 20; i++) {
      steps.stepClient();
    }
  }

  private void assertAlive() {
    stepClient();
    assertNull(steps.client.endReason());
  }

  private void assertEnded() {
    final Outcome before = stream.flow().outcome();
    stepClient();
    assertEquals(List.of("the peer broke the protocol"), steps.clientEnds);
    assertEquals(before == null ? Outcome.SESSION_ENDED : before, stream.flow().outcome());
  }

  private int flagsAt(long position) {
    final int slots = steps.geometry.requestRingLength() / FrameDescriptor.SLOT_LENGTH;
    final int frame =
        ArenaDescriptor.REQUEST_RING_OFFSET
            + (int) (position & (slots - 1)) * FrameDescriptor.SLOT_LENGTH;
    return steps.fabric.region().getInt(frame + FrameDescriptor.FLAGS_OFFSET) & 0xFFFF;
  }

  private int unread() {
    int units = 0;
    while (stream.flow().peek() != null) {
      stream.flow().remove();
      units++;
    }
    return units;
  }

  @Test
  void responsesThatGoOn() {
    write(PREFIX | MESSAGE, 5);
    write(MESSAGE, 0);
    assertAlive();
    assertNull(stream.flow().outcome());
    write(SUFFIX | DESCRIPTION, 8);
    assertAlive();
    assertEquals(Outcome.ANSWERED, stream.flow().outcome());
    assertEquals(3, unread());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, DESCRIPTION, 0x8000, PARTIAL})
  void unitsOfNothing(int flags) {
    write(flags, 8);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {PREFIX, PREFIX | MESSAGE, PREFIX | SUFFIX})
  void prefixInALaterUnit(int flags) {
    write(MESSAGE, 8);
    assertAlive();
    write(flags, 8);
    assertEnded();
    assertEquals(1, unread());
  }

  @ParameterizedTest
  @ValueSource(ints = {MESSAGE, SUFFIX, CLOSE, WINDOW_UPDATE})
  void whatFollowsOnTheLast(int flags) {
    write(SUFFIX, 0);
    assertAlive();
    write(flags, 8);
    assertEnded();
    assertEquals(Outcome.ANSWERED, stream.flow().outcome());
  }

  @ParameterizedTest
  @ValueSource(ints = {CONTINUATION, CONTINUATION | PARTIAL, CONTINUATION | MESSAGE})
  void continuationOfNothing(int flags) {
    write(flags, 8);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 40, 1_000})
  void moreThanTheWindow(int length) {
    int count = 0;
    while (count * (length + 64L) < 65_536) {
      write(MESSAGE, length);
      count++;
    }
    assertAlive();
    assertEquals(count, unread()); // and tells nobody
    write(MESSAGE, length);
    assertEnded();
    assertEquals(0, unread());
  }

  @Test
  void endWhileTheWindowIsClosed() {
    for (int i = 0; i < 62; i++) {
      write(MESSAGE, 1_000);
    }
    write(SUFFIX, 0);
    assertAlive();
    assertEquals(Outcome.ANSWERED, stream.flow().outcome());
  }

  @Test
  void consumedMessagesOpenTheWindow() {
    for (int round = 0; round < 10; round++) {
      for (int i = 0; i < 30; i++) { // a quarter of the window may not be told
        write(MESSAGE, 1_000);
      }
      assertAlive();
      Unit unit;
      while ((unit = stream.flow().peek()) != null) {
        stream.flow().remove();
        steps.client.consumed(stream, unit);
      }
    }
    assertAlive();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 7, 9})
  void updateOfAnotherLength(int length) {
    write(WINDOW_UPDATE, length);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(longs = {163, 165, -1, Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE + 100})
  void updateThatGoesBackOrAhead(long consumed) {
    update(stream.id, 164);
    update(stream.id, 164);
    assertAlive();
    update(stream.id, consumed);
    assertEnded();
  }

  @Test
  void updateForACallOfOneUnit() {
    update(unary.stream.id, 0);
    assertEnded();
    assertEquals(Outcome.SESSION_ENDED, unary.outcome);
  }

  /** The call has ended, and learns it later: what it offers meanwhile is not sent. */
  @Test
  void updateOfACancelledCall() {
    assertTrue(steps.client.driver.tryAcquire());
    steps.client.cancel(stream);
    steps.client.write(stream, unit(MESSAGE, 10));
    steps.client.driver.releaseAndTell();
    steps.client.driver.drive();
    steps.client.write(stream, unit(MESSAGE, 10));
    final long position = steps.client.writePosition();
    update(stream.id, 164);
    assertAlive();
    assertEquals(position, steps.client.writePosition());
    assertEquals(0, unread());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, PREFIX, PREFIX | MESSAGE, MESSAGE, MESSAGE | 0x4000})
  void secondResponseOfACallOfOne(int flags) {
    final int id = unary.stream.id;
    final long position = steps.client.writePosition();
    write(id, flags, new byte[8]);
    assertAlive();
    assertEquals(position + 1, steps.client.writePosition());
    assertEquals(CLOSE, flagsAt(position), "its server is told");
    assertEquals(Outcome.TOO_MANY_RESPONSES, unary.outcome);
    for (int i = 0; i < 10; i++) { // until its CLOSE is answered
      write(id, MESSAGE, new byte[1_000]);
      write(id, PREFIX | MESSAGE | PARTIAL, new byte[] {100, 0, 0, 0, 1});
      write(id, CONTINUATION, new byte[99]);
    }
    assertAlive();
    assertEquals(0, unary.stream.inbound().length(), "kept");
    write(id, UNIT, new byte[8]);
    assertAlive();
    assertEquals(Outcome.TOO_MANY_RESPONSES, unary.outcome);
    assertEquals((1 << Stream.INDEX_BITS) + id, steps.client.open().id, "its index is free");
    write(id, UNIT, new byte[8]);
    assertEnded();
  }

  /** A call of one answer that takes a flow all the same, whose request has left. */
  private ClientStream answered() {
    final ClientStream open = steps.client.open();
    final UnitBuffer request = open.outbound();
    request.addInt(1);
    open.prepare(new Answered(), UNIT, 0, Stream.NO_DEADLINE, 1 << 20);
    steps.client.send(open);
    return open;
  }

  private static final class Answered implements ClientStream.AnswerListener {
    @Override
    public void onFlow(ClientStream told) {}

    @Override
    public void onClosed(ClientStream told, Outcome how) {}
  }

  @ParameterizedTest
  @ValueSource(ints = {PREFIX, PREFIX | MESSAGE, MESSAGE})
  void anAnswerOfSeveralUnitsBecomesAFlow(int flags) {
    final ClientStream answer = answered();
    final int id = answer.id;
    write(id, flags, new byte[8]);
    assertAlive();
    assertEquals(flags, answer.flow().peek().flags());
    write(id, MESSAGE, new byte[1_000]);
    write(id, SUFFIX, new byte[0]);
    assertAlive();
    assertEquals(Outcome.ANSWERED, answer.flow().outcome());
    write(id, UNIT, new byte[8]);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, DESCRIPTION, 0x8000, PARTIAL})
  void whatIsNoUnitBeginsNoFlow(int flags) {
    write(answered().id, flags, new byte[8]);
    assertEnded();
  }

  @Test
  void theWindowHoldsForAnAnswerToo() {
    final int id = answered().id;
    write(id, PREFIX | MESSAGE, new byte[1_000]);
    for (int i = 0; i < 61; i++) {
      write(id, MESSAGE, new byte[1_000]);
    }
    assertAlive();
    write(id, MESSAGE, new byte[1_000]);
    assertEnded();
  }

  @Test
  void anAnswerThatWasCancelledIsDropped() {
    final ClientStream answer = answered();
    final int id = answer.id;
    write(id, PREFIX | MESSAGE, new byte[8]);
    assertAlive();
    steps.client.cancel(answer);
    write(id, MESSAGE, new byte[8]);
    write(id, SUFFIX, new byte[0]);
    assertAlive();
    assertEquals(null, answer.flow().outcome(), "a call that has let go is told");
  }

  @Test
  void lateUnitsOfACancelledCallAreDropped() {
    steps.client.cancel(stream);
    write(PREFIX | MESSAGE, 1_000);
    write(MESSAGE, 1_000);
    assertAlive();
    assertEquals(0, unread());
    for (int i = 0; i < 60; i++) {
      write(MESSAGE, 1_000);
    }
    assertAlive();
    write(MESSAGE, 1_000); // though nobody reads, the window is the window
    stepClient();
    assertEquals(List.of("the peer broke the protocol"), steps.clientEnds);
    assertNull(stream.flow().outcome(), "a call that has let go is told");
  }
}
