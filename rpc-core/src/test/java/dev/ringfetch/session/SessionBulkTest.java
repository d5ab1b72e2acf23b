package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.session.BulkSteps.POOL_LENGTH;
import static dev.ringfetch.session.BulkSteps.SEGMENT_LENGTH;
import static dev.ringfetch.session.BulkSteps.THRESHOLD;
import static dev.ringfetch.session.FlowSteps.bytesOf;
import static dev.ringfetch.session.FlowSteps.message;
import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.BulkSteps.Frame;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.bulk.BulkAccess;
import dev.ringfetch.session.bulk.Segment;
import dev.ringfetch.session.unit.SegmentOutput;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Long messages, which the peer reads out of registered memory: how they go over. */
@Timeout(60)
class SessionBulkTest {
  private static final int RESOURCE_EXHAUSTED = 8;
  private static final int LONG = 60_000; // nearly all that a pool has

  private static final int MAX_STEPS = 1000;
  private static final int SEVERAL_REGIONS = 4 * BulkAccess.REGION_LENGTH;

  private BulkSteps bulk = new BulkSteps(Sizes.ROOMY);
  private SessionSteps steps = bulk.steps;
  private int taken; // steps, of those that wait for something

  private void start(Sizes sizes, int poolLength) {
    bulk = new BulkSteps(sizes, poolLength);
    steps = bulk.steps;
  }

  private static List<Frame> ofSession(List<Frame> frames) {
    return frames.stream().filter(frame -> frame.streamId() == 0).toList();
  }

  @Test
  void firstGoesAsAChainAndMemoryIsOffered() {
    final long requests = steps.client.writePosition();
    final long responses = steps.server.writePosition();
    final byte[] request = message(20_000, 1);
    final Call call = bulk.send(request);
    assertEquals(1, steps.fabric.client().registered().size());
    assertFalse(steps.fabric.client().registered().get(0).isSettled());
    steps.settle();
    assertEquals(List.of(), bulk.bulkFrames(steps.client, requests));
    final List<Frame> offers = ofSession(bulk.frames(steps.client, requests));
    assertEquals(1, offers.size());
    assertEquals(BULK, offers.get(0).flags());
    assertEquals(0, offers.get(0).code());
    assertEquals(Integer.BYTES, offers.get(0).length());
    final List<Frame> answers = ofSession(bulk.frames(steps.server, responses));
    assertEquals(1, answers.size());
    assertEquals(BULK, answers.get(0).flags());
    assertEquals(1, answers.get(0).code());
    assertEquals(0, answers.get(0).length());
    assertTrue(steps.fabric.client().registered().get(0).isSettled());
    assertArrayEquals(request, steps.requests.get(0).request);
    steps.answerAll();
    assertArrayEquals(SessionSteps.answerTo(request), call.response);
    bulk.assertGivenBack();
    assertEquals(0, steps.fabric.server().registered().size(), "registered for nothing");
  }

  /** A message that comes before the answer does not use what is offered. */
  @Test
  void offerIsNotUsedBeforeItIsAnswered() {
    start(Sizes.ROOMY, SEVERAL_REGIONS);
    final long requests = steps.client.writePosition();
    final Call first = bulk.send(message(2_000, 1));
    final Call second = bulk.send(message(2_000, 2));
    assertEquals(List.of(), bulk.bulkFrames(steps.client, requests));
    assertEquals(1, steps.fabric.client().registered().size(), "one offer at a time");
    steps.answerAll();
    assertEquals(Outcome.ANSWERED, first.outcome);
    assertEquals(Outcome.ANSWERED, second.outcome);
    final long now = steps.client.writePosition();
    bulk.exchange(2_000);
    assertEquals(1, bulk.bulkFrames(steps.client, now).size());
  }

  /** The client has no call, and nobody polls for it: it is woken. */
  @Test
  void serverOffersToAClientThatSleeps() {
    assertNull(steps.server.bulk().allocate(1));
    assertTrue(steps.fabric.client().ringPending(), "not woken");
    steps.settle();
    assertEquals(1, steps.client.exchange.attached().size());
    assertEquals(BulkAccess.PAGE_LENGTH, allocated(steps.server));
  }

