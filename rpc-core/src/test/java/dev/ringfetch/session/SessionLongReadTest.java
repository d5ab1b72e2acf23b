package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.session.FlowSteps.bytesOf;
import static dev.ringfetch.session.FlowSteps.message;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.bulk.MemoryQuota;
import dev.ringfetch.session.bulk.ReadWindow;
import dev.ringfetch.session.bulk.Segment;
import dev.ringfetch.session.remote.ReplyPolicy;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Long messages of sessions whose sides have memory of their own: the receiver READs them out of
 * registered memory. The simulated cards read in small steps, in any order, and complete late.
 */
@Timeout(60)
class SessionLongReadTest {
  private static final int RING_LENGTH = 1024 * FrameDescriptor.SLOT_LENGTH;
  private static final int UNIT = PREFIX | MESSAGE | SUFFIX;
  private static final int MAX_LENGTH = 1 << 20;
  private static final int PART = 2 * ReadWindow.PIECE_LENGTH; // that a frame names
  private static final int LENGTH = 2 * PART;
  private static final int PIECES = LENGTH / ReadWindow.PIECE_LENGTH;
  private static final int ROUNDS = 200;
  private static final int PACE_NS = 1_000_000; // after which a poller looks at its doorbell

  private final List<byte[]> answers = new ArrayList<>();
  private final List<Outcome> ends = new ArrayList<>();
  private SessionContext context;
  private RemoteSteps steps;

  private static SessionContext options(ReplyPolicy mode) {
    return new SessionContext()
        .replyPolicy(mode)
        .bulkThreshold(1000)
        .bulkSegmentLength(PART)
        .bulkQuota(new MemoryQuota(1 << 30));
  }

  private void create(SessionContext options) throws IOException {
    context = options;
    steps = new RemoteSteps(options, RING_LENGTH, options.replyPolicy() == ReplyPolicy.DATAGRAM);
  }

  /** Both sides have attached memory of the other. */
  private void attached(ReplyPolicy mode) throws IOException {
    create(options(mode));
    assertNull(steps.client.bulk().allocate(1), "memory before it was asked for");
    assertNull(steps.server.bulk().allocate(1), "memory before it was asked for");
    settle();
    assertEquals(1, steps.server.exchange.attached().size());
    assertEquals(1, steps.client.exchange.attached().size());
  }

  /** Rounds of both sides, and all that the cards have to do; what was stored is visible. */
  private void settle() throws IOException {
    for (int i = 0; i < 12; i++) {
      steps.serverPair.memory().fullFence();
      steps.cards();
      steps.serverRound();
      steps.hintIsOverdue();
      steps.clientRound();
    }
  }

  private ClientStream send(byte[] request) {
    final ClientStream stream = steps.client.open();
    BulkSteps.put(steps.client, stream.outbound(), request);
    return send(stream);
  }

  private ClientStream send(ClientStream stream) {
    stream.prepare(this::closed, UNIT, 5, Stream.NO_DEADLINE, MAX_LENGTH);
    steps.client.send(stream);
    return stream;
  }

  private void closed(ClientStream stream, Outcome outcome) {
    ends.add(outcome);
    if (outcome == Outcome.ANSWERED) {
      answers.add(bytes(stream.inbound()));
      steps.client.recycle(stream);
    }
  }

  private static byte[] bytes(UnitBuffer unit) {
    return Arrays.copyOfRange(unit.array(), unit.offset(), unit.offset() + unit.length());
  }

  private byte[] request(int index) {
    return bytes(steps.requests.get(index).inbound());
  }

  private void respond(byte[] answer) {
    final ServerStream stream = steps.requests.remove(0);
    BulkSteps.put(steps.server, stream.outbound(), answer);
    steps.server.respond(stream, UNIT, 0, true);
  }

  /** Steps of the cards and rounds of the server, until it has so many requests. */
  private void requests(int count) throws IOException {
    for (int rounds = 0; steps.requests.size() < count; rounds++) {
      assertTrue(rounds < ROUNDS, "the request does not come");
      steps.cards();
      steps.serverRound();
      steps.clientRound();
    }
  }

