package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.session.FlowSteps.IN_UPDATE;
import static dev.ringfetch.session.FlowSteps.IN_WINDOW;
import static dev.ringfetch.session.FlowSteps.LENGTH;
import static dev.ringfetch.session.FlowSteps.WIDE;
import static dev.ringfetch.session.FlowSteps.bytesOf;
import static dev.ringfetch.session.FlowSteps.message;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.FlowSteps.Call;
import dev.ringfetch.session.FlowSteps.Served;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.Units;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls of many units: what goes over, in which order, and what holds it back. */
@Timeout(60)
class SessionFlowTest {
  private SessionSteps steps = new SessionSteps(WIDE);
  private FlowSteps flows = new FlowSteps(steps);

  private void start(Sizes sizes) {
    steps = new SessionSteps(sizes);
    flows = new FlowSteps(steps);
  }

  private static void assertMessages(int count, List<Unit> units) {
    assertEquals(count, units.size());
    for (int i = 0; i < count; i++) {
      assertEquals(MESSAGE, units.get(i).flags());
      assertArrayEquals(message(LENGTH, i), bytesOf(units.get(i)), "message " + i);
    }
  }

  private Served served() {
    steps.settle();
    final Served served = flows.served();
    assertEquals(PREFIX, served.take().flags());
    return served;
  }

  @Test
  void unitsComeAsTheyWereSent() {
    final Call call = flows.begin(Stream.NO_DEADLINE, PREFIX | METADATA, message(40, 1));
    call.write(MESSAGE, message(100, 2));
    call.write(MESSAGE, new byte[0]);
    call.write(MESSAGE | SUFFIX, message(5000, 3)); // of several frames
    steps.settle();
    final Served served = flows.served();
    final List<Unit> came = served.takeAll();
    assertEquals(
        List.of(PREFIX | METADATA, MESSAGE, MESSAGE, MESSAGE | SUFFIX),
        came.stream().map(Unit::flags).toList());
    assertEquals(List.of(40, 100, 0, 5000), came.stream().map(Unit::total).toList());
    assertEquals(5, came.get(0).code());
    assertArrayEquals(message(40, 1), bytesOf(came.get(0)));
    assertArrayEquals(message(100, 2), bytesOf(came.get(1)));
    assertArrayEquals(message(5000, 3), bytesOf(came.get(3)));
    assertNull(call.outcome());

    served.write(PREFIX | METADATA, 0, message(7, 4));
    served.write(MESSAGE, 0, message(9000, 5));
    steps.settle();
    assertEquals(2, call.takeAll().size());
    served.write(SUFFIX, 9, new byte[0]);
    assertTrue(served.stream.flow().isSent());
    steps.settle();
    final Unit last = call.take();
    assertEquals(SUFFIX, last.flags());
    assertEquals(9, last.code());
    assertFalse(last.discarded());
    assertEquals(Outcome.ANSWERED, call.outcome());
    assertTrue(call.told > 0 && served.told > 0);
    assertEquals(0, served.cancels);
  }

  @Test
  void flowOfAnswersToARequestThatIsThere() {
    final Call call = flows.begin(Stream.NO_DEADLINE, PREFIX | MESSAGE | SUFFIX, message(50, 1));
    steps.settle();
    final Served served = flows.served();
    assertNull(served.stream.flow(), "nobody has asked for it");
    assertArrayEquals(message(50, 1), bytesOf(served.stream.openFlow().peek()));
    assertEquals(served.stream.openFlow(), served.stream.flow());
    served.take();
    served.write(70);
    steps.settle();
    assertMessages(IN_WINDOW, call.takeAll());
    steps.settle();
    assertEquals(6, call.takeAll().size());
    served.write(SUFFIX, 0, new byte[0]);
    steps.settle();
    assertEquals(SUFFIX, call.take().flags());
    assertEquals(Outcome.ANSWERED, call.outcome());
  }

  @Test
  void windowOfTheServerClosesAndOpens() {
    final Call call = flows.begin();
    final Served served = served();
    call.write(IN_WINDOW + IN_UPDATE + 1);
    steps.settle();
    assertEquals((IN_UPDATE + 1) * 1024, call.stream.flow().queuedLength());
    final List<Unit> came = new ArrayList<>();
    for (int i = 0; i < IN_UPDATE - 1; i++) {
      came.add(served.take());
    }
    steps.settle();
    assertEquals((IN_UPDATE + 1) * 1024, call.stream.flow().queuedLength(), "too early");
    came.add(served.take());
    steps.settle();
    assertEquals(1024, call.stream.flow().queuedLength());
    while (came.size() < IN_WINDOW + IN_UPDATE) {
      came.add(served.take());
    }
    assertNull(served.take());
    steps.settle();
    came.add(served.take());
    assertMessages(IN_WINDOW + IN_UPDATE + 1, came);
  }

