package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.SLOT_LENGTH;
import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.carrier.HeadWatch;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A session of which another process has overwritten a frame before it was read ends, so that its
 * calls do; one whose peer was stopped in the midst of a frame goes on with it.
 */
@Timeout(60)
class HeadWatchTest {
  private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);
  private static final Sizes SIZES = new Sizes(1024, 256, 16, 100_000);

  private final SessionSteps steps = new SessionSteps(SIZES);
  private final MemoryRegion memory = steps.fabric.client().memory();

  private int requestSlot(long position) {
    final int slots = SIZES.ringLength() / SLOT_LENGTH;
    return ArenaDescriptor.REQUEST_RING_OFFSET + (int) (position & (slots - 1)) * SLOT_LENGTH;
  }

  private int responseSlot(long position) {
    return requestSlot(position) + SIZES.ringLength();
  }

  private void assertEnded(long position, Call... calls) {
    final String reason = "another process has overwritten the memory: position=" + position;
    assertEquals(List.of(), steps.clientEnds);
    assertEquals(List.of(), steps.serverEnds);
    steps.advance(HeadWatch.PATIENCE_NS);
    steps.settle();
    assertTrue(steps.clientEnds.contains(reason) || steps.serverEnds.contains(reason), "no end");
    assertEquals(1, steps.clientEnds.size());
    assertEquals(1, steps.serverEnds.size());
    for (final Call call : calls) {
      assertEquals(Outcome.SESSION_ENDED, call.outcome);
    }
  }

  /** Without the later one it cannot be told from a request that was never sent. */
  @ParameterizedTest
  @ValueSource(longs = {0, 5_000_000_000L})
  void requestThatWasZeroedEndsTheSessionWithALaterOne(long laterNs) {
    final long head = steps.client.writePosition();
    final Call lost = steps.send(bytes(10, 1));
    memory.putLong(requestSlot(head), 0);
    steps.settle();
    steps.advance(laterNs);
    steps.settle();
    final Call later = steps.send(bytes(10, 2));
    steps.settle();
    assertFalse(lost.isOver());
    assertEnded(head, lost, later);
    assertTrue(steps.server.isPeerAtFault());
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 5_000_000_000L})
  void responseThatWasZeroedEndsTheSessionWithALaterOne(long laterNs) {
    final Call lost = steps.send(bytes(10, 1));
    final Call later = steps.send(bytes(10, 2));
    steps.settle();
    final long head = steps.server.writePosition();
    steps.requests.remove(0).echo();
    memory.putLong(responseSlot(head), 0);
    steps.settle();
    steps.advance(laterNs);
    steps.settle();
    steps.request().echo();
    steps.settle();
    assertFalse(lost.isOver());
    assertEnded(head, lost, later);
    assertTrue(steps.client.isPeerAtFault());
  }

  @Test
  void requestWhoseCommitWordWasOverwrittenEndsTheSession() {
    final long head = steps.client.writePosition();
    final Call lost = steps.send(bytes(10, 1));
    memory.putLong(requestSlot(head) + SLOT_LENGTH - Long.BYTES, 0);
    for (int i = 0; i < 100; i++) {
      steps.stepServer(); // it never sleeps over half a frame
    }
    assertEnded(head, lost);
  }

  /** There no ring that brings nothing makes the server suspicious. */
  @Test
  void requestThatWasOverwrittenWhileTheServerPollsEndsTheSession() {
    final Call before = steps.send(bytes(10, 1));
    steps.stepServer();
    final long head = steps.client.writePosition();
    final Call lost = steps.send(bytes(10, 2));
    memory.putLong(requestSlot(head) + SLOT_LENGTH - Long.BYTES, 0);
    for (int i = 0; i < 100; i++) {
      steps.stepServer();
    }
    assertEnded(head, before, lost);
  }

  @Test
  void requestWhoseLengthWasOverwrittenEndsTheSession() {
    final long head = steps.client.writePosition();
    final Call lost = steps.send(bytes(10, 1));
    memory.putInt(requestSlot(head), 90);
    for (int i = 0; i < 100; i++) {
      steps.stepServer();
    }
    assertEnded(head, lost);
  }

  /** All but the last store of a frame, with a ring that came for nothing, for an hour. */
  @Test
  void writerThatWasStoppedInAFrameIsWaitedFor() {
    final long head = steps.client.writePosition();
    final Call call = steps.send(bytes(10, 1));
    final long word0 = memory.getLong(requestSlot(head));
    memory.putLong(requestSlot(head), 0);
    for (int i = 0; i < 3; i++) {
      steps.fabric.client().ringDoorbell();
      steps.settle();
      steps.advance(HOUR_NS);
      steps.settle();
    }
    assertEquals(List.of(), steps.serverEnds);
    memory.putLongRelease(requestSlot(head), word0);
    steps.fabric.client().ringDoorbell();
    steps.answerAll();
    assertEquals(Outcome.ANSWERED, call.outcome);
  }

  /** The reader may see the second of two frames before it has seen that the first has come. */
  @Test
  void framesThatComeWhileTheReaderLooksAreTaken() {
    final InterleavedRegion region =
        new InterleavedRegion(ArenaDescriptor.length(SIZES.ringLength(), SIZES.ringLength()));
    boolean happened = true;
    for (int access = 0; happened; access++) {
      final SessionSteps other = new SessionSteps(SIZES, region);
      other.fabric.client().ringDoorbell();
      other.settle();
      other.advance(HeadWatch.PATIENCE_NS);
      region.inject(
          access,
          () -> {
            other.send(bytes(10, 1));
            other.send(bytes(10, 2));
          });
      other.stepServer();
      other.stepServer();
      happened = region.stop();
      other.answerAll();
      assertEquals(List.of(), other.serverEnds, "access " + access);
      if (happened) {
        assertEquals(2, other.server.count(Counter.SESSION_CALLS));
      }
      for (int i = 0; i < region.length(); i += Long.BYTES) {
        region.putLong(i, 0);
      }
    }
  }

  @Test
  void ringsForNothingEndNothing() {
    for (int i = 0; i < 10; i++) {
      steps.fabric.client().ringDoorbell();
      steps.fabric.server().ringDoorbell();
      steps.settle();
      steps.advance(HOUR_NS);
      steps.settle();
    }
    final Call call = steps.send(bytes(10, 1));
    steps.answerAll();
    assertEquals(Outcome.ANSWERED, call.outcome);
  }
}
