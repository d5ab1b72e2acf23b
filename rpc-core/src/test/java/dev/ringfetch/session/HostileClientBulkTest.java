package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.WINDOW_UPDATE;
import static dev.ringfetch.session.BulkSteps.name;
import static dev.ringfetch.session.SessionSteps.UNIT;
import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.ringfetch.fabric.RegisteredMemory;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlFlyweight;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.ServerCall;
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.bulk.MemoryExchange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What no client may write of registered memory ends its session at the server, and no other. */
@Timeout(60)
class HostileClientBulkTest {
  private static final int REGION_LENGTH = 8192;
  private static final int TOTAL = 3000;

  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
  private final SessionSteps bystander = new SessionSteps(Sizes.ROOMY);
  private final RingWriter writer = steps.hostileClient();
  private Call bystanding;
  private RegisteredMemory memory;

  @BeforeEach
  void start() throws IOException {
    bystanding = bystander.send(bytes(4, 1));
    memory = steps.fabric.client().register(REGION_LENGTH);
    memory.region().putBytes(0, bytes(REGION_LENGTH, 7), 0, REGION_LENGTH);
    write(0, BULK, 0, memory.descriptor());
    steps.stepServer();
    assertEquals(1, steps.server.exchange.attached().size());
  }

  @AfterEach
  void bystanderIsServed() {
    bystander.answerAll();
    assertEquals(Outcome.ANSWERED, bystanding.outcome);
  }

  private void write(int streamId, int flags, int code, byte[] payload) {
    final int ack = (int) steps.geometry.responsePosition();
    assertEquals(
        RingWriter.WRITTEN, writer.write(streamId, flags, code, ack, payload, 0, payload.length));
    steps.fabric.client().ringDoorbell();
  }

  /** The first frame of a request, with nothing of it. */
  private void announce(int streamId, int flags) {
    final ByteBuffer first = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
    write(streamId, flags | PARTIAL, 0, first.putInt(TOTAL).array());
  }

  private void assertAlive() {
    for (int i = 0; i < 5; i++) {
      steps.stepServer();
    }
    assertNull(steps.server.endReason());
  }

  private void assertEnded() {
    steps.stepServer();
    assertEquals(List.of("the peer broke the protocol"), steps.serverEnds);
  }

  private long released() {
    return new ControlFlyweight(steps.fabric.client(), ArenaDescriptor.SERVER_CONTROL_OFFSET)
        .released();
  }

  @Test
  void lastBytesOfTheRegion() {
    announce(1, UNIT);
    write(1, CONTINUATION | BULK, 0, name(0, TOTAL, REGION_LENGTH - TOTAL));
    assertAlive();
    assertArrayEquals(bytes(TOTAL, 7), steps.request().request);
    assertEquals(1, released());
  }

  @Test
  void wholeRegion() {
    final ByteBuffer first = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
    write(1, UNIT | PARTIAL, 0, first.putInt(REGION_LENGTH).array());
    write(1, CONTINUATION | BULK, 0, name(0, REGION_LENGTH, 0));
    assertAlive();
    assertArrayEquals(bytes(REGION_LENGTH, 7), steps.request().request);
  }

