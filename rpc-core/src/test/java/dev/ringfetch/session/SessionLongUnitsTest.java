package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.unit.UnitBuffer;
import org.junit.jupiter.api.Test;

/** Long units: one is under way at a time, and the other frames do not wait for it. */
class SessionLongUnitsTest {
  private static final int LONG = 100_000;

  /** A long unit is written to its end before the next one begins, a short one between. */
  @Test
  void oneLongUnitIsUnderWayAtATime() {
    final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
    for (int i = 0; i < 5; i++) {
      steps.send(bytes(LONG, i));
    }
    steps.send(bytes(UnitBuffer.RETAINED_LENGTH, 7)); // of three frames
    int begun = 0;
    for (int i = 0; steps.requests.size() < 6; i++) {
      assertTrue(i < 10_000, "a unit hangs");
      steps.stepServer();
      steps.stepClient();
      int partial = 0;
      for (int index = 1; index < steps.server.streams.bound(); index++) {
        final ServerStream stream = steps.server.streams.get(index);
        partial += stream != null && stream.incoming.isPartial() ? 1 : 0;
      }
      assertTrue(partial <= 1, "begun=" + partial);
      begun += partial;
    }
    assertTrue(begun > 0);
    assertEquals(5, steps.requests.stream().filter(call -> call.request.length == LONG).count());
  }

  /** A short unit waits for one frame of the long unit that is under way. */
  @Test
  void shortUnitsOvertakeLongOnes() {
    final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
    steps.send(bytes(8 * LONG, 1));
    steps.send(bytes(8 * LONG, 2));
    steps.stepClient();
    steps.send(bytes(10, 7));
    for (int i = 0; steps.requests.isEmpty(); i++) {
      assertTrue(i < 60, "the short unit waits");
      steps.stepServer();
      steps.stepClient();
    }
    assertEquals(10, steps.request().request.length);
    steps.settle();
    assertEquals(2, steps.requests.size());
  }

  /** An update of a window does not wait for long units, not even for its own call's. */
  @Test
  void windowUpdateOvertakesLongUnits() {
    final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
    final FlowSteps flows = new FlowSteps(steps);
    final FlowSteps.Call call = flows.begin();
    steps.settle();
    final FlowSteps.Served served = flows.served();
    served.write(2 * FlowSteps.IN_WINDOW);
    steps.settle();
    steps.send(bytes(8 * LONG, 1));
    call.write(MESSAGE, bytes(LONG, 1));
    assertEquals(FlowSteps.IN_WINDOW, call.takeAll().size());
    for (int i = 0; call.takeAll().isEmpty(); i++) {
      assertTrue(i < 60 && steps.requests.isEmpty(), "the update waits");
      steps.stepServer();
      steps.stepClient();
    }
    steps.settle();
    assertEquals(8 * LONG, steps.request().request.length);
    assertEquals(LONG, served.takeAll().get(1).total());
  }

  /** A cancel does not wait for the long units that its call's own one has waited for. */
  @Test
  void cancelOvertakesLongUnits() {
    final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
    final FlowSteps flows = new FlowSteps(steps);
    final FlowSteps.Call call = flows.begin();
    steps.settle();
    final FlowSteps.Served served = flows.served();
    final Call ahead = steps.send(bytes(8 * LONG, 1));
    call.write(MESSAGE, bytes(LONG, 1));
    call.cancel();
    for (int i = 0; served.cancels == 0; i++) {
      assertTrue(i < 60 && steps.requests.isEmpty(), "the cancel waits");
      steps.stepServer();
      steps.stepClient();
    }
    steps.settle();
    steps.request().respond(bytes(1, 1));
    steps.settle();
    assertEquals(Outcome.ANSWERED, ahead.outcome);
  }
}
