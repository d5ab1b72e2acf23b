package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.poller.PollerSteps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A heap that is used up while sessions are served: no token is kept, and every call ends. */
@Timeout(60)
class SessionMemoryTest {
  private final StarvedRegion region =
      new StarvedRegion(ArenaDescriptor.length(Sizes.ROOMY.ringLength(), Sizes.ROOMY.ringLength()));
  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY, region);

  /** To verify memory allocates; there is nothing to be had for some times. */
  private static final class StarvedRegion extends DirectRegion {
    int starved;

    StarvedRegion(int length) {
      super(length);
    }

    @Override
    public void verify() {
      if (starved > 0) {
        starved--;
        throw new OutOfMemoryError("of the test");
      }
      super.verify();
    }
  }

  /** However often in a row: what cannot be done is done again until it can. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 16, 32})
  void everyCallEndsAndIsTold(int starved) {
    final Call answered = steps.send(bytes(3, 1));
    steps.answerAll();
    assertEquals(Outcome.ANSWERED, answered.outcome);
    final Call call = steps.send(bytes(3, 1));
    region.starved = starved;
    steps.answerAll();
    assertEquals(0, region.starved, "was it met at all?");
    assertTrue(call.isOver(), "the call has no end");
    assertEquals(steps.client.hasEnded() ? 1 : 0, steps.clientEnds.size());
    assertEquals(steps.server.hasEnded() ? 1 : 0, steps.serverEnds.size());
    assertEquals(steps.client.hasEnded(), steps.server.hasEnded());
    assertFree(steps.client);
    assertFree(steps.server);
  }

  /** Nobody has the call, so nobody would answer it. */
  @Test
  void aRequestThatCannotBeTakenEndsTheSession() {
    steps.onRequest =
        () -> {
          throw new OutOfMemoryError("of the test");
        };
    final Call call = steps.send(bytes(3, 1));
    steps.settle();
    assertEquals(Outcome.SESSION_ENDED, call.outcome);
    assertEquals(1, steps.serverEnds.size(), "told once");
    assertEquals(1, steps.clientEnds.size(), "told once");
    assertFree(steps.server);
  }

  /** A handler's thread meets it as it answers; the poller does the rest. */
  @Test
  void anAnswerMeetsIt() {
    final Call call = steps.send(bytes(3, 1));
    steps.settle();
    region.starved = 5;
    steps.request().echo();
    assertFree(steps.server);
    steps.settle();
    if (call.outcome == Outcome.ANSWERED) {
      assertArrayEquals(bytes(3, 2), call.response);
    } else {
      assertEquals(Outcome.SESSION_ENDED, call.outcome);
    }
  }

  /** Where there is nothing to be had each attempt costs a collection: the poller makes pauses. */
  @Test
  void aThreadThatCannotEndASessionLeavesItToThePoller() {
    region.starved = 1_000;
    steps.client.end("test");
    assertTrue(region.starved > 900, () -> "left: " + region.starved);
    region.starved = 0;
    steps.settle();
    assertEquals(1, steps.clientEnds.size());
  }

  /** Its token is free all the same, and the poller looks after what was left undone. */
  @Test
  void aReleaseThatFailsIsToldToThePoller() {
    steps.send(bytes(3, 1));
    assertTrue(steps.client.driver.tryAcquire());
    steps.client.driver.disarm();
    region.starved = 1_000;
    assertThrows(OutOfMemoryError.class, steps.client.driver::releaseAndTell);
    region.starved = 0;
    assertEquals(PollerSteps.AWAKE, PollerSteps.beginSleep(steps.clientPoller, true), "alarmed");
    PollerSteps.endSleep(steps.clientPoller);
    steps.settle();
    assertFree(steps.client);
  }

  /** What comes up before a session is touched is not of its doing. */
  @Test
  void aSessionIsSparedWhatIsOfAnother() {
    steps.send(bytes(3, 1));
    region.starved = 1;
    assertThrows(OutOfMemoryError.class, () -> steps.server.driver.service(true));
    assertFree(steps.server);
    assertFalse(steps.server.hasEnded());
    steps.answerAll();
  }

  private static void assertFree(Session session) {
    assertTrue(session.driver.tryAcquire(), "the token was kept");
    assertFalse(session.driver.releaseAndTell() && !session.hasEnded());
  }
}