  @ParameterizedTest
  @CsvSource({
    "-1, 3000, 0",
    "1, 3000, 0",
    "2147483647, 3000, 0",
    "-2147483648, 3000, 0",
    "0, 0, 0",
    "0, -1, 0",
    "0, -2147483648, 0",
    "0, 2147483647, 0",
    "0, 8193, 0",
    "0, 3000, -1",
    "0, 3000, 5193",
    "0, 3000, 8192",
    "0, 3000, 4294967296",
    "0, 3000, 9223372036854775807",
    "0, 3000, -9223372036854775808"
  })
  void memoryThatIsNotThere(int region, int length, long offset) {
    announce(1, UNIT);
    write(1, CONTINUATION | BULK | PARTIAL, 0, name(region, length, offset));
    assertEnded();
    assertEquals(0, steps.requests.size());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 15, 17, 32, 64})
  void nameOfAnotherLength(int length) {
    announce(1, UNIT);
    final byte[] payload = new byte[length];
    System.arraycopy(name(0, TOTAL, 0), 0, payload, 0, Math.min(length, 16));
    write(1, CONTINUATION | BULK, 0, payload);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {TOTAL - 1, TOTAL + 1})
  void moreOrLessThanAnnounced(int length) {
    announce(1, UNIT);
    write(1, CONTINUATION | BULK, 0, name(0, length, 0));
    assertEnded();
  }

  /**
   * What a torn request has named is read at the end of the session, and makes no request of it.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void lastFrameOfAnotherLengthBehindBulk(int length) {
    announce(1, UNIT);
    write(1, CONTINUATION | BULK | PARTIAL, 0, name(0, TOTAL - 2, 0));
    write(1, CONTINUATION, 0, bytes(length, 1));
    assertEnded();
    assertEquals(0, steps.requests.size());
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        UNIT | BULK,
        UNIT | BULK | PARTIAL,
        PREFIX | BULK,
        BULK,
        MESSAGE | BULK,
        CLOSE | BULK,
        CONTINUATION | BULK,
        WINDOW_UPDATE | BULK
      })
  void bulkThatContinuesNothing(int flags) {
    write(1, flags, 0, name(0, 16, 0));
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        BULK,
        BULK | PARTIAL,
        BULK | MESSAGE,
        BULK | CLOSE,
        BULK | WINDOW_UPDATE,
        BULK | CONTINUATION | MESSAGE
      })
  void bulkInAStreamWithoutContinuation(int flags) {
    write(1, PREFIX, 0, new byte[0]);
    announce(1, MESSAGE);
    assertAlive();
    write(1, flags, 0, name(0, 16, 0));
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void answerWithoutAnOffer(int code) {
    write(0, BULK, code, new byte[0]);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 0xFFFF})
  void answerThatIsNone(int code) {
    offer();
    write(0, BULK, code, new byte[0]);
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void secondAnswer(int code) {
    offer();
    write(0, BULK, code, new byte[0]);
    assertAlive();
    write(0, BULK, code, new byte[0]);
    assertEnded();
  }

  private void offer() {
    assertNull(steps.server.bulk().allocate(1));
  }

  /** One was taken, and what cannot be attached counts, too. */
  @Test
  void oneOfferTooMany() {
    for (int i = 1; i < MemoryExchange.MAX_OFFERS; i++) {
      write(0, BULK, 0, i % 2 == 0 ? memory.descriptor() : new byte[3]);
    }
    assertAlive();
    assertEquals(8, steps.server.exchange.attached().size());
    write(0, BULK, 0, memory.descriptor());
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 3, Long.MAX_VALUE, Long.MIN_VALUE})
  void releasedWhatWasNeverGiven(long reads) {
    offer();
    write(0, BULK, 1, new byte[0]);
    write(1, UNIT, 0, new byte[8]);
    assertAlive();
    final ServerCall call = steps.request();
    BulkSteps.put(steps.server, call.stream.outbound(), bytes(300_000, 1)); // two segments
    steps.server.respond(call.stream, UNIT, 0, true);
    assertAlive();
    new ControlFlyweight(steps.fabric.client(), ArenaDescriptor.CLIENT_CONTROL_OFFSET)
        .released(reads);
    steps.server.driver.requestRound();
    assertEquals(List.of("the peer released what it was never given"), steps.serverEnds);
    assertEquals(0, steps.server.bulk().usedLength());
  }

  @Test
  void releasedThatGoesBack() {
    offer();
    write(0, BULK, 1, new byte[0]);
    write(1, UNIT, 0, new byte[8]);
    assertAlive();
    final ServerCall call = steps.request();
    BulkSteps.put(steps.server, call.stream.outbound(), bytes(300_000, 1));
    steps.server.respond(call.stream, UNIT, 0, true);
    final ControlFlyweight control =
        new ControlFlyweight(steps.fabric.client(), ArenaDescriptor.CLIENT_CONTROL_OFFSET);
    control.released(1);
    steps.server.driver.requestRound();
    assertNull(steps.server.endReason());
    assertEquals(40_960, steps.server.bulk().usedLength()); // of the second segment
    control.released(0);
    steps.server.driver.requestRound();
    assertEquals(List.of("the peer released what it was never given"), steps.serverEnds);
  }

  /** Reads of a call that was answered meanwhile are not done, but count as done. */
  @Test
  void readsOfACallThatIsClosedCount() {
    announce(1, UNIT);
    write(1, CONTINUATION | BULK | PARTIAL, 0, name(0, 100, 0));
    write(1, CLOSE, 0, new byte[0]);
    write(1, CONTINUATION | BULK, 0, name(0, TOTAL - 100, 0));
    assertAlive();
    assertEquals(2, released());
    assertEquals(0, steps.requests.size());
    assertEquals(0, steps.server.heldLength());
  }
}
