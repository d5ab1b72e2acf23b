package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.answerTo;
import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class SessionCreditTest {
  /** Both rings of two slots are full, and both sides have more to say. */
  private static List<Call> fillBothRings(SessionSteps steps) {
    List<Call> calls = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      calls.add(steps.send(bytes(30, i)));
      steps.stepServer();
    }
    assertEquals(4, steps.requests.size());
    steps.requests.forEach(ServerCall::echo); // two fit
    steps.requests.clear();
    for (int i = 4; i < 8; i++) {
      calls.add(steps.send(bytes(30, i))); // two fit
    }
    assertEquals(2, steps.server.writePosition() - steps.client.pollPosition());
    assertEquals(2, steps.client.writePosition() - steps.server.pollPosition());
    return calls;
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 128})
  void cancelsAndResponsesGetThroughFullRings(int frame) {
    SessionSteps steps = new SessionSteps(new Sizes(128, frame, 8, 1000));
    List<Call> calls = fillBothRings(steps);
    for (int i = 1; i < 8; i += 2) {
      calls.get(i).cancel();
    }
    steps.answerAll();
    for (int i = 0; i < 8; i += 2) {
      assertEquals(Outcome.ANSWERED, calls.get(i).outcome, "call " + i);
      assertArrayEquals(bytes(30, i + 1), calls.get(i).response);
    }
    for (int i = 0; i < 8; i++) {
      steps.send(bytes(1, 1)); // every index has come back
    }
    assertEquals(null, steps.client.open());
    assertFalse(steps.client.hasEnded());
  }

  @Test
  void allCallsAreCancelledWhileBothRingsAreFull() {
    SessionSteps steps = new SessionSteps(new Sizes(128, 64, 8, 1000));
    fillBothRings(steps).forEach(Call::cancel);
    steps.answerAll();
    steps.client.drain();
    steps.settle();
    assertEquals(List.of("drained"), steps.clientEnds);
  }

  @ParameterizedTest
  @CsvSource({"128, 64", "256, 64", "256, 128", "1024, 256", "4096, 1024"})
  void creditIsNeverLost(int ring, int frame) {
    long seed = Long.getLong("ringfetch.seed", 1);
    Random random = new Random(seed);
    SessionSteps steps = new SessionSteps(new Sizes(ring, frame, 8, 1 << 20));
    List<Call> open = new ArrayList<>();
    List<byte[]> sent = new ArrayList<>();
    for (int calls = 0; calls < 20_000; ) {
      while (open.size() < 8 && random.nextInt(4) != 0) {
        byte[] request = new byte[random.nextInt(random.nextInt(8) == 0 ? 2 * ring : 64)];
        random.nextBytes(request);
        sent.add(request);
        open.add(steps.send(request));
        calls++;
      }
      if (random.nextBoolean()) {
        steps.stepServer();
      }
      while (!steps.requests.isEmpty() && random.nextBoolean()) {
        steps.requests.remove(random.nextInt(steps.requests.size())).echo();
      }
      if (random.nextBoolean()) {
        steps.stepClient();
      }
      if (open.size() == 8 && random.nextInt(8) == 0) {
        steps.answerAll();
      }
      for (int i = open.size() - 1; i >= 0; i--) {
        if (open.get(i).isOver()) {
          assertEquals(Outcome.ANSWERED, open.get(i).outcome, "seed=" + seed);
          assertArrayEquals(
              answerTo(sent.remove(i)), open.remove(i).response, () -> "seed=" + seed);
        }
      }
    }
    steps.answerAll();
    assertTrue(open.stream().allMatch(Call::isOver), "seed=" + seed);
  }

  @Test
  void creditIsToldOnceAQuarterIsConsumed() {
    SessionSteps steps = new SessionSteps(new Sizes(1024, 64, 64, 1000)); // 16 slots
    for (int i = 0; i < 3; i++) {
      steps.send(bytes(1, 1));
    }
    steps.server.driver.service(false);
    assertEquals(3, steps.server.ring.untold());
    steps.send(bytes(1, 1));
    steps.server.driver.service(false);
    assertEquals(0, steps.server.ring.untold());
  }

  @Test
  void whoWaitsForCreditIsToldOfTheLeast() {
    SessionSteps steps = new SessionSteps(new Sizes(1024, 1024, 64, 1000)); // 16 slots
    while (steps.client.writePosition() % 16 != 14) {
      steps.send(bytes(1, 1));
      steps.answerAll();
    }
    for (int i = 0; i < 3; i++) {
      steps.send(bytes(1, 1));
    }
    steps.server.driver.service(false);
    assertEquals(3, steps.server.ring.untold(), "less than a quarter");
    Call call = steps.send(bytes(15 * 64 - 32, 1));
    assertTrue(steps.client.outbox.isBlocked());
    steps.server.driver.service(false);
    assertEquals(0, steps.server.ring.untold());
    steps.client.driver.service(false);
    assertFalse(steps.client.outbox.isBlocked());
    steps.answerAll();
    assertEquals(Outcome.ANSWERED, call.outcome);
  }

  @Test
  void everythingIsToldBeforeASideSleeps() {
    SessionSteps steps = new SessionSteps(new Sizes(1024, 64, 64, 1000));
    steps.send(bytes(1, 1));
    steps.settle();
    assertEquals(0, steps.server.ring.untold());
  }
}
