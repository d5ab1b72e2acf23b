package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.DRAIN;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
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
import dev.ringfetch.session.SessionSteps.Sizes;
import dev.ringfetch.session.bulk.MemoryExchange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What no server may write of registered memory ends its session at the client. */
@Timeout(60)
class HostileServerBulkTest {
  private static final int REGION_LENGTH = 8192;
  private static final int TOTAL = 3000;
  private static final int LONG = 1_000_000; // of several rounds

  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY);
  private RingWriter writer;
  private RegisteredMemory memory;
  private Call call;

  @BeforeEach
  void start() throws IOException {
    call = steps.send(bytes(4, 1));
    steps.settle();
    writer = steps.hostileServer();
    memory = offer(REGION_LENGTH);
  }

  private RegisteredMemory offer(int length) throws IOException {
    final RegisteredMemory made = steps.fabric.server().register(length);
    made.region().putBytes(0, bytes(length, 7), 0, length);
    write(0, BULK, 0, made.descriptor());
    steps.stepClient();
    return made;
  }

  private void write(int streamId, int flags, int code, byte[] payload) {
    final int ack = (int) steps.geometry.requestPosition();
    assertEquals(
        RingWriter.WRITTEN, writer.write(streamId, flags, code, ack, payload, 0, payload.length));
    steps.fabric.server().ringDoorbell();
  }

  private void announce(int length) {
    final ByteBuffer first = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
    write(1, UNIT | PARTIAL, 0, first.putInt(length).array());
  }

  private long released() {
    return new ControlFlyweight(steps.fabric.server(), ArenaDescriptor.CLIENT_CONTROL_OFFSET)
        .released();
  }

  private void stepClient() {
    for (int i = 0; i < 5; i++) {
      steps.stepClient();
    }
  }

  private void assertEnded() {
    steps.stepClient();
    assertEquals(List.of("the peer broke the protocol"), steps.clientEnds);
  }

  @Test
  void responseOutOfMemoryThatWasOffered() {
    announce(TOTAL);
    write(1, CONTINUATION | BULK, 0, name(0, TOTAL, REGION_LENGTH - TOTAL));
    stepClient();
    assertNull(steps.client.endReason());
    assertArrayEquals(bytes(TOTAL, 7), call.response);
  }

  @ParameterizedTest
  @CsvSource({
    "-1, 3000, 0",
    "1, 3000, 0",
    "0, 0, 0",
    "0, -1, 0",
    "0, 2147483647, 0",
    "0, 3000, -1",
    "0, 3000, 5193",
    "0, 3000, 9223372036854775807"
  })
  void memoryThatIsNotThere(int region, int length, long offset) {
    announce(TOTAL);
    write(1, CONTINUATION | BULK, 0, name(region, length, offset));
    assertEnded();
    assertEquals(Outcome.SESSION_ENDED, call.outcome);
  }

  @ParameterizedTest
  @ValueSource(ints = {UNIT | BULK, UNIT | BULK | PARTIAL, MESSAGE | BULK, CONTINUATION | BULK})
  void bulkThatContinuesNothing(int flags) {
    write(1, flags, 0, name(0, 16, 0));
    assertEnded();
    assertEquals(Outcome.SESSION_ENDED, call.outcome);
  }

  @ParameterizedTest
  @ValueSource(ints = {BULK | DRAIN, BULK | CLOSE, BULK | PARTIAL, BULK | CONTINUATION})
  void flagsBesideAnOffer(int flags) {
    write(0, flags, 0, memory.descriptor());
    assertEnded();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void answerWithoutAnOffer(int code) {
    write(0, BULK, code, new byte[0]);
    assertEnded();
  }

  @Test
  void oneOfferTooMany() {
    for (int i = 1; i < MemoryExchange.MAX_OFFERS; i++) {
      write(0, BULK, 0, new byte[] {1});
    }
    stepClient();
    assertNull(steps.client.endReason());
    write(0, BULK, 0, new byte[] {1});
    assertEnded();
  }

  /** A second response while the first is read. */
  @ParameterizedTest
  @ValueSource(ints = {UNIT, UNIT | PARTIAL, MESSAGE, MESSAGE | PARTIAL})
  void unitBehindOneThatIsRead(int flags) throws IOException {
    offer(LONG);
    announce(LONG);
    write(1, CONTINUATION | BULK, 0, name(1, LONG, 0));
    steps.stepClient();
    assertNull(call.outcome);
    assertNull(steps.client.endReason());
    assertEquals(0, released(), "half of it was read");
    write(1, flags, 0, new byte[8]);
    assertEnded();
    assertArrayEquals(bytes(LONG, 7), call.response, "it was there before");
  }

  /** The call is told of the end, and the next one's response is its own. */
  @Test
  void closeWhileAResponseIsRead() throws IOException {
    offer(LONG);
    announce(LONG);
    write(1, CONTINUATION | BULK, 0, name(1, LONG, 0));
    steps.stepClient();
    assertNull(call.outcome);
    write(1, CLOSE, 14, new byte[0]);
    stepClient();
    assertEquals(Outcome.ANSWERED, call.outcome);
    assertEquals(CLOSE, call.flags);
    final Call next = steps.send(bytes(4, 2));
    write(next.stream.id, UNIT, 0, bytes(300, 9));
    stepClient();
    assertArrayEquals(bytes(300, 9), next.response);
    assertEquals(1, released());
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 2, Long.MAX_VALUE, Long.MIN_VALUE})
  void releasedWhatWasNeverGiven(long reads) {
    assertNull(steps.client.bulk().allocate(1));
    write(0, BULK, 1, new byte[0]);
    stepClient();
    final Call longer = steps.prepare(new byte[0], Stream.NO_DEADLINE);
    BulkSteps.put(steps.client, longer.stream.outbound(), bytes(100_000, 1));
    steps.client.send(longer.stream);
    assertNull(steps.client.endReason());
    new ControlFlyweight(steps.fabric.server(), ArenaDescriptor.SERVER_CONTROL_OFFSET)
        .released(reads);
    steps.client.driver.requestRound();
    assertEquals(List.of("the peer released what it was never given"), steps.clientEnds);
    assertEquals(0, steps.client.bulk().usedLength());
  }
}
