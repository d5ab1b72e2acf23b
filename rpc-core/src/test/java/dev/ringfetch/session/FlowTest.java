package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SLOT_LENGTH;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlowTest {
  private static final int UPDATE_LENGTH = Flow.WINDOW_LENGTH / 4;

  private final Flow flow = new Flow();
  private final TestStream stream = new TestStream(1);

  /** A unit that takes this much of a window, if it has a message. */
  private static Unit unit(int flags, int cost) {
    final UnitBuffer bytes = new UnitBuffer();
    bytes.extend(cost - SLOT_LENGTH);
    return new Unit(flags, 7, bytes);
  }

  private static Unit message(int cost) {
    return unit(MESSAGE, cost);
  }

  private static Unit end() {
    return new Unit(SUFFIX, 3, new UnitBuffer());
  }

  private void receive(Unit unit) {
    assertTrue(flow.mayReceive(unit.flags()), "closed");
    flow.onUnit(unit, true);
  }

  /** Loads and sends as much as the window allows. How many units. */
  private int sendAll() {
    int sent = 0;
    while (flow.load(stream)) {
      assertTrue(flow.isLoaded());
      flow.onSent();
      assertFalse(flow.isLoaded());
      sent++;
    }
    return sent;
  }

  @Test
  void unitIsHandedToTheStreamAsItIs() {
    final Unit unit = unit(MESSAGE | SUFFIX, 100);
    stream.outboundSent = 5;
    stream.outboundBegun = true;
    assertFalse(flow.load(stream), "nothing is there");
    flow.offer(unit);
    assertTrue(flow.load(stream));
    assertSame(unit.bytes(), stream.outbound());
    assertEquals(MESSAGE | SUFFIX, stream.outboundFlags);
    assertEquals(7, stream.outboundCode);
    assertEquals(0, stream.outboundSent);
    assertFalse(stream.outboundBegun);
  }

  @Test
  void oneUnitAtATimeIsInHand() {
    flow.offer(message(100));
    final Unit second = message(200);
    flow.offer(second);
    assertTrue(flow.load(stream));
    assertFalse(flow.load(stream), "the first is not through");
    flow.onSent();
    assertTrue(flow.load(stream));
    assertSame(second.bytes(), stream.outbound());
  }

  @Test
  void messagesBeginWhileTheWindowIsOpen() {
    flow.offer(message(Flow.WINDOW_LENGTH - 1));
    flow.offer(message(10 * Flow.WINDOW_LENGTH)); // begins with one byte of room
    flow.offer(message(64));
    assertEquals(2, sendAll());
    final long begun = 11L * Flow.WINDOW_LENGTH - 1;
    assertTrue(flow.onUpdate(begun - Flow.WINDOW_LENGTH, 0));
    assertEquals(0, sendAll(), "a window is still under way");
    assertTrue(flow.onUpdate(begun - Flow.WINDOW_LENGTH + 1, 0));
    assertEquals(1, sendAll());
  }

  @Test
  void messageThatFillsTheWindowToTheByteClosesIt() {
    flow.offer(message(Flow.WINDOW_LENGTH));
    flow.offer(message(64));
    assertEquals(1, sendAll());
  }

  @Test
  void unitsWithoutAMessageNeedNoWindow() {
    flow.offer(message(2 * Flow.WINDOW_LENGTH));
    flow.offer(new Unit(PREFIX, 0, new UnitBuffer()));
    flow.offer(end());
    assertEquals(3, sendAll());
  }

  @Test
  void updatesNeitherGoBackNorAheadOfWhatWasSent() {
    flow.offer(message(1000));
    flow.offer(message(500));
    sendAll();
    assertFalse(flow.onUpdate(-1, 0));
    assertFalse(flow.onUpdate(1501, 0));
    assertTrue(flow.onUpdate(1000, 0));
    assertTrue(flow.onUpdate(1000, 0));
    assertFalse(flow.onUpdate(999, 0));
    assertTrue(flow.onUpdate(1500, 0));
  }

  @Test
  void readyIsWhoHasLittleInLine() {
    assertTrue(flow.isReady());
    flow.offer(message(Flow.READY_LENGTH - 1));
    assertTrue(flow.isReady());
    flow.offer(new Unit(PREFIX, 0, new UnitBuffer()));
    assertTrue(flow.isReady(), "that is no message");
    flow.offer(message(SLOT_LENGTH));
    assertFalse(flow.isReady());
    assertEquals(Flow.READY_LENGTH - 1 + SLOT_LENGTH, flow.queuedLength());
  }

  @Test
  void readinessEndsAtTheLimit() {
    flow.offer(message(Flow.READY_LENGTH));
    assertFalse(flow.isReady());
  }

  @Test
  void theLimitIsTheCalls() {
    flow.readyLength(1000);
    flow.offer(message(999));
    assertTrue(flow.isReady());
    flow.offer(message(SLOT_LENGTH));
    assertFalse(flow.isReady());
    flow.load(stream);
    assertTrue(flow.onSent(), "crossed");
    assertTrue(flow.isReady());
    flow.readyLength(2 * Flow.READY_LENGTH);
    flow.offer(message(Flow.READY_LENGTH));
    assertTrue(flow.isReady());
  }

  @Test
  void roomIsToldWhenTheLimitIsCrossed() {
    flow.offer(message(1000));
    flow.offer(new Unit(SUFFIX, 0, new UnitBuffer()));
    flow.offer(message(500));
    flow.offer(message(Flow.READY_LENGTH));
    flow.offer(message(100));
    final boolean[] expected = {false, false, false, true, false};
    for (final boolean room : expected) {
      assertFalse(flow.takeRoom());
      assertTrue(flow.load(stream));
      assertEquals(room, flow.onSent());
      assertEquals(room, flow.takeRoom());
    }
    assertFalse(flow.takeRoom(), "once");
    assertEquals(0, flow.queuedLength());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void roomIsWhatIsLessThanTheLimit(int less) {
    flow.offer(message(1000));
    flow.offer(message(Flow.READY_LENGTH - less));
    flow.load(stream);
    assertEquals(less == 1, flow.onSent());
    assertEquals(less == 1, flow.takeRoom());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void noRoomIsToldWhereThereAlwaysWasSome(int less) {
    flow.offer(message(Flow.READY_LENGTH - less));
    flow.load(stream);
    assertEquals(less == 0, flow.onSent());
  }

  @Test
  void whatIsDroppedIsNotSentNorWhatIsOfferedLater() {
    flow.offer(message(100));
    flow.offer(message(100));
    flow.load(stream);
    flow.updateDue = true;
    flow.dropOutbound();
    assertFalse(flow.isLoaded());
    assertFalse(flow.updateDue);
    assertFalse(flow.load(stream));
    flow.offer(end());
    assertFalse(flow.load(stream));
  }

  @Test
  void sentIsWhenItIsSaid() {
    assertFalse(flow.isUnderWay());
    flow.offer(end());
    sendAll();
    assertTrue(flow.isUnderWay());
    assertFalse(flow.isSent());
    flow.sentAll();
    assertTrue(flow.isSent());
    flow.dropOutbound();
    assertTrue(flow.isSent(), "for good");
  }

  @Test
  void lastUnitLeavesAfterTheFirstAndBeforeTheEnd() {
    assertThrows(IllegalStateException.class, flow::sentAll, "nothing has left");
    flow.offer(end());
    sendAll();
    flow.dropOutbound();
    assertThrows(IllegalStateException.class, flow::sentAll, "dropped");
    assertFalse(flow.isSent());
    assertTrue(flow.isUnderWay());
  }

  @Test
  void flowThatIsDroppedAtOnceWasNeverUnderWay() {
    flow.offer(end());
    flow.dropOutbound();
    flow.dropOutbound();
    assertFalse(flow.isUnderWay());
    assertFalse(flow.isSent());
  }

  @Test
  void noUnitFollowsTheLast() {
    receive(end());
    final Unit late = message(100);
    assertThrows(IllegalStateException.class, () -> flow.onUnit(late, true));
    assertEquals(0, flow.heldLength(), "counted");
  }

  @Test
  void callSeesWhatIsPublished() {
    final Unit first = message(100);
    final Unit second = message(100);
    receive(first);
    receive(second);
    flow.end(Outcome.ANSWERED);
    assertNull(flow.peek());
    assertNull(flow.outcome());
    flow.publish();
    assertEquals(Outcome.ANSWERED, flow.outcome());
    assertSame(first, flow.peek());
    assertSame(first, flow.peek());
    flow.remove();
    assertSame(second, flow.peek());
    flow.remove();
    assertNull(flow.peek());
    flow.publish();
    assertNull(flow.peek(), "twice");
  }

  @Test
  void firstEndThatWasPublishedCounts() {
    flow.end(Outcome.DEADLINE_EXCEEDED);
    flow.publish();
    flow.end(Outcome.SESSION_ENDED);
    flow.publish();
    assertEquals(Outcome.DEADLINE_EXCEEDED, flow.outcome());
  }

  @Test
  void whatWasNotPublishedIsNotTrusted() {
    final Unit seen = message(100);
    receive(seen);
    flow.publish();
    receive(message(100));
    flow.end(Outcome.ANSWERED);
    flow.distrust();
    flow.publish();
    assertSame(seen, flow.peek());
    flow.remove();
    assertNull(flow.peek());
    assertEquals(Outcome.SESSION_ENDED, flow.outcome());
  }

  @Test
  void endThatWasPublishedIsTrusted() {
    flow.end(Outcome.ANSWERED);
    flow.publish();
    flow.distrust();
    flow.publish();
    assertEquals(Outcome.ANSWERED, flow.outcome());
  }

  @Test
  void unitsOfNobodyAreCountedAndDropped() {
    flow.onUnit(message(100), false);
    flow.publish();
    assertNull(flow.peek());
    assertEquals(100, flow.heldLength());
  }

  @Test
  void peerBeginsOnceAndEndsOnce() {
    assertFalse(flow.mayReceive(0));
    assertFalse(flow.mayReceive(CONTINUATION));
    assertFalse(flow.mayReceive(CLOSE));
    assertTrue(flow.mayReceive(PREFIX));
    receive(new Unit(PREFIX, 0, new UnitBuffer()));
    assertFalse(flow.mayReceive(PREFIX));
    assertFalse(flow.mayReceive(PREFIX | MESSAGE | SUFFIX));
    assertTrue(flow.mayReceive(MESSAGE));
    assertTrue(flow.mayReceive(SUFFIX));
    receive(end());
    assertFalse(flow.mayReceive(MESSAGE));
    assertFalse(flow.mayReceive(SUFFIX));
  }

  @Test
  void nothingFollowsAClose() {
    flow.onUnit(new Unit(CLOSE, 4, new UnitBuffer()), true);
    assertFalse(flow.mayReceive(MESSAGE));
  }

  @Test
  void peerKeepsToTheWindow() {
    receive(message(Flow.WINDOW_LENGTH - 1));
    receive(message(2 * Flow.WINDOW_LENGTH));
    assertFalse(flow.mayReceive(MESSAGE));
    assertFalse(flow.mayReceive(MESSAGE | SUFFIX));
    assertTrue(flow.mayReceive(SUFFIX), "needs none");
  }

  @Test
  void windowGrowsWithTheMessagesThatAreConsumed() {
    final Unit first = message(100_000);
    receive(first);
    assertEquals(0, flow.grow(Long.MAX_VALUE), "nothing is consumed");
    assertTrue(flow.consume(first));
    flow.release();
    final long wanted = 4 * first.cost();
    assertEquals(0, flow.grow(wanted - Flow.WINDOW_LENGTH - 1), "no budget");
    assertEquals(wanted - Flow.WINDOW_LENGTH, flow.grow(wanted - Flow.WINDOW_LENGTH));
    assertEquals(0, flow.grow(Long.MAX_VALUE), "once");
    assertEquals(wanted, flow.untoldWindow());
    flow.onTold();
    assertEquals(0, flow.untoldWindow());
    receive(message((int) wanted - 1));
    assertTrue(flow.mayReceive(MESSAGE));
    receive(message(1));
    assertFalse(flow.mayReceive(MESSAGE));
    assertEquals(wanted - Flow.WINDOW_LENGTH, flow.grown());
  }

  @Test
  void windowGrowsToALimit() {
    final Unit first = message(Flow.MAX_WINDOW_LENGTH);
    receive(first);
    assertTrue(flow.consume(first));
    flow.release();
    flow.grow(Long.MAX_VALUE);
    assertEquals(Flow.MAX_WINDOW_LENGTH, flow.untoldWindow());
    assertTrue(flow.isUpdateUseful());
  }

  @Test
  void peerGrantsALongerWindow() {
    assertFalse(flow.onUpdate(0, Flow.WINDOW_LENGTH - 1));
    assertFalse(flow.onUpdate(0, Flow.MAX_WINDOW_LENGTH + 1));
    assertTrue(flow.onUpdate(0, Flow.MAX_WINDOW_LENGTH));
    assertFalse(flow.onUpdate(0, Flow.MAX_WINDOW_LENGTH - 1), "it grows only");
    flow.offer(message(Flow.MAX_WINDOW_LENGTH - 1));
    assertTrue(flow.load(stream));
    assertFalse(flow.isClosed());
    flow.onSent();
    flow.offer(message(1));
    assertTrue(flow.load(stream));
    assertTrue(flow.isClosed());
  }

  @Test
  void windowIsWhatThePeerWasToldOf() {
    final Unit first = message(Flow.WINDOW_LENGTH);
    receive(first);
    assertFalse(flow.mayReceive(MESSAGE));
    assertTrue(flow.consume(first));
    assertFalse(flow.isUpdateUseful(), "not looked at yet");
    assertEquals(Flow.WINDOW_LENGTH, flow.heldLength());
    assertEquals(Flow.WINDOW_LENGTH, flow.release());
    assertEquals(0, flow.heldLength());
    assertTrue(flow.isUpdateUseful());
    assertFalse(flow.mayReceive(MESSAGE), "not told yet");
    flow.updateDue = true;
    assertEquals(Flow.WINDOW_LENGTH, flow.consumedLength());
    flow.onTold();
    assertFalse(flow.updateDue);
    assertTrue(flow.mayReceive(MESSAGE));
    assertFalse(flow.isUpdateUseful());
    assertEquals(0, flow.release());
  }

  @Test
  void updateIsForAQuarterOfTheWindow() {
    final Unit most = message(UPDATE_LENGTH - SLOT_LENGTH);
    receive(most);
    assertFalse(flow.consume(most));
    flow.release();
    assertFalse(flow.isUpdateUseful());
    final Unit rest = message(SLOT_LENGTH);
    receive(rest);
    assertTrue(flow.consume(rest));
    flow.release();
    assertTrue(flow.isUpdateUseful());
  }

  @Test
  void peerThatHasEndedNeedsNoUpdate() {
    final Unit unit = unit(MESSAGE | SUFFIX, UPDATE_LENGTH);
    receive(unit);
    flow.consume(unit);
    assertEquals(UPDATE_LENGTH, flow.release());
    assertFalse(flow.isUpdateUseful());
  }

  @Test
  void requestThatIsThereIsNeitherCountedNorAddedTo() {
    final Unit request = unit(PREFIX | MESSAGE | SUFFIX, 5 * Flow.WINDOW_LENGTH);
    final Flow whole = Flow.ofRequest(request);
    assertSame(request, whole.peek());
    assertFalse(whole.consume(request));
    assertEquals(0, whole.heldLength());
    assertEquals(0, whole.release());
    assertFalse(whole.mayReceive(MESSAGE));
    assertFalse(whole.mayReceive(PREFIX));
    assertTrue(whole.isReady());
  }

  @Test
  void costOfAUnit() {
    assertEquals(SLOT_LENGTH, Unit.cost(MESSAGE, 0));
    assertEquals(SLOT_LENGTH + (long) Integer.MAX_VALUE, Unit.cost(MESSAGE, Integer.MAX_VALUE));
    assertEquals(0, Unit.cost(PREFIX | SUFFIX, 1000));
    assertTrue(end().has(SUFFIX | CLOSE));
    assertFalse(end().has(MESSAGE));
  }
}
