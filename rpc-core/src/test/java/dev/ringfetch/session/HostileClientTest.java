package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.DESCRIPTION;
import static dev.ringfetch.ring.FrameDescriptor.DRAIN;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.TRAILERS;
import static dev.ringfetch.ring.FrameDescriptor.WINDOW_UPDATE;
import static dev.ringfetch.session.SessionSteps.UNIT;
import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.bulk.MemoryExchange;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What no client may write ends its session at the server, and no other. */
@Timeout(60)
class HostileClientTest {
  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
  private final SessionSteps bystander = new SessionSteps(Sizes.ROOMY);
  private Call bystanding;
  private RingWriter writer;

  @BeforeEach
  void start() {
    bystanding = bystander.send(bytes(4, 1));
    writer = steps.hostileClient();
  }

  @AfterEach
  void bystanderIsServed() {
    bystander.answerAll();
    assertEquals(Outcome.ANSWERED, bystanding.outcome);
  }

  private void write(int streamId, int flags, int length) {
    write(streamId, flags, 0, new byte[length]);
  }

  private void write(int streamId, int flags, int ack, byte[] payload) {
    int sum = (int) steps.geometry.responsePosition() + ack;
    assertEquals(
        RingWriter.WRITTEN, writer.write(streamId, flags, 0, sum, payload, 0, payload.length));
    steps.fabric.client().ringDoorbell();
  }

