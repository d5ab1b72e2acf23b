package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.DRAIN;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
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
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What no server may write ends the session at the client; its calls are told. */
@Timeout(60)
class HostileServerTest {
  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
  private Call call;
  private RingWriter writer;

  @BeforeEach
  void start() {
    call = steps.send(bytes(4, 1));
    steps.settle();
    writer = steps.hostileServer();
  }

  private void write(int streamId, int flags, int ack, int length) {
    int sum = (int) steps.geometry.requestPosition() + ack;
    assertEquals(
        RingWriter.WRITTEN, writer.write(streamId, flags, 0, sum, new byte[length], 0, length));
    steps.fabric.server().ringDoorbell();
  }

  private void assertEnded() {
    steps.stepClient();
    assertEquals(List.of("the peer broke the protocol"), steps.clientEnds);
    assertEquals(Outcome.SESSION_ENDED, call.outcome);
    steps.stepServer();
    assertEquals(List.of("peer closed"), steps.serverEnds);
    assertEquals(1, steps.request().cancels);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 65, 0xFFFF, 0x10001, -1})
  void idsThatAwaitNothing(int streamId) {
    write(streamId, UNIT, 0, 8);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, UNIT, CLOSE, DRAIN | CLOSE})
  void sessionFramesThatAreNone(int flags) {
    write(0, flags, 0, 0);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {CONTINUATION, CONTINUATION | PARTIAL, CONTINUATION | MESSAGE, WINDOW_UPDATE})
  void flagsThatEndNothing(int flags) {
    write(1, flags, 0, 8);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 100, -1, Integer.MAX_VALUE, Integer.MIN_VALUE})
  void ackOfWhatWasNeverSent(int ack) {
    write(1, UNIT, ack, 8);
    assertEnded();
    assertNull(call.response);
  }

  @Test
  void secondAnswer() {
    Call other = steps.send(bytes(1, 1));
    write(1, UNIT, 0, 8);
    write(1, UNIT, 0, 8);
    steps.settle();
    assertEquals(List.of("the peer broke the protocol"), steps.clientEnds);
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertEquals(Outcome.SESSION_ENDED, other.outcome);
  }

  @Test
  void answerToWhatWasNeverSent() {
    Call unsent = steps.prepare(bytes(1, 1), Stream.NO_DEADLINE);
    write(unsent.stream.id, UNIT, 0, 8);
    assertEnded();
    steps.client.send(unsent.stream);
    assertEquals(Outcome.NOT_SENT, unsent.outcome);
  }

  /** A thread that sends meanwhile relies on the poller, which forgets a session that has ended. */
  @Test
  void sendWhileThePollerEndsTheSession() {
    int access = 0;
    boolean happened;
    do {
      InterleavedRegion region = new InterleavedRegion(steps.fabric.region().length());
      SessionSteps ending = new SessionSteps(Sizes.ROOMY, region);
      int ack = (int) ending.geometry.requestPosition();
      assertEquals(
          RingWriter.WRITTEN, ending.hostileServer().write(65, UNIT, 0, ack, new byte[8], 0, 8));
      ending.fabric.server().ringDoorbell();
      Call[] late = new Call[1];
      region.inject(access, () -> late[0] = ending.send(bytes(1, 2)));
      ending.stepClient();
      happened = region.stop();
      for (int i = 0; i < 3; i++) {
        ending.stepClient();
      }
      assertEquals(List.of("the peer broke the protocol"), ending.clientEnds);
      if (happened) {
        assertTrue(late[0].isOver(), "access=" + access);
      }
      access++;
    } while (happened);
    assertTrue(access > 2, "accesses=" + access);
  }

  /**
   * It may come with a link that is cut within a frame: the thread has to come back for the end.
   */
  @Test
  @Timeout(value = 10, threadMode = ThreadMode.SEPARATE_THREAD)
  void halfAFrameDoesNotHoldTheThread() {
    long position = steps.server.writePosition();
    int slots = steps.geometry.responseRingLength() / FrameDescriptor.SLOT_LENGTH;
    steps
        .fabric
        .region()
        .putLongRelease(
            ArenaDescriptor.responseRingOffset(steps.geometry.requestRingLength())
                + (int) (position & (slots - 1)) * 64,
            FrameDescriptor.word0(FrameDescriptor.tag(steps.geometry.epoch(), position), 8));
    steps.fabric.server().ringDoorbell();
    for (int i = 0; i < 5; i++) {
      steps.stepClient();
    }
    steps.fabric.client().disconnect("lost");
    for (int i = 0; i < 5; i++) {
      steps.advance(100_000);
      steps.stepClient();
    }
    assertEquals(List.of("lost"), steps.clientEnds);
    assertEquals(Outcome.SESSION_ENDED, call.outcome);
    assertTrue(steps.client.hasEnded());
  }
}
