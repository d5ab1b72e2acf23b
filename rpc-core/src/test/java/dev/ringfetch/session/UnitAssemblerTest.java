package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnitAssemblerTest {
  private static final int UNIT = PREFIX | MESSAGE | SUFFIX;
  private static final int MAX = 10_000;
  private static final int AT = 64;

  private final DirectRegion region = new DirectRegion(64 * 1024);
  private final Stream stream = new TestStream(1);

  private boolean first(int total, int bytes) {
    region.putInt(AT, total);
    return stream.incoming.accept(UNIT | PARTIAL, 9, region, AT, bytes + 4, MAX, null, stream);
  }

  private boolean next(boolean partial, int bytes) {
    int flags = CONTINUATION | (partial ? PARTIAL : 0);
    return stream.incoming.accept(flags, 0, region, AT, bytes, MAX, null, stream);
  }

  private boolean whole(int bytes) {
    return stream.incoming.accept(UNIT, 9, region, AT, bytes, MAX, null, stream);
  }

  @Test
  void frameIsAUnit() {
    region.putLong(AT, 0x0807060504030201L);
    assertTrue(whole(8));
    assertFalse(stream.incoming.isPartial());
    assertFalse(stream.inboundDiscarded());
    assertEquals(UNIT, stream.inboundFlags());
    assertEquals(9, stream.inboundCode());
    assertEquals(8, stream.inboundTotal());
    assertEquals(0x0807060504030201L, stream.inbound().getLong(0));
  }

  @Test
  void emptyFrameIsAUnit() {
    assertTrue(whole(0));
    assertFalse(stream.incoming.isPartial());
    assertEquals(0, stream.inbound().length());
  }

  @Test
  void firstFrameMayHoldTheLengthAlone() {
    assertTrue(first(7, 0));
    assertTrue(stream.incoming.isPartial());
    assertTrue(next(false, 7));
    assertEquals(7, stream.inbound().length());
  }

  @Test
  void chainIsAUnit() {
    long seed = Long.getLong("ringfetch.seed", 1);
    Random random = new Random(seed);
    for (int round = 0; round < 300; round++) {
      stream.reset();
      byte[] unit = new byte[2 + random.nextInt(MAX - 1)];
      random.nextBytes(unit);
      int sent = 1 + random.nextInt(unit.length - 1);
      region.putBytes(AT + 4, unit, 0, sent);
      assertTrue(first(unit.length, sent), () -> "seed=" + seed);
      while (sent < unit.length) {
        assertTrue(stream.incoming.isPartial());
        int bytes = 1 + random.nextInt(unit.length - sent);
        region.putBytes(AT, unit, sent, bytes);
        sent += bytes;
        assertTrue(next(sent < unit.length, bytes), () -> "seed=" + seed);
      }
      assertFalse(stream.incoming.isPartial());
      assertEquals(UNIT, stream.inboundFlags());
      assertEquals(9, stream.inboundCode());
      assertArrayEquals(
          unit,
          Arrays.copyOfRange(stream.inbound().array(), 4, 4 + stream.inbound().length()),
          () -> "seed=" + seed);
    }
  }

  @Test
  void whatHasComeOfAUnitIsGoneAfterAClose() {
    assertTrue(first(7, 3));
    stream.incoming.close(14);
    assertEquals(CLOSE, stream.inboundFlags());
    assertEquals(14, stream.inboundCode());
    assertEquals(0, stream.inbound().length(), "nothing is to be read as the close's status");
  }

  @Test
  void continuationOfNothing() {
    assertFalse(next(false, 5));
    assertFalse(next(true, 5));
  }

  @Test
  void continuationOfWhatIsWhole() {
    assertTrue(whole(5));
    assertFalse(next(false, 5));
  }

  @Test
  void secondBeginningWithinAChain() {
    assertTrue(first(100, 50));
    assertFalse(first(100, 50));
  }

  @Test
  void wholeFrameWithinAChain() {
    assertTrue(first(100, 50));
    assertFalse(whole(50));
  }

  @ParameterizedTest
  @ValueSource(ints = {-4, -3, -2, -1})
  void beginningWithoutRoomForTheLength(int bytes) {
    assertFalse(first(100, bytes));
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, -50, Integer.MIN_VALUE})
  void announcedLengthIsNegative(int total) {
    assertFalse(first(total, 0));
    stream.reset();
    assertFalse(first(total, 50));
  }

  @Test
  void beginningHasAllAndSaysThatMoreFollows() {
    assertFalse(first(50, 50));
    stream.reset();
    assertFalse(first(0, 0));
  }

  @Test
  void beginningHasMoreThanIsAnnounced() {
    assertFalse(first(49, 50));
  }

  @Test
  void endComesEarly() {
    assertTrue(first(100, 50));
    assertFalse(next(false, 49));
  }

  @Test
  void endComesLate() {
    assertTrue(first(100, 50));
    assertFalse(next(false, 51));
  }

  @Test
  void moreFollowsThoughAllIsThere() {
    assertTrue(first(100, 50));
    assertFalse(next(true, 50));
  }

  @Test
  void nothingIsTakenBeyondTheEnd() {
    assertTrue(first(100, 50));
    assertFalse(next(true, 51));
    assertTrue(stream.inbound().length() <= 100);
  }

  @Test
  void tooLongAFrameIsDropped() {
    assertTrue(whole(MAX));
    assertFalse(stream.inboundDiscarded());
    stream.reset();
    assertTrue(whole(MAX + 1));
    assertTrue(stream.inboundDiscarded());
    assertEquals(MAX + 1, stream.inboundTotal());
    assertEquals(0, stream.inbound().length());
  }

  @Test
  void tooLongAChainIsTakenInAndDropped() {
    assertTrue(first(MAX + 1, MAX - 10));
    assertTrue(next(true, 10));
    assertTrue(next(false, 1));
    assertTrue(stream.inboundDiscarded());
    assertFalse(stream.incoming.isPartial());
    assertEquals(0, stream.inbound().length());
  }

  @Test
  void tooLongAChainIsHeldToItsLengthAllTheSame() {
    assertTrue(first(MAX + 1, MAX));
    assertFalse(next(false, 2));
  }

  @Test
  void memoryGrowsWithWhatArrives() {
    region.putInt(AT, Integer.MAX_VALUE - 2000);
    assertTrue(
        stream.incoming.accept(
            UNIT | PARTIAL, 0, region, AT, 100, Integer.MAX_VALUE - 1000, null, stream));
    assertTrue(stream.inbound().array().length < 1000);
  }
}