  private void assertEnded() {
    steps.stepServer();
    assertEquals(List.of("the peer broke the protocol"), steps.serverEnds);
    assertTrue(steps.server.hasEnded());
    assertTrue(steps.fabric.server().isClosed());
    steps.stepClient();
    assertEquals(List.of("peer closed"), steps.clientEnds);
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        0,
        SUFFIX,
        MESSAGE,
        MESSAGE | SUFFIX,
        WINDOW_UPDATE,
        PREFIX | DESCRIPTION,
        UNIT | DESCRIPTION,
        UNIT | WINDOW_UPDATE,
        UNIT | TRAILERS,
        UNIT | DRAIN,
        UNIT | 0x8000,
        UNIT | CLOSE,
        CLOSE,
        CONTINUATION,
        CONTINUATION | PARTIAL,
        CLOSE | CONTINUATION,
        DRAIN
      })
  void flagsThatBeginNothing(int flags) {
    write(1, flags, 8);
    assertEnded();
    assertTrue(steps.requests.isEmpty());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 0x10000, 65, 0xFFFF, 0x1FFFF, -1})
  void idsThatAreNotOfTheTable(int streamId) {
    write(streamId, UNIT, 8);
    assertEnded();
  }

  @Test
  void lastIndexOfTheTableIsAnIndex() {
    write(64, UNIT, 8);
    steps.settle();
    assertEquals(64, steps.request().id);
    assertFalse(steps.server.hasEnded());
  }

  @Test
  void liveIdBeginsAnew() {
    write(1, UNIT, 8);
    steps.settle();
    write(1, UNIT, 8);
    assertEnded();
    assertEquals(1, steps.request().cancels);
  }

  @Test
  void nextGenerationBeginsBeforeTheLastHasEnded() {
    write(1, UNIT, 8);
    steps.settle();
    write(0x10001, UNIT, 8);
    assertEnded();
  }

  @Test
  void beginningWithinAChain() {
    write(1, UNIT | PARTIAL, 0, new byte[] {100, 0, 0, 0, 1});
    steps.settle();
    write(1, UNIT, 8);
    assertEnded();
    assertTrue(steps.requests.isEmpty());
  }

  @Test
  void closedIdBeginsAnew() {
    write(1, UNIT, 8);
    steps.settle();
    steps.request().echo();
    write(1, UNIT, 8);
    assertEnded();
  }

  /** What waits for the response ring is bounded, because an index waits for its end. */
  @Test
  void indexIsUsedAgainBeforeItsEndWasSent() {
    int slots = steps.geometry.responseRingLength() / FrameDescriptor.SLOT_LENGTH;
    int calls = 0;
    while (!steps.server.hasEnded()) {
      assertTrue(++calls <= slots + 64 + MemoryExchange.MAX_OFFERS + 3, "calls=" + calls);
      write(calls << 16 | 1, UNIT | PARTIAL, 0, new byte[] {100, 0, 0, 0, 1});
      write(calls << 16 | 1, CLOSE, 0);
      steps.stepServer();
    }
    assertTrue(calls > slots + 64 + MemoryExchange.MAX_OFFERS, "calls=" + calls);
    assertEquals(List.of("the peer broke the protocol"), steps.serverEnds);
  }

  @Test
  void framesThatCrossedTheLastOneAreNoOffence() {
    write(1, UNIT, 8);
    steps.settle();
    steps.request().echo();
    write(1, CONTINUATION | PARTIAL, 8);
    write(1, CLOSE, 0);
    write(0x10001, UNIT, 8);
    steps.settle();
    assertEquals(0x10001, steps.request().id);
    assertFalse(steps.server.hasEnded());
  }

  @Test
  void closeOfAnotherGeneration() {
    write(0x10001, UNIT, 8);
    steps.settle();
    write(0x20001, CLOSE, 0);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        CONTINUATION | MESSAGE,
        CONTINUATION | PARTIAL | MESSAGE,
        CONTINUATION | PARTIAL | 0x8000,
        CONTINUATION | PARTIAL | CLOSE,
        CLOSE | PREFIX,
        CLOSE | 0x8000,
        CONTINUATION | CLOSE
      })
  void flagsBesideCloseOrContinuation(int flags) {
    write(1, UNIT | PARTIAL, 0, new byte[] {100, 0, 0, 0, 1});
    steps.settle();
    write(1, flags, 8);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 64, 1 << 20, Integer.MAX_VALUE, -1, -100, Integer.MIN_VALUE})
  void ackOfWhatWasNeverSent(int ack) {
    write(1, UNIT, ack, new byte[8]);
    assertEnded();
    assertTrue(steps.requests.isEmpty());
  }

  @Test
  void ackGoesBack() {
    write(1, UNIT, 8);
    steps.settle();
    steps.request().echo();
    write(2, UNIT, 1, new byte[8]);
    steps.settle();
    assertFalse(steps.server.hasEnded());
    write(3, UNIT, 0, new byte[8]);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 1 << 20, Long.MIN_VALUE})
  void consumedWhatWasNeverSent(long ahead) {
    for (int i = 1; i <= 64; i++) {
      write(i, UNIT, 8);
    }
    steps.settle();
    steps
        .fabric
        .region()
        .putLongRelease(
            ArenaDescriptor.CLIENT_CONTROL_OFFSET + ControlDescriptor.CONSUMED_OFFSET,
            steps.geometry.responsePosition() + ahead);
    steps.requests.forEach(request -> request.respond(new byte[2000])); // more than the ring holds
    steps.settle();
    assertEquals(List.of("the peer acknowledged what was never sent"), steps.serverEnds);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7})
  void deadlineWithoutRoomForIt(int length) {
    write(1, UNIT | DEADLINE, length);
    assertEnded();
    assertTrue(steps.requests.isEmpty());
  }

  @Test
  void lengthBeyondTheRing() {
    long position = steps.client.writePosition();
    int slots = steps.geometry.requestRingLength() / FrameDescriptor.SLOT_LENGTH;
    steps
        .fabric
        .region()
        .putLongRelease(
            ArenaDescriptor.REQUEST_RING_OFFSET + (int) (position & (slots - 1)) * 64,
            FrameDescriptor.word0(
                FrameDescriptor.tag(steps.geometry.epoch(), position), Integer.MAX_VALUE));
    steps.fabric.client().ringDoorbell();
    assertEnded();
  }

  @Test
  void callsOfTheSessionAreCancelled() {
    write(1, UNIT, 8);
    write(2, UNIT, 8);
    steps.settle();
    steps.requests.get(0).echo();
    write(3, 0, 8);
    assertEnded();
    assertEquals(0, steps.requests.get(0).cancels);
    assertEquals(1, steps.requests.get(1).cancels);
    steps.requests.get(1).echo(); // dropped
  }

  /** Nothing that stands behind the offence is taken in. */
  @Test
  void framesBehindTheOffenceAreIgnored() {
    write(1, 0, 8);
    write(2, UNIT, 8);
    assertEnded();
    assertTrue(steps.requests.stream().allMatch(request -> request.stream.isCancelled()));
    assertEquals(List.of(), steps.requests);
  }

  /** A frame that never becomes whole costs its own session time, not the poller's other ones. */
  @Test
  void halfAFrameDoesNotStopThePoller() {
    long position = steps.client.writePosition();
    int slots = steps.geometry.requestRingLength() / FrameDescriptor.SLOT_LENGTH;
    steps
        .fabric
        .region()
        .putLongRelease(
            ArenaDescriptor.REQUEST_RING_OFFSET + (int) (position & (slots - 1)) * 64,
            FrameDescriptor.word0(FrameDescriptor.tag(steps.geometry.epoch(), position), 8));
    steps.fabric.client().ringDoorbell();
    for (int i = 0; i < 10; i++) {
      steps.stepServer();
    }
    assertFalse(steps.server.hasEnded());
    steps.fabric.client().disconnect("lost");
    for (int i = 0; i < 10; i++) {
      steps.advance(100_000);
      steps.stepServer();
    }
    assertEquals(List.of("lost"), steps.serverEnds);
  }

  /** Frames that come as fast as they are read, without credit, do not hold the server's thread. */
  @Test
  void floodDoesNotOutlastTheEnd() {
    int ring = steps.geometry.requestRingLength();
    InterleavedRegion region = new InterleavedRegion(ArenaDescriptor.length(ring, ring));
    SessionSteps flooded = new SessionSteps(Sizes.ROOMY, region);
    flooded.send(bytes(1, 1));
    flooded.answerAll();
    HeapFabric credit = new HeapFabric(64);
    ControlFlyweight line = new ControlFlyweight(credit.server(), 0);
    line.consumed(flooded.client.writePosition());
    RingWriter flood =
        new RingWriter(
            flooded.fabric.client(),
            ArenaDescriptor.REQUEST_RING_OFFSET,
            ring,
            flooded.geometry.epoch(),
            flooded.client.writePosition(),
            line);
    int ack = (int) flooded.server.writePosition();
    AtomicInteger written = new AtomicInteger();
    Runnable[] write = new Runnable[1];
    write[0] =
        () -> {
          flood.write(1, CLOSE, 0, ack, null, 0, 0); // to what is closed: no offence
          line.consumed(flood.position());
          if (written.incrementAndGet() < 50_000) {
            region.inject(1, write[0]);
          }
        };
    region.inject(0, write[0]);
    flooded.server.end("test");
    region.stop();
    assertEquals(List.of("test"), flooded.serverEnds);
    assertTrue(written.get() < 10_000, "the end waited for the peer: " + written);
  }

  /** Nor do long requests, of which there is a next one whenever one was read. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void floodOfLongRequestsDoesNotHoldTheThread(boolean atTheEnd) {
    int length = steps.geometry.requestRingLength();
    HostileRegion region = new HostileRegion(ArenaDescriptor.length(length, length));
    SessionSteps flooded = new SessionSteps(Sizes.ROOMY, region);
    HostileRing ring =
        new HostileRing(
            region,
            ArenaDescriptor.REQUEST_RING_OFFSET,
            length,
            flooded.geometry.epoch(),
            flooded.geometry.requestPosition());
    while (ring.position() % (length / FrameDescriptor.SLOT_LENGTH) != 0) {
      ring.write(0, FrameDescriptor.PAD, 0, 0, new byte[0]);
    }
    flooded.fabric.client().ringDoorbell();
    flooded.settle();
    byte[] request = new byte[ring.maxPayload()];
    int[] written = {0};
    Runnable[] write = new Runnable[1];
    write[0] =
        () -> {
          if (flooded.server.pollPosition() == ring.position() && written[0] < 60) {
            int ack = (int) flooded.geometry.responsePosition();
            ring.write(++written[0], UNIT, 0, ack, request);
          }
          region.changeBefore(0, write[0]);
        };
    region.watch();
    region.changeBefore(0, write[0]);
    if (atTheEnd) {
      flooded.server.end("test");
    } else {
      flooded.server.driver.service(false);
    }
    region.unwatch();
    assertTrue(written[0] > 0);
    assertTrue(region.copied() <= 2L * length, "copied=" + region.copied());
  }
}