  @Test
  void windowOfTheClientClosesAndOpens() {
    final Call call = flows.begin();
    final Served served = served();
    served.write(IN_WINDOW + IN_UPDATE + 1);
    steps.settle();
    assertEquals((IN_UPDATE + 1) * 1024, served.stream.flow().queuedLength());
    final List<Unit> came = new ArrayList<>();
    for (int i = 0; i < IN_UPDATE; i++) {
      came.add(call.take());
    }
    steps.settle();
    assertEquals(1024, served.stream.flow().queuedLength());
    came.addAll(call.takeAll());
    steps.settle();
    came.addAll(call.takeAll());
    assertMessages(IN_WINDOW + IN_UPDATE + 1, came);
  }

  /** However the sizes fall, nobody waits for the other. */
  @ParameterizedTest
  @ValueSource(ints = {1, 63, 960, 5000, 16320, 40_000, 65_472, 200_000})
  void manyMessagesGoBothWays(int length) {
    start(Sizes.ROOMY);
    final int count = 1_000_000 / (length + 64) + 3;
    final Call call = flows.begin();
    final Served served = served();
    for (int i = 0; i < count; i++) {
      call.write(MESSAGE, message(length, i));
      served.write(MESSAGE, 0, message(length, -i));
    }
    final List<Unit> requests = new ArrayList<>();
    final List<Unit> responses = new ArrayList<>();
    int before = -1;
    while (requests.size() + responses.size() != before) {
      before = requests.size() + responses.size();
      steps.settle();
      requests.addAll(served.takeAll());
      responses.addAll(call.takeAll());
    }
    assertEquals(count, requests.size());
    assertEquals(count, responses.size());
    for (int i = 0; i < count; i++) {
      assertArrayEquals(message(length, i), bytesOf(requests.get(i)));
      assertArrayEquals(message(length, -i), bytesOf(responses.get(i)));
    }
  }

  @Test
  void roomIsToldOfToTheClient() {
    final Call call = flows.begin();
    final Served served = served();
    call.write(IN_WINDOW + 40);
    steps.settle();
    assertFalse(call.stream.flow().isReady());
    assertFalse(call.stream.flow().takeRoom());
    final int told = call.told;
    for (int i = 0; i < IN_UPDATE; i++) {
      served.take();
    }
    steps.settle();
    assertEquals(told + 1, call.told);
    assertTrue(call.stream.flow().takeRoom());
    assertTrue(call.stream.flow().isReady());
  }

  @Test
  void roomIsToldOfToTheServer() {
    final Call call = flows.begin();
    final Served served = served();
    served.write(IN_WINDOW + 40);
    steps.settle();
    assertFalse(served.stream.flow().isReady());
    final int told = served.told;
    for (int i = 0; i < IN_UPDATE; i++) {
      call.take();
    }
    steps.settle();
    assertEquals(told + 1, served.told);
    assertTrue(served.stream.flow().takeRoom());
  }