  private long received(Session session) {
    return session.count(Counter.SESSION_BULK_RECEIVED);
  }

  /** The server has READs under way, and not one has completed. */
  private void untilServerReads() throws IOException {
    final long before = steps.serverPair.longReads();
    while (steps.serverPair.longReads() == before) {
      assertTrue(steps.card(), "nothing is read");
      steps.serverRound();
    }
    assertEquals(0, received(steps.server));
  }

  /** The client has READs under way. */
  private void untilClientReads() throws IOException {
    for (int i = 0; steps.clientPair.longReads() == 0; i++) {
      assertTrue(steps.card() || i < ROUNDS, "nothing is read");
      steps.clientRound();
    }
    assertEquals(0, received(steps.client));
  }

  private void assertGivenBack() throws IOException {
    settle();
    steps.client.driver.requestRound();
    steps.server.driver.requestRound();
    assertEquals(0, steps.client.bulk().usedLength(), "the client's");
    assertEquals(0, steps.server.bulk().usedLength(), "the server's");
  }

  @ParameterizedTest
  @EnumSource
  void messagesAreReadInBothDirections(ReplyPolicy mode) throws IOException {
    attached(mode);
    for (final int length : new int[] {1001, PART, PART + 1, LENGTH, 3 * PART + 77}) {
      final byte[] request = message(length, length);
      final byte[] answer = message(length, ~length);
      final long sent = steps.client.count(Counter.SESSION_BULK_SENT);
      final long answered = steps.server.count(Counter.SESSION_BULK_SENT);
      send(request);
      requests(1);
      assertArrayEquals(request, request(0), "length=" + length);
      respond(answer);
      for (int i = 0; answers.isEmpty(); i++) {
        assertTrue(i < ROUNDS, "the answer does not come: length=" + length);
        settle();
      }
      assertArrayEquals(answer, answers.remove(0), "length=" + length);
      assertEquals(length, steps.client.count(Counter.SESSION_BULK_SENT) - sent);
      assertEquals(length, steps.server.count(Counter.SESSION_BULK_SENT) - answered);
      assertGivenBack();
    }
    assertEquals(List.of(), steps.network.violations());
  }

  /** Neither begins nor ends at a word, as an application may have filled it. */
  @Test
  void bytesAtAnyOffsetAreRead() throws IOException {
    attached(ReplyPolicy.PUSH);
    for (int skip = 0; skip < 9; skip++) {
      final byte[] text = message(ReadWindow.PIECE_LENGTH + 13 + skip, skip);
      final Segment segment = steps.client.bulk().allocate(skip + text.length);
      segment.put(skip, text, 0, text.length);
      final ClientStream stream = steps.client.open();
      stream.outbound().addSegment(segment, skip, text.length);
      send(stream);
      requests(1);
      assertArrayEquals(text, request(0), "skip=" + skip);
      respond(new byte[1]);
      settle();
    }
    assertGivenBack();
  }

  /** Each step of a card is looked at. */
  @ParameterizedTest
  @EnumSource(names = {"FETCH", "PUSH"})
  void nothingIsDeliveredOrReleasedBeforeItHasArrived(ReplyPolicy mode) throws IOException {
    attached(mode);
    final byte[] request = message(LENGTH, 1);
    send(request);
    untilServerReads();
    while (steps.requests.isEmpty()) {
      final long received = received(steps.server);
      final long released = steps.server.delivery.ownControl.released();
      assertEquals(received / PART, released, "received=" + received);
      assertTrue(received < LENGTH, "delivered late");
      assertTrue(steps.client.bulk().usedLength() >= LENGTH - released * PART, "given back");
      assertTrue(steps.card(), "it does not come");
      steps.serverRound();
      steps.clientRound();
    }
    assertArrayEquals(request, request(0));
    assertEquals(LENGTH, received(steps.server));
    assertEquals(PIECES, steps.serverPair.longReads());
    assertEquals(LENGTH / PART, steps.server.delivery.ownControl.released());
  }

