package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.poller.PollerSteps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A caller polls for its answer: what ends that, and what it does for others meanwhile. */
@Timeout(60)
class SessionPollTest {
  private static final long SPIN_NS = 1000;
  private static final long TICK_NS = 100;

  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY, SPIN_NS);
  private int looks;

  /** Time passes with every look at the clock; at one of them something happens. */
  private void atLook(int when, Runnable happens) {
    looks = 0;
    steps.onClock =
        () -> {
          steps.advance(TICK_NS);
          if (++looks == when) {
            happens.run();
          }
        };
  }

  private Call call() {
    return steps.prepare(bytes(8, 1), Stream.NO_DEADLINE);
  }

  private void serve() {
    steps.server.driver.service(false);
    steps.requests.forEach(ServerCall::echo);
    steps.requests.clear();
  }

  @Test
  void callerPollsUntilItsAnswerComes() {
    Call call = call();
    atLook(4, this::serve);
    steps.client.sendAndPoll(call.stream);
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertTrue(looks < 7, () -> "it polled on: looks=" + looks);
  }

  @Test
  void callerThatPollsIsNotRung() {
    Call call = call();
    final int rings = steps.fabric.server().ringsSent();
    atLook(4, this::serve);
    steps.client.sendAndPoll(call.stream);
    assertTrue(call.isOver());
    assertEquals(rings, steps.fabric.server().ringsSent());
  }

  private void pollerLeaves() {
    steps.onClock = () -> {};
    for (int i = 0; i < 3; i++) {
      steps.advance(SPIN_NS);
      steps.stepClient();
    }
    assertTrue(PollerSteps.isIdle(steps.clientPoller));
  }

  @Test
  void callerPollsForABoundedTimeAndLeavesArmed() {
    pollerLeaves();
    Call call = call();
    atLook(0, () -> {});
    steps.client.sendAndPoll(call.stream);
    assertFalse(call.isOver());
    assertEquals(1 + SPIN_NS / TICK_NS, looks);
    assertTrue(steps.client.inbox.isArmed());
    steps.onClock = () -> {};
    serve();
    steps.stepClient();
    assertEquals(Outcome.ANSWERED, call.outcome);
  }

  /** To arm would make the peer ring for what is found anyway. */
  @Test
  void callerLeavesToAPollerThatPollsAndThatArms() {
    steps.clientPoller.activate(steps.client.entry);
    Call call = call();
    atLook(0, () -> {});
    steps.client.sendAndPoll(call.stream);
    assertFalse(call.isOver());
    assertFalse(steps.client.inbox.isArmed());
    pollerLeaves();
    assertTrue(steps.client.inbox.isArmed());
    final int rings = steps.fabric.server().ringsSent();
    serve();
    assertEquals(rings + 1, steps.fabric.server().ringsSent());
    steps.stepClient();
    assertEquals(Outcome.ANSWERED, call.outcome);
  }

  /** Else it would come again, find the next caller, be missed, and so for ever. */
  @Test
  void pollerThatFindsACallerPollingIsNotCalledBack() {
    final Call call = call();
    atLook(
        3,
        () -> {
          steps.client.poller().activate(steps.client.entry);
          steps.stepClient(); // it finds the session owned, and gives it up
          serve();
        });
    steps.client.sendAndPoll(call.stream);
    assertEquals(Outcome.ANSWERED, call.outcome);
    steps.onClock = () -> {};
    steps.stepClient();
    assertFalse(PollerSteps.isActive(steps.client.entry), "it was called");
  }

  /** The ring is spent, and nothing is pending: a caller that leaves has seen all that is there. */
  @Test
  void callerTakesAllThatThePollerWasRungFor() {
    final Call call = call();
    final int length = 70 * FrameDescriptor.SLOT_LENGTH; // a round takes one such answer
    final Call[] others = {
      steps.prepare(bytes(length, 2), Stream.NO_DEADLINE),
      steps.prepare(bytes(length, 3), Stream.NO_DEADLINE)
    };
    atLook(
        3,
        () -> {
          for (final Call other : others) {
            steps.client.driver.submit(other.stream, ClientStream.SEND);
          }
        });
    final Runnable first = steps.onClock;
    steps.onClock =
        () -> {
          first.run();
          if (looks == 5) {
            steps.client.poller().activate(steps.client.entry);
            steps.stepClient(); // it finds the session owned, and gives it up
            for (int i = 0; i < 4; i++) {
              steps.server.driver.service(false);
            }
            serve();
            steps.server.drain();
            steps.server.driver.service(false);
          }
        };
    steps.client.sendAndPoll(call.stream);
    steps.onClock = () -> {};
    for (final Call other : others) {
      assertEquals(Outcome.ANSWERED, other.outcome);
    }
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertTrue(steps.client.isDraining(), "the last frame is not read");
  }

  @Test
  void othersAreToldWhileTheCallerPollsOn() {
    Call other = steps.send(bytes(8, 2));
    Call call = call();
    boolean[] toldInTime = {false};
    atLook(
        2,
        () -> {
          steps.server.driver.service(false);
          steps.requests.remove(0).echo();
        });
    Runnable first = steps.onClock;
    steps.onClock =
        () -> {
          first.run();
          if (looks == 5) {
            toldInTime[0] = other.isOver();
            serve();
          }
        };
    steps.client.sendAndPoll(call.stream);
    assertTrue(toldInTime[0], "the other call waits for this one");
    assertEquals(Outcome.ANSWERED, call.outcome);
  }

  @Test
  void interruptedCallerStopsPolling() {
    pollerLeaves();
    Call call = call();
    atLook(3, () -> Thread.currentThread().interrupt());
    steps.client.sendAndPoll(call.stream);
    assertTrue(Thread.interrupted());
    assertTrue(looks < 5, () -> "looks=" + looks);
    assertFalse(call.isOver());
    assertTrue(steps.client.inbox.isArmed());
  }

  @Test
  void callerStopsWhenTheSessionEnds() {
    Call call = call();
    atLook(3, () -> steps.client.ending.request("test"));
    steps.client.sendAndPoll(call.stream);
    assertEquals(Outcome.SESSION_ENDED, call.outcome);
    assertTrue(looks < 6, () -> "looks=" + looks);
  }

  /**
   * While other listeners run, the token is free, and the thread that takes it polls from then on.
   */
  @Test
  void callerLeavesThePollingToWhoeverTakesTheToken() {
    Call other = steps.send(bytes(8, 2));
    other.onClosed = () -> assertTrue(steps.client.driver.tryAcquire());
    Call call = call();
    atLook(
        2,
        () -> {
          steps.server.driver.service(false);
          steps.requests.remove(0).echo();
        });
    steps.client.sendAndPoll(call.stream);
    assertTrue(other.isOver());
    assertTrue(looks < 5, () -> "looks=" + looks);
    assertFalse(steps.client.driver.tryAcquire(), "the other's token");
    serve();
    steps.client.work(true);
    steps.client.driver.releaseAndTell();
    assertEquals(Outcome.ANSWERED, call.outcome);
  }

  /** The owner of the token sends the request; the caller does not wait for it for long. */
  @Test
  void callerGivesUpWaitingForTheToken() {
    assertTrue(steps.client.driver.tryAcquire());
    Call call = call();
    steps.client.sendAndPoll(call.stream);
    assertFalse(call.stream.outboundBegun);
    assertTrue(steps.client.driver.releaseAndTell(), "asked for meanwhile");
    steps.client.driver.drive();
    assertTrue(call.stream.outboundBegun);
    serve();
    steps.stepClient();
    assertEquals(Outcome.ANSWERED, call.outcome);
  }

  /** Nothing is pending any more, but a stream's last message is still being read. */
  @Test
  void callerThatLeavesWhileOthersAreReadHasThePollerCome() {
    final BulkSteps bulk = new BulkSteps(FlowSteps.WIDE, 64 * BulkSteps.SEGMENT_LENGTH).attached();
    final FlowSteps.Call stream = bulk.flows.begin();
    bulk.steps.settle();
    final FlowSteps.Served served = bulk.flows.served();
    served.take();
    final Call unary = bulk.steps.prepare(bytes(8, 1), Stream.NO_DEADLINE);
    final byte[] last = FlowSteps.message(50 * BulkSteps.SEGMENT_LENGTH, 1);
    final int[] clocks = {0};
    bulk.steps.onClock =
        () -> {
          if (++clocks[0] == 2) { // the request was sent, and this caller is about to leave
            bulk.steps.server.write(
                served.stream, BulkSteps.unit(bulk.steps.server, PREFIX | MESSAGE | SUFFIX, last));
            bulk.steps.server.driver.service(false);
            bulk.steps.request().echo();
          }
        };
    bulk.steps.client.sendAndPoll(unary.stream);
    bulk.steps.onClock = () -> {};
    assertEquals(Outcome.ANSWERED, unary.outcome);
    assertFalse(bulk.steps.client.reads.isEmpty());
    assertEquals(ClientStream.State.DONE, stream.stream.state);
    bulk.steps.settle();
    assertArrayEquals(last, FlowSteps.bytesOf(stream.take()));
    assertEquals(Outcome.ANSWERED, stream.outcome());
    bulk.assertGivenBack();
  }
}