  private static long allocated(Session session) {
    session.bulk().allocate(1);
    return session.bulk().usedLength();
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        1,
        THRESHOLD - 1,
        THRESHOLD,
        THRESHOLD + 1,
        4_096,
        SEGMENT_LENGTH - 1,
        SEGMENT_LENGTH,
        SEGMENT_LENGTH + 1,
        3 * SEGMENT_LENGTH,
        3 * SEGMENT_LENGTH + 1,
        POOL_LENGTH - 1,
        POOL_LENGTH,
        POOL_LENGTH + 1, // the pool is dry in the middle
        2 * POOL_LENGTH - 5
      })
  void framesOfEveryLength(int length) {
    start(FlowSteps.WIDE, POOL_LENGTH);
    bulk.attached();
    for (int round = 0; round < 3; round++) {
      final long requests = steps.client.writePosition();
      final long responses = steps.server.writePosition();
      bulk.exchange(length);
      assertFrames(length, bulk.bulkFrames(steps.client, requests));
      assertFrames(length, bulk.bulkFrames(steps.server, responses));
      bulk.assertGivenBack();
    }
    assertEquals(1, steps.fabric.client().registered().size());
  }

  private static void assertFrames(int length, List<Frame> frames) {
    int left = length > THRESHOLD ? Math.min(length, POOL_LENGTH) : 0;
    long offset = 0;
    for (final Frame frame : frames) {
      final int expected = Math.min(left, SEGMENT_LENGTH);
      left -= expected;
      assertTrue(frame.has(CONTINUATION), frame.toString());
      assertEquals(left > 0 || length > POOL_LENGTH, frame.has(PARTIAL), frame.toString());
      assertEquals(16, frame.length());
      assertEquals(0, frame.region());
      assertEquals(expected, frame.bytes());
      assertEquals(offset, frame.offset());
      offset += SEGMENT_LENGTH;
    }
    assertEquals(0, left, "bytes that no frame names");
  }

  /** Headers before a message and trailers after it, each also longer than a frame. */
  @ParameterizedTest
  @CsvSource({
    "0, 5000, 0",
    "0, 5000, 1",
    "1, 5000, 0",
    "10, 5000, 20",
    "4056, 20000, 4064",
    "4060, 20000, 4060",
    "4064, 20000, 4068",
    "9000, 20000, 9000",
    "9000, 80000, 9000",
    "10, 80000, 0"
  })
  void sectionsAroundAMessage(int before, int length, int after) {
    start(FlowSteps.WIDE, POOL_LENGTH);
    checkSections(before, length, after, 4096);
    start(new Sizes(1024, 256, 8, 1024 * 1024), POOL_LENGTH); // nothing fits at once
    checkSections(before, length, after, 256);
  }

  private void checkSections(int before, int length, int after, int maxFrameLength) {
    bulk.attached();
    final long position = steps.client.writePosition();
    final byte[] whole = message(before + length + after, length);
    final Call call = steps.prepare(new byte[0], Stream.NO_DEADLINE);
    fill(steps.client, call.stream.outbound(), whole, before, length);
    steps.client.send(call.stream);
    for (final Frame frame : bulk.frames(steps.client, position)) {
      assertTrue(frame.length() <= maxFrameLength - FrameDescriptor.OVERHEAD, frame.toString());
    }
    steps.settle();
    final ServerCall served = steps.request();
    assertArrayEquals(whole, served.request);
    fill(steps.server, served.stream.outbound(), whole, before, length);
    steps.server.respond(served.stream, SessionSteps.UNIT, 0, true);
    steps.settle();
    assertArrayEquals(whole, call.response);
    bulk.assertGivenBack();
  }

  private static void fill(Session session, UnitBuffer unit, byte[] whole, int before, int length) {
    unit.addBytes(whole, 0, before);
    new SegmentOutput(unit, session.bulk(), length).write(whole, before, length);
    unit.addBytes(whole, before + length, whole.length - before - length);
    assertEquals(whole.length, unit.length());
  }

  @Test
  void shortCallOvertakesALongOne() {
    bulk.attached();
    final Call slow = bulk.send(message(LONG, 1));
    final Call quick = steps.send(bytes(10, 2));
    int rounds = 0;
    while (steps.requests.isEmpty()) {
      stepServer();
      rounds++;
    }
    assertEquals(quick.stream.id, steps.requests.get(0).id);
    assertEquals(1, steps.requests.size());
    while (steps.requests.size() < 2) {
      assertFalse(steps.server.reads.isEmpty());
      assertFalse(steps.server.inbox.isArmed(), "asleep with reads in line");
      assertFalse(steps.server.retire(), "asleep with reads in line");
      stepServer();
      rounds++;
    }
    assertTrue(rounds > 3, "rounds=" + rounds); // of two polls each
    respondSlowFirst();
    while (quick.outcome == null) {
      stepClient();
    }
    assertNull(slow.outcome);
    while (slow.outcome == null) {
      assertFalse(steps.client.inbox.isArmed(), "asleep with reads in line");
      stepClient();
    }
    assertArrayEquals(message(LONG, 3), slow.response);
    bulk.assertGivenBack();
  }

  private void stepServer() {
    countStep();
    steps.stepServer();
  }

  private void stepClient() {
    countStep();
    steps.stepClient();
  }

  private void countStep() {
    assertTrue(++taken < MAX_STEPS, "what is waited for never comes");
  }

  private void respondSlowFirst() {
    bulk.respond(steps.requests.remove(1), message(LONG, 3));
    bulk.respond(steps.requests.remove(0), message(10, 4));
  }

  /** No more is copied a round than a segment's length. */
  @Test
  void readsTakeTurns() {
    bulk.attached();
    bulk.send(message(LONG, 1));
    final int segments = (LONG + SEGMENT_LENGTH - 1) / SEGMENT_LENGTH;
    int rounds = 0;
    while (steps.requests.isEmpty()) {
      assertTrue(steps.server.driver.tryAcquire());
      steps.server.work(true);
      steps.server.driver.releaseAndTell();
      rounds++;
      assertEquals(rounds == segments, !steps.requests.isEmpty(), "round " + rounds);
    }
    assertEquals(segments, rounds);
  }

  /** Whatever the sender does to what it was given back, the message is the one that was sent. */
  @Test
  void whatIsGivenBackWasRead() {
    bulk.attached();
    bulk.send(message(LONG, 1));
    final List<Segment> reused = new ArrayList<>();
    while (steps.requests.isEmpty()) {
      countStep();
      assertTrue(steps.server.driver.tryAcquire());
      steps.server.work(true);
      steps.server.driver.releaseAndTell();
      steps.client.driver.requestRound();
      Segment segment;
      while ((segment = steps.client.bulk().allocate(SEGMENT_LENGTH)) != null) {
        segment.put(0, bytes(SEGMENT_LENGTH, 99), 0, SEGMENT_LENGTH);
        reused.add(segment);
      }
    }
    assertTrue(reused.size() >= POOL_LENGTH / SEGMENT_LENGTH - 1, "segments=" + reused.size());
    assertArrayEquals(message(LONG, 1), steps.requests.get(0).request);
    reused.forEach(Segment::release);
    bulk.assertGivenBack();
  }

  /** A caller that finds the pool empty makes the session check what the peer has read. */
  @Test
  void whatThePeerHasReadIsThereForWhoAsks() {
    bulk.attached();
    bulk.send(message(POOL_LENGTH, 1));
    while (steps.requests.isEmpty()) {
      stepServer();
    }
    assertEquals(POOL_LENGTH, steps.client.bulk().usedLength(), "nobody has looked");
    final Segment all = steps.client.bulk().allocate(POOL_LENGTH);
    assertEquals(POOL_LENGTH, all.length());
    all.release();
    bulk.assertGivenBack();
  }

  /** A client's poller that leaves with reads in line comes back for them. */
  @Test
  void pollerThatRetiresComesBackForReads() {
    start(Sizes.ROOMY, 64 * SEGMENT_LENGTH);
    bulk.attached();
    final Call call = bulk.send(bytes(1, 1));
    steps.settle();
    final byte[] response = message(60 * SEGMENT_LENGTH, 1);
    bulk.respond(steps.request(), response);
    assertTrue(steps.client.retire());
    assertNull(call.outcome);
    assertFalse(steps.client.reads.isEmpty());
    assertFalse(steps.client.inbox.isArmed(), "asleep with reads in line");
    steps.settle();
    assertArrayEquals(response, call.response);
  }

  @Test
  void messagesOfAStreamStayInOrder() {
    start(new Sizes(64 * 1024, 4096, 8, 1024 * 1024), POOL_LENGTH);
    bulk.attached();
    final FlowSteps.Call call = bulk.flows.begin();
    steps.settle();
    final FlowSteps.Served served = bulk.flows.served();
    served.take();
    final int[] lengths = {20_000, 10, 30_000, 0, 5_000};
    for (int i = 0; i < lengths.length; i++) {
      final int flags = MESSAGE | (i == lengths.length - 1 ? SUFFIX : 0);
      steps.client.write(call.stream, BulkSteps.unit(steps.client, flags, message(lengths[i], i)));
      steps.server.write(
          served.stream,
          BulkSteps.unit(
              steps.server, MESSAGE | (i == 0 ? PREFIX : 0), message(lengths[i], i + 50)));
    }
    steps.stepServer();
    assertNull(served.take(), "a short message overtakes a long one of its stream");
    steps.stepClient();
    assertNull(call.take(), "a short message overtakes a long one of its stream");
    assertNull(call.outcome());
    for (int i = 0; i < lengths.length; i++) {
      assertArrayEquals(message(lengths[i], i), bytesOf(await(served)), "request " + i);
    }
    steps.server.write(served.stream, new Unit(SUFFIX, 3, new UnitBuffer())); // behind the reads
    for (int i = 0; i < lengths.length; i++) {
      assertArrayEquals(message(lengths[i], i + 50), bytesOf(await(call)), "response " + i);
    }
    assertEquals(SUFFIX, await(call).flags());
    assertEquals(Outcome.ANSWERED, call.outcome());
    bulk.assertGivenBack();
  }

  private Unit await(FlowSteps.Served served) {
    steps.settle();
    return served.take();
  }

  private Unit await(FlowSteps.Call call) {
    steps.settle();
    return call.take();
  }

  @Test
  void tooLongARequestIsReadByNobody() {
    start(new Sizes(64 * 1024, 4096, 8, 20_000), 4 * POOL_LENGTH);
    bulk.attached();
    final Call call = bulk.send(message(50_000, 1));
    steps.settle();
    assertEquals(RESOURCE_EXHAUSTED, call.code);
    assertTrue(steps.requests.isEmpty());
    bulk.assertGivenBack();
    bulk.exchange(19_000);
    bulk.assertGivenBack();
  }

  @Test
  void tooLongAResponseIsReadByNobody() {
    start(Sizes.ROOMY, 2 * 1024 * 1024);
    bulk.attached();
    final Call call = bulk.send(bytes(1, 1));
    final Call other = bulk.send(bytes(2, 1));
    steps.settle();
    bulk.respond(steps.requests.remove(0), bytes(1_200_000, 1));
    bulk.respond(steps.requests.remove(0), message(100_000, 1));
    steps.settle();
    assertTrue(call.discarded);
    assertEquals(0, call.response.length);
    assertArrayEquals(message(100_000, 1), other.response);
    bulk.assertGivenBack();
  }

  @Test
  void tooLongAMessageOfAStreamIsReadByNobody() {
    start(new Sizes(64 * 1024, 4096, 8, 20_000), 4 * POOL_LENGTH);
    bulk.attached();
    final FlowSteps.Call call = bulk.flows.begin();
    steps.settle();
    final FlowSteps.Served served = bulk.flows.served();
    served.take();
    steps.client.write(call.stream, BulkSteps.unit(steps.client, MESSAGE, bytes(50_000, 1)));
    steps.settle();
    final Unit unit = served.take();
    assertTrue(unit.discarded());
    assertEquals(50_000, unit.total());
    assertEquals(0, unit.bytes().length());
    steps.client.write(call.stream, BulkSteps.unit(steps.client, MESSAGE, message(15_000, 1)));
    steps.settle();
    assertArrayEquals(message(15_000, 1), bytesOf(served.take()));
    bulk.assertGivenBack();
  }

  @Test
  void refusedMemoryIsNotOfferedAgain() {
    start(Sizes.ROOMY, SEVERAL_REGIONS);
    final Call call = bulk.send(message(20_000, 1));
    steps.fabric.client().registered().get(0).settled(); // nothing is found any more
    steps.answerAll();
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertEquals(0, steps.server.exchange.attached().size());
    for (int i = 0; i < 3; i++) {
      steps.advance(TimeUnit.SECONDS.toNanos(10));
      final long requests = steps.client.writePosition();
      bulk.exchange(20_000);
      assertEquals(List.of(), bulk.bulkFrames(steps.client, requests));
      assertEquals(1, steps.fabric.client().registered().size(), "offered again");
    }
    assertEquals(1, steps.client.exchange.attached().size(), "the other direction has its own");
    assertNull(steps.client.endReason());
  }

  @Test
  void memoryThatCannotBeRegisteredIsAskedForLater() {
    steps.fabric.client().refuseMemory(true);
    bulk.exchange(20_000);
    assertEquals(0, steps.fabric.client().registered().size());
    steps.fabric.client().refuseMemory(false);
    steps.advance(TimeUnit.SECONDS.toNanos(1) - 1);
    bulk.exchange(20_000);
    assertEquals(0, steps.fabric.client().registered().size(), "asked for too soon");
    steps.advance(1);
    bulk.exchange(20_000);
    assertEquals(1, steps.fabric.client().registered().size());
    final long requests = steps.client.writePosition();
    bulk.exchange(20_000);
    assertEquals(3, bulk.bulkFrames(steps.client, requests).size());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void drainWaitsForReads(boolean byServer) {
    bulk.attached();
    final Call call = bulk.send(bytes(1, 1));
    steps.settle();
    bulk.respond(steps.request(), message(LONG, 1));
    steps.stepClient();
    assertFalse(steps.client.reads.isEmpty());
    if (byServer) {
      steps.server.drain();
    } else {
      steps.client.drain();
    }
    assertNull(steps.client.endReason());
    steps.settle();
    assertArrayEquals(message(LONG, 1), call.response);
    assertEquals(List.of("drained"), steps.clientEnds);
    bulk.assertGivenBack();
  }

  /** What was committed when a session ends is answered, also if it was not read yet. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void endReadsWhatIsInLine(int rounds) {
    bulk.attached();
    final Call call = bulk.send(bytes(1, 1));
    steps.settle();
    bulk.respond(steps.request(), message(LONG, 1));
    for (int i = 0; i < rounds; i++) {
      steps.stepClient();
    }
    assertNull(call.outcome);
    steps.client.end("over");
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertArrayEquals(message(LONG, 1), call.response);
  }

  /** What was offered when a session ended cannot be attached any more. */
  @Test
  void offerEndsWithItsSession() {
    assertNull(steps.client.bulk().allocate(1));
    assertFalse(steps.fabric.client().registered().get(0).isSettled());
    steps.client.end("over");
    assertTrue(steps.fabric.client().registered().get(0).isSettled());
  }

  /** Of a session that has ended, memory that a call still has stays where it is. */
  @Test
  void memoryInUseIsKeptByAnEndedSession() {
    bulk.attached();
    final Segment segment = steps.client.bulk().allocate(100);
    steps.client.end("over");
    steps.settle();
    assertTrue(steps.fabric.client().registered().get(0).isKept());
    assertFalse(steps.fabric.server().registered().get(0).isKept());
    segment.put(0, new byte[100], 0, 100);
    segment.release();
    assertNull(steps.client.bulk().allocate(100));
    bulk.assertGivenBack();
  }

  /** An offer and its answer find their way through rings of two slots that are full. */
  @ParameterizedTest
  @ValueSource(ints = {128, 256, 1024})
  void offersAndAnswersThroughFullRings(int ringLength) {
    start(new Sizes(ringLength, 128, 8, 1024 * 1024), POOL_LENGTH);
    final Call[] calls = new Call[8];
    for (int i = 0; i < calls.length; i++) {
      calls[i] = bulk.send(message(900, i));
    }
    assertTrue(steps.client.outbox.isBlocked());
    assertNull(steps.client.bulk().allocate(1));
    assertNull(steps.server.bulk().allocate(1));
    steps.answerAll();
    for (final Call call : calls) {
      assertEquals(Outcome.ANSWERED, call.outcome);
    }
    assertEquals(1, steps.server.exchange.attached().size());
    assertEquals(1, steps.client.exchange.attached().size());
    bulk.exchange(LONG);
    bulk.assertGivenBack();
  }
}