  /** While the answer is awaited the client fetches, and nothing is pushed to it. */
  @Test
  void clientThatFetchesLearnsWhatWasReleased() throws IOException {
    attached(ReplyPolicy.FETCH);
    send(message(LENGTH, 1));
    requests(1);
    steps.serverPair.memory().fullFence(); // stores come late to others
    final long pushed = steps.serverPair.lineWrites();
    for (int i = 0; steps.client.bulk().usedLength() > 0; i++) {
      assertTrue(i < 4, "it does not learn it");
      steps.cards();
      steps.clientRound();
    }
    assertEquals(pushed, steps.serverPair.lineWrites());
    final long lines = steps.clientPair.lineReads();
    steps.cards();
    steps.clientRound();
    steps.cards();
    steps.clientRound();
    assertEquals(lines, steps.clientPair.lineReads(), "it has learnt all");
  }

  /** A short message behind a long one waits for it; another call's does not. */
  @Test
  void messagesOfAStreamKeepTheirOrderAndOthersPass() throws IOException {
    attached(ReplyPolicy.PUSH);
    final byte[][] messages = {
      message(30_000, 1), message(5, 2), message(20_003, 3), message(7, 4), // within a window
    };
    final ClientStream stream = steps.client.open();
    final Unit first = new Unit(PREFIX, 5, new UnitBuffer());
    stream.prepareFlow(() -> {}, Stream.NO_DEADLINE, MAX_LENGTH, first);
    steps.client.send(stream);
    for (final byte[] text : messages) {
      steps.client.write(stream, BulkSteps.unit(steps.client, MESSAGE, text));
    }
    untilServerReads();
    send(message(9, 9));
    final List<byte[]> taken = new ArrayList<>();
    ServerStream other = null;
    for (int i = 0; taken.size() < messages.length; i++) {
      assertTrue(steps.card() || i < ROUNDS, "missing: " + (messages.length - taken.size()));
      steps.serverRound();
      steps.clientRound();
      for (final ServerStream one : steps.requests) {
        if (one.id == stream.id) {
          FlowSteps.takeAll(steps.server, one).stream()
              .filter(unit -> unit.bytes().length() > 0)
              .forEach(unit -> taken.add(bytesOf(unit)));
        } else if (other == null) {
          other = one;
          assertEquals(List.of(), taken, "the short call waits for the long message");
        }
      }
    }
    for (int i = 0; i < messages.length; i++) {
      assertArrayEquals(messages[i], taken.get(i), "message " + i);
    }
    assertNotNull(other);
    assertGivenBack();
  }

  /** Two calls whose long requests are named by turns: each gets its own. */
  @Test
  void readsOfSeveralCallsDoNotMix() throws IOException {
    attached(ReplyPolicy.FETCH);
    final byte[] one = message(LENGTH, 1);
    final byte[] two = message(LENGTH + 9, 2);
    send(one);
    send(two);
    requests(2);
    assertArrayEquals(one, request(0));
    assertArrayEquals(two, request(1));
    assertGivenBack();
  }

