package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.Sizes;
import org.junit.jupiter.api.Test;

/** A client is told that its rings are too short, whichever of the two it is. */
class SessionCrowdedTest {
  private static final Sizes SHORT = new Sizes(1024, 256, 64, 1024 * 1024);
  private static final int RINGS = Crowding.RINGS;

  /** So many bytes of payload are more than so many rings. */
  private static byte[] through(int rings) {
    return bytes(rings * SHORT.ringLength(), 7);
  }

  @Test
  void requestsGoThroughAFullRing() {
    final SessionSteps steps = new SessionSteps(SHORT);
    final Call call = steps.send(through(RINGS / 2));
    steps.settle();
    assertEquals(0, steps.crowded);
    steps.request().respond(bytes(1, 1));
    steps.settle();
    assertEquals(1, call.response.length);
    steps.send(through(RINGS));
    steps.settle();
    assertTrue(steps.crowded > 0);
  }

  @Test
  void answersGoThroughAFullRing() {
    final SessionSteps steps = new SessionSteps(SHORT);
    final Call call = steps.send(bytes(1, 1));
    steps.settle();
    steps.request().respond(through(2 * RINGS));
    steps.settle();
    assertEquals(through(2 * RINGS).length, call.response.length);
    assertTrue(steps.crowded > 0);
  }

  @Test
  void aPauseInBetweenIsNoCrowd() {
    final SessionSteps steps = new SessionSteps(SHORT);
    for (int i = 0; i < 4; i++) {
      steps.send(through(RINGS / 2));
      steps.answerAll();
      steps.advance(Crowding.CALM_NS + 1);
    }
    assertEquals(0, steps.crowded);
  }

  @Test
  void whoNeverFillsARingIsNeverTold() {
    final SessionSteps steps = new SessionSteps(SHORT);
    final int slots = SHORT.ringLength() / FrameDescriptor.SLOT_LENGTH;
    for (int i = 0; i < 3 * RINGS * slots; i++) {
      steps.send(bytes(1, i));
      steps.answerAll();
    }
    assertEquals(0, steps.crowded);
  }
}