  /** The update is not held up by the message that this side is sending. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void updateGoesBetweenTheFramesOfAMessage(boolean byServer) {
    start(new Sizes(1024, 128, 8, 1024 * 1024));
    final Call call = flows.begin();
    final Served served = served();
    final byte[] longMessage = message(10_000, 3);
    final Flow sender = byServer ? call.stream.flow() : served.stream.flow();
    if (byServer) {
      call.write(IN_WINDOW + 1);
      steps.settle();
      served.write(MESSAGE, 0, longMessage);
    } else {
      served.write(IN_WINDOW + 1);
      steps.settle();
      call.write(MESSAGE, longMessage);
    }
    for (int i = 0; i < IN_UPDATE; i++) {
      assertEquals(LENGTH, (byServer ? served.take() : call.take()).total());
    }
    assertEquals(1024, sender.queuedLength());
    final Stream receiver = byServer ? call.stream : served.stream;
    while (sender.queuedLength() > 0) {
      assertNull(receiver.flow.peek(), "the message is whole");
      steps.stepClient();
      steps.stepServer();
    }
    assertNull(receiver.flow.peek(), "the message is whole");
    steps.settle();
    assertArrayEquals(longMessage, bytesOf(receiver.flow.peek()));
  }

  @Test
  void streamsTakeTurnsFrameByFrame() {
    start(new Sizes(512, 64, 8, 1024 * 1024)); // 8 slots
    final Call first = flows.begin();
    final Call second = flows.begin();
    steps.settle();
    for (int i = 0; i < 100; i++) {
      first.write(MESSAGE, message(30, i));
    }
    first.write(MESSAGE, message(1000, 0));
    second.write(MESSAGE, message(30, 7));
    final SessionSteps.Call unary = steps.send(message(30, 1));
    final Served one = flows.served(0);
    final Served other = flows.served(1);
    while (steps.requests.size() < 3) {
      steps.stepServer();
      steps.stepClient();
    }
    assertTrue(one.takeAll().size() < 25, "all of the first went first");
    assertEquals(2, other.takeAll().size());
    steps.requests.get(2).echo();
    steps.settle();
    assertEquals(Outcome.ANSWERED, unary.outcome);
    assertTrue(one.takeAll().size() > 70);
  }

  @Test
  void updateAloneLeavesTheLine() {
    final Call call = flows.begin();
    final Served served = served();
    call.write(2 * IN_UPDATE);
    steps.settle();
    assertTrue(steps.server.driver.tryAcquire());
    for (int i = 0; i < IN_UPDATE; i++) {
      served.take();
    }
    assertTrue(steps.server.driver.releaseAndTell());
    final long before = steps.server.writePosition();
    steps.server.driver.drive();
    assertEquals(before + 1, steps.server.writePosition());
    assertTrue(steps.server.outbox.isEmpty());
    for (int i = 0; i < IN_UPDATE; i++) {
      served.take();
    }
    assertEquals(before + 2, steps.server.writePosition(), "it gets into line again");
    assertEquals(Doorbell.FOREVER, steps.fabric.serverDoorbell().lastTimeoutNs());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 10})
  void updateOfAStreamThatIsInLineGoesAhead(int length) {
    final Call call = flows.begin();
    final Served served = served();
    call.write(IN_UPDATE);
    steps.settle();
    assertTrue(steps.server.driver.tryAcquire());
    served.write(MESSAGE, 0, message(length, 1));
    for (int i = 0; i < IN_UPDATE; i++) {
      served.take();
    }
    assertTrue(steps.server.driver.releaseAndTell());
    steps.server.driver.drive();
    steps.settle();
    assertArrayEquals(message(length, 1), bytesOf(call.take()));
    assertNull(call.take());
    call.write(IN_WINDOW);
    assertEquals(0, call.stream.flow().queuedLength());
  }

  @ParameterizedTest
  @CsvSource({"1", "20000"})
  void messageThatIsTooLongComesWithItsLengthAlone(int more) {
    start(new Sizes(64 * 1024, 4096, 8, 1000));
    final Call call = flows.begin();
    final Served served = served();
    final int tooLong = Units.maxLength(1000, new SessionContext().maxMetadataLength()) + more;
    call.write(MESSAGE, message(tooLong, 1));
    call.write(MESSAGE, message(10, 2));
    steps.settle();
    final Unit dropped = served.take();
    assertTrue(dropped.discarded());
    assertEquals(tooLong, dropped.total());
    assertEquals(0, dropped.bytes().length());
    assertArrayEquals(message(10, 2), bytesOf(served.take()));
    served.write(MESSAGE, 0, message(1024 * 1024 + more, 1));
    served.write(MESSAGE, 0, message(10, 2));
    steps.settle();
    assertTrue(call.take().discarded());
    steps.settle();
    assertArrayEquals(message(10, 2), bytesOf(call.take()));
  }

  @Test
  void firstUnitThatIsTooLongIsRefused() {
    start(new Sizes(64 * 1024, 4096, 8, 1000));
    final int tooLong = Units.maxLength(1000, new SessionContext().maxMetadataLength()) + 1;
    final Call call = flows.begin(Stream.NO_DEADLINE, PREFIX | MESSAGE, message(tooLong, 1));
    call.write(10);
    steps.settle();
    assertTrue(steps.requests.isEmpty());
    final Unit refusal = call.take();
    assertEquals(SUFFIX | FrameDescriptor.DESCRIPTION, refusal.flags());
    assertEquals(8, refusal.code());
    assertEquals(Outcome.ANSWERED, call.outcome());
    assertFalse(steps.server.hasEnded());
  }

  @Test
  void callOfOneAnswerThatGetsManyEnds() {
    final SessionSteps.Call call = steps.send(message(10, 1));
    steps.settle();
    final Served served = flows.served();
    served.stream.openFlow();
    for (int i = 0; i < 20; i++) { // the cancel is on its way
      served.write(MESSAGE, 0, message(3000, i));
    }
    steps.stepClient();
    assertEquals(Outcome.TOO_MANY_RESPONSES, call.outcome);
    assertEquals(0, call.stream.inbound().length(), "nobody reads it");
    steps.settle();
    assertEquals(1, served.cancels);
    for (int i = 0; i < 8; i++) {
      steps.send(message(1, 1)); // the index has come back
    }
    assertNull(steps.client.open());
    assertFalse(steps.client.hasEnded());
  }

  @Test
  void cancelledCallOfOneAnswerIsNotToldOfMany() {
    final SessionSteps.Call call = steps.send(message(10, 1));
    steps.settle();
    final Served served = flows.served();
    served.stream.openFlow();
    served.write(MESSAGE, 0, message(10, 1));
    served.write(SUFFIX, 0, new byte[0]);
    call.cancel();
    steps.settle();
    assertNull(call.outcome);
    assertNotSame(null, steps.client.open());
    assertFalse(steps.client.hasEnded());
  }

  @Test
  void deadlineOfAnsweredManyTimesIsForgotten() {
    final SessionSteps.Call call = steps.send(message(10, 1), 1000);
    steps.settle();
    final Served served = flows.served();
    served.stream.openFlow();
    served.write(MESSAGE, 0, message(10, 1));
    steps.stepClient();
    assertEquals(Outcome.TOO_MANY_RESPONSES, call.outcome);
    assertEquals(Stream.NO_DEADLINE, steps.client.earliestDeadlineNs());
    steps.settle();
  }

  @Test
  void newsOfOneRoundAreToldOnce() {
    final Call call = flows.begin();
    final Served served = served();
    final int told = served.told;
    call.write(3);
    steps.stepServer();
    assertEquals(told + 1, served.told);
    assertMessages(3, served.takeAll());
    call.write(1);
    steps.stepServer();
    assertEquals(told + 2, served.told);
  }

  @Test
  void flowIsToldWhileACallerPollsForAnAnswer() {
    steps = new SessionSteps(WIDE, 1000);
    flows = new FlowSteps(steps);
    final Call call = flows.begin();
    final Served served = served();
    final SessionSteps.Call unary = steps.prepare(message(10, 1), Stream.NO_DEADLINE);
    final int told = call.told;
    final int[] looks = {0};
    final boolean[] inTime = {false};
    steps.onClock =
        () -> {
          steps.advance(10);
          if (++looks[0] == 2) {
            served.write(1);
          } else if (looks[0] == 5) {
            inTime[0] = call.told > told;
            steps.server.driver.service(false);
            steps.request().echo();
          }
        };
    steps.client.sendAndPoll(unary.stream);
    assertTrue(inTime[0], "it waits for the other's answer");
    assertEquals(Outcome.ANSWERED, unary.outcome);
  }

  /** Before its first unit is whole in the ring, no server can have seen a call. */
  @Test
  void callIsUnderWayWithItsFirstUnit() {
    start(new Sizes(1024, 128, 8, 1024 * 1024));
    final Call before = flows.begin(Stream.NO_DEADLINE, PREFIX | MESSAGE, message(900, 1));
    final Call call = flows.begin(Stream.NO_DEADLINE, PREFIX | MESSAGE, message(900, 2));
    assertFalse(call.stream.flow().isUnderWay());
    steps.settle();
    assertTrue(call.stream.flow().isUnderWay());
    assertTrue(before.stream.flow().isUnderWay());
    call.write(1);
    steps.settle();
    assertTrue(call.stream.flow().isUnderWay(), "for good");
  }

  @Test
  void senderIsNotToldOfEveryMessage() {
    final Call call = flows.begin();
    final Served served = served();
    final int toldClient = call.told;
    final int toldServer = served.told;
    call.write(1);
    served.write(1);
    assertEquals(toldClient, call.told);
    assertEquals(toldServer, served.told);
  }
}