  /** What the device reads is not released before it has; what it need not read is not posted. */
  @Test
  void callThatEndsInTheMiddleOfAReadAwaitsTheDevice() throws IOException {
    attached(ReplyPolicy.PUSH);
    steps.mayEnd();
    final long timeoutNs = 1_000;
    final ClientStream stream = steps.client.open();
    stream.outbound().addLong(timeoutNs);
    BulkSteps.put(steps.client, stream.outbound(), message(4 * PART, 1)); // more than the window
    stream.prepare(this::closed, UNIT | DEADLINE, 5, Stream.NO_DEADLINE, MAX_LENGTH);
    steps.client.send(stream);
    untilServerReads();
    final long posted = steps.serverPair.longReads();
    assertTrue(posted < 2 * 4, "posted=" + posted);
    steps.pass(timeoutNs);
    steps.serverRound();
    steps.serverRound();
    assertFalse(steps.server.reads.isEmpty());
    assertEquals(0, steps.server.delivery.ownControl.released(), "the device still reads");
    while (!steps.server.reads.isEmpty()) {
      final long released = steps.server.delivery.ownControl.released();
      final long completed = steps.serverPair.completed();
      assertTrue(released <= completed * ReadWindow.PIECE_LENGTH / PART, "released=" + released);
      assertTrue(steps.card(), "it does not end");
      steps.serverRound();
    }
    assertEquals(4, steps.server.delivery.ownControl.released());
    assertEquals(posted, steps.serverPair.longReads(), "posted for nobody");
    assertEquals(List.of(), steps.requests);
    assertGivenBack();
    assertEquals(1, ends.size());

    final byte[] next = message(PART, 7);
    send(next);
    requests(1);
    assertArrayEquals(next, request(0));
  }

  @Test
  void clientThatDiesInTheMiddleOfAReadEndsTheSession() throws IOException {
    attached(ReplyPolicy.PUSH);
    steps.mayEnd();
    send(message(LENGTH, 1));
    untilServerReads();
    steps.clientProcess.kill(false);
    for (int i = 0; !steps.server.hasEnded(); i++) {
      assertTrue(i < ROUNDS, "it does not end");
      steps.card();
      steps.pass(PACE_NS);
      steps.serverRound();
    }
    assertEquals("the peer has died", steps.server.endReason());
    assertFalse(steps.server.isPeerAtFault());
    assertEquals(List.of(), steps.requests);
    assertTrue(steps.server.reads.isEmpty());
  }

  /** A stream is told of its end although its last message is not there. */
  @Test
  void serverThatDiesInTheMiddleOfAReadEndsTheCalls() throws IOException {
    attached(ReplyPolicy.FETCH);
    steps.mayEnd();
    send(new byte[9]);
    final ClientStream flow = steps.client.open();
    flow.prepareFlow(
        () -> {}, Stream.NO_DEADLINE, MAX_LENGTH, new Unit(PREFIX, 5, new UnitBuffer()));
    steps.client.send(flow);
    requests(2);
    steps.server.write(
        steps.requests.get(1), BulkSteps.unit(steps.server, MESSAGE | SUFFIX, message(LENGTH, 2)));
    respond(message(LENGTH, 1));
    untilClientReads();
    for (int i = 0; i < ROUNDS && steps.clientPair.longReads() == 0; i++) {
      steps.clientRound();
    }
    steps.serverProcess.kill(false);
    for (int i = 0; !steps.client.hasEnded(); i++) {
      assertTrue(i < ROUNDS, "it does not end");
      steps.card();
      steps.pass(PACE_NS);
      steps.clientRound();
    }
    assertEquals(List.of(Outcome.SESSION_ENDED), ends);
    assertEquals(Outcome.SESSION_ENDED, flow.flow.outcome());
    assertEquals(List.of("the peer has died"), steps.clientEnds);
  }

  /** Also the last message of a stream that has no call any more counts as a call's. */
  @Test
  void clientThatDrainsAwaitsItsReads() throws IOException {
    attached(ReplyPolicy.PUSH);
    steps.mayEnd();
    final byte[] answer = message(LENGTH, 3);
    final ClientStream flow = steps.client.open();
    flow.prepareFlow(
        () -> {}, Stream.NO_DEADLINE, MAX_LENGTH, new Unit(PREFIX, 5, new UnitBuffer()));
    steps.client.send(flow);
    requests(1);
    steps.server.write(
        steps.requests.get(0), BulkSteps.unit(steps.server, MESSAGE | SUFFIX, answer));
    untilClientReads();
    steps.client.drain("drained by the test");
    assertFalse(steps.client.hasEnded());
    for (int i = 0; !steps.client.hasEnded(); i++) {
      assertTrue(steps.card() || i < ROUNDS, "it does not end");
      steps.clientRound();
    }
    assertEquals(List.of("drained by the test"), steps.clientEnds);
    final List<Unit> units = FlowSteps.takeAll(steps.client, flow);
    assertEquals(1, units.size());
    assertArrayEquals(answer, bytesOf(units.get(0)));
    assertEquals(Outcome.ANSWERED, flow.flow.outcome());
  }

  /** No ring comes with a completion. */
  @Test
  void pollersStayAwakeWhileTheyRead() throws IOException {
    attached(ReplyPolicy.PUSH);
    send(message(LENGTH, 1));
    untilServerReads();
    for (int i = 0; i < 5; i++) {
      steps.spinTimeIsOver();
      steps.serverRound();
      assertFalse(steps.server.inbox.isArmed());
    }
    requests(1);
    respond(message(LENGTH, 2));
    untilClientReads();
    for (int i = 0; i < 5; i++) {
      steps.spinTimeIsOver();
      steps.clientRound();
      assertFalse(steps.client.inbox.isArmed());
    }
    settle();
    assertEquals(1, answers.size());
  }

  /** The sender cannot register: its messages go as chains, and later as before. */
  @Test
  void senderWithoutMemorySendsChains() throws IOException {
    create(options(ReplyPolicy.PUSH));
    steps.clientPair.refuseMemory(true);
    final byte[] request = message(LENGTH, 1);
    send(request);
    requests(1);
    assertArrayEquals(request, request(0));
    assertEquals(0, steps.client.count(Counter.SESSION_BULK_SENT));
    assertEquals(1, steps.client.count(Counter.SESSION_BULK_REFUSED));
    assertEquals(0, context.bulkQuota().reserved());

    steps.clientPair.refuseMemory(false);
    steps.pass(1_000_000_000);
    assertNull(steps.client.bulk().allocate(1));
    settle();
    assertEquals(1, steps.server.exchange.attached().size());
  }

  /** The receiver has no memory to read into, or none is left of its quota. */
  @ParameterizedTest
  @EnumSource(names = {"FETCH", "PUSH"})
  void receiverWithoutMemoryGetsChains(ReplyPolicy mode) throws IOException {
    for (final boolean quota : new boolean[] {false, true}) {
      final SessionContext options = options(mode).bulkLength(1 << 20);
      create(quota ? options.bulkQuota(new MemoryQuota(1 << 20)) : options);
      steps.serverPair.refuseMemory(!quota);
      for (int i = 0; i < 3; i++) {
        final byte[] request = message(LENGTH, i);
        send(request);
        requests(1);
        assertArrayEquals(request, request(0));
        respond(new byte[1]);
        settle();
      }
      assertEquals(0, steps.client.count(Counter.SESSION_BULK_SENT));
      assertEquals(1, steps.server.count(Counter.SESSION_BULK_REFUSED));
      assertEquals(0, steps.server.exchange.attached().size());
      assertEquals(0, steps.serverPair.longReads());
      assertEquals(1 << 20, context.bulkQuota().reserved(), "of the client, while it lasts");
    }
  }

  @Test
  void endedSessionGivesItsQuotaBack() throws IOException {
    attached(ReplyPolicy.PUSH);
    steps.mayEnd();
    assertTrue(context.bulkQuota().reserved() > 0);
    steps.client.end("over");
    for (int i = 0; !steps.server.hasEnded(); i++) {
      assertTrue(i < ROUNDS, "it does not end");
      steps.card();
      steps.pass(PACE_NS);
      steps.serverRound();
    }
    assertEquals(0, context.bulkQuota().reserved());
  }

  /** The send queue has no room for a READ: it is posted later. */
  @Test
  void fullSendQueueDelaysTheRead() throws IOException {
    attached(ReplyPolicy.PUSH);
    final byte[] request = message(LENGTH, 1);
    send(request);
    steps.cards();
    steps.serverPair.refuse(3);
    requests(1);
    assertArrayEquals(request, request(0));
  }
}
