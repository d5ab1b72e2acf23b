package dev.ringfetch.session.unit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.clearInvocations;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.bulk.BulkAccess;
import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.bulk.PoolSteps;
import dev.ringfetch.session.bulk.Segment;
import dev.ringfetch.session.bulk.Segments;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Messages that are marshalled into registered memory, as far as there is any. */
class SegmentOutputTest {
  private static final int PAGE = BulkAccess.PAGE_LENGTH;

  private final PoolSteps steps = new PoolSteps();
  private final UnitBuffer unit = new UnitBuffer();

  /** A pool of so many pages, a page a segment. */
  private BulkPool pool(int pages) {
    BulkPool pool =
        steps.pool(new SessionContext().bulkLength(pages * PAGE).bulkSegmentLength(PAGE));
    pool.allocate(1);
    steps.attach(pool);
    return pool;
  }

  /** As the peer puts it together. What is in registered memory is given back. */
  private static byte[] takeAll(UnitBuffer unit) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int position = 0;
    Segments segments = unit.segments();
    Segments.Part part;
    while (segments != null && (part = segments.peek()) != null) {
      out.write(unit.array(), unit.offset() + position, part.position() - position);
      position = part.position();
      byte[] bytes = new byte[part.length()];
      part.segment().buffer().slice(part.offset(), part.length()).get(bytes);
      out.write(bytes, 0, bytes.length);
      segments.take().release();
    }
    out.write(unit.array(), unit.offset() + position, unit.arrayLength() - position);
    return out.toByteArray();
  }

  private static byte[] random(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** What is not in segments when a message of these pages meets a pool of those. */
  private int writtenOnHeap(int pages, BulkPool pool, byte[] message) {
    unit.addInt(0x0403_0201);
    SegmentOutput output = new SegmentOutput(unit, pool, message.length);
    output.write(message, 0, message.length);
    assertEquals(0, output.missing());
    unit.addShort(0x0605);
    assertEquals(message.length + 6, unit.length());
    assertEquals((long) Math.min(pages, 3) * PAGE, unit.segments().length());
    int onHeap = unit.arrayLength() - 6;
    byte[] expected = new byte[message.length + 6];
    System.arraycopy(new byte[] {1, 2, 3, 4}, 0, expected, 0, 4);
    System.arraycopy(message, 0, expected, 4, message.length);
    System.arraycopy(new byte[] {5, 6}, 0, expected, 4 + message.length, 2);
    assertArrayEquals(expected, takeAll(unit));
    assertEquals(0, pool.usedLength());
    return onHeap;
  }

  @Test
  void messageThatFitsIsAllInSegments() {
    assertEquals(0, writtenOnHeap(3, pool(3), random(new Random(1), 3 * PAGE)));
  }

  @Test
  void whenThePoolRunsDryTheRestIsCopied() {
    int length = 5 * PAGE + 100;
    assertEquals(2 * PAGE + 100, writtenOnHeap(5, pool(3), random(new Random(1), length)));
  }

  @Test
  void lastSegmentIsNoLongerThanWhatIsMissing() {
    BulkPool pool = pool(3);
    SegmentOutput output = new SegmentOutput(unit, pool, PAGE + 1);
    output.write(new byte[PAGE + 1], 0, PAGE + 1);
    assertEquals(PAGE, unit.segments().take().length());
    assertTrue(unit.segments().isLast());
    assertEquals(1, unit.segments().take().length());
    assertNull(unit.segments().peek());
  }

  @Test
  void memoryThatComesBackInTheMidstIsUsed() {
    BulkPool pool = pool(2);
    Segment other = pool.allocate(PAGE);
    byte[] message = random(new Random(2), 4 * PAGE);
    SegmentOutput output = new SegmentOutput(unit, pool, message.length);
    output.write(message, 0, PAGE);
    output.write(message, PAGE, 100); // into the unit
    other.release();
    output.write(message, PAGE + 100, PAGE - 100); // as much as a segment would have held
    output.write(message, 2 * PAGE, 2 * PAGE);
    assertEquals(0, output.missing());
    assertEquals(2 * PAGE, unit.segments().length());
    assertEquals(0, unit.segments().peek().position());
    assertEquals(message.length, unit.length());
    assertArrayEquals(message, takeAll(unit));
    assertEquals(0, pool.usedLength());
  }

  @Test
  void poolWithoutMemoryIsAskedOnceForAsMuchAsASegment() {
    BulkPool pool = spy(pool(2));
    Segment others = pool.allocate(2 * PAGE);
    byte[] message = random(new Random(3), 3 * PAGE);
    SegmentOutput output = new SegmentOutput(unit, pool, message.length);
    clearInvocations(pool);
    for (byte one : message) {
      output.write(one);
    }
    assertEquals(0, output.missing());
    verify(pool, times(3)).allocate(anyInt());
    assertArrayEquals(message, takeAll(unit));
    others.release();
  }

  @Test
  void messageMayBeShorterOrLongerThanEstimated() {
    for (int length : new int[] {1, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE, 2 * PAGE + 7, 4 * PAGE}) {
      for (int piece : new int[] {1, 100, PAGE, length}) {
        BulkPool pool = pool(3);
        byte[] message = random(new Random(length), length);
        unit.addShort(0x0201);
        SegmentOutput output = new SegmentOutput(unit, pool, 2 * PAGE, 4 * PAGE);
        for (int done = 0; done < length; done += piece) {
          output.write(message, done, Math.min(piece, length - done));
        }
        output.end();
        unit.addShort(0x0403);
        String what = "length=" + length + " piece=" + piece;
        assertEquals(length + 4, unit.length(), what);
        assertEquals(Math.min(length, 2 * PAGE), unit.segments().length(), what);
        byte[] whole = takeAll(unit);
        assertArrayEquals(message, Arrays.copyOfRange(whole, 2, length + 2), what);
        assertEquals(0x04, whole[length + 3], what);
        assertEquals(0, pool.usedLength(), what);
        unit.clear();
      }
    }
  }

  @Test
  void messageThatIsEstimatedGoesNowhereBeyondItsLimit() {
    BulkPool pool = pool(3);
    SegmentOutput output = new SegmentOutput(unit, pool, PAGE, PAGE + 10);
    output.write(new byte[PAGE + 10], 0, PAGE + 10);
    assertEquals(0, output.missing());
    output.write(1);
    assertTrue(output.missing() < 0);
    assertEquals(PAGE + 10, unit.length());
    unit.clear();
    assertEquals(0, pool.usedLength());
  }

  @Test
  void messageOfNoLengthTakesNothing() {
    BulkPool pool = pool(3);
    SegmentOutput output = new SegmentOutput(unit, pool, 0);
    output.write(new byte[0], 0, 0);
    assertEquals(0, output.missing());
    assertNull(unit.segments());
    assertEquals(0, pool.usedLength());
  }

  @Test
  void messageThatIsShorterThanItSaysLacksWhatItLacks() {
    BulkPool pool = pool(3);
    SegmentOutput output = new SegmentOutput(unit, pool, 3 * PAGE);
    output.write(new byte[PAGE + 10], 0, PAGE + 10);
    output.write(7);
    assertEquals(2 * PAGE - 11, output.missing());
    assertEquals(2 * PAGE, pool.usedLength());
    unit.clear();
    assertEquals(0, pool.usedLength());
  }

  @Test
  void messageThatIsLongerThanItSaysGoesNowhereBeyond() {
    for (int first : new int[] {0, 10, PAGE, PAGE + 10, 2 * PAGE}) {
      BulkPool pool = pool(3);
      SegmentOutput output = new SegmentOutput(unit, pool, 2 * PAGE);
      output.write(new byte[first], 0, first);
      int before = unit.length();
      output.write(new byte[2 * PAGE - first + 1], 0, 2 * PAGE - first + 1);
      assertTrue(output.missing() < 0, "first=" + first);
      output.write(1);
      output.write(new byte[PAGE], 0, PAGE);
      assertTrue(output.missing() < 0, "first=" + first);
      assertEquals(before, unit.length());
      unit.clear();
      assertEquals(0, pool.usedLength());
    }
  }

  /** Any message, in any pieces, into a pool of which others take and give back. */
  @Test
  void whatIsWrittenIsWhatThePeerPutsTogether() {
    long seed = Long.getLong("ringfetch.seed", 1);
    Random random = new Random(seed);
    BulkPool pool =
        steps.pool(new SessionContext().bulkLength(16 * PAGE).bulkSegmentLength(PAGE + PAGE / 2));
    pool.allocate(1);
    steps.attach(pool);
    List<Segment> others = new ArrayList<>();
    int mixed = 0;
    for (int round = 0; round < 500; round++) {
      byte[] prefix = random(random, random.nextInt(40));
      byte[] message = random(random, random.nextInt(20 * PAGE));
      unit.addBytes(prefix, 0, prefix.length);
      SegmentOutput output = new SegmentOutput(unit, pool, message.length);
      int done = 0;
      while (done < message.length) {
        disturb(random, pool, others);
        if (random.nextInt(4) == 0) {
          output.write(message[done++]);
        } else {
          int count = 1 + random.nextInt(Math.min(message.length - done, 1 + 3 * PAGE));
          output.write(message, done, count);
          done += count;
        }
        assertEquals(message.length - done, output.missing());
      }
      byte[] whole = Arrays.copyOf(prefix, prefix.length + message.length);
      System.arraycopy(message, 0, whole, prefix.length, message.length);
      String what = "-Dringfetch.seed=" + seed + " round=" + round;
      assertEquals(whole.length, unit.length(), what);
      mixed += unit.segments() != null && unit.arrayLength() > prefix.length ? 1 : 0;
      assertArrayEquals(whole, takeAll(unit), what);
      unit.clear();
    }
    assertTrue(mixed > 20, "mixed=" + mixed);
    others.forEach(Segment::release);
    assertEquals(0, pool.usedLength());
    assertNotNull(pool.allocate(16 * PAGE));
  }

  private static void disturb(Random random, BulkPool pool, List<Segment> others) {
    if (random.nextBoolean()) {
      Segment segment = pool.allocate(1 + random.nextInt(3 * PAGE));
      if (segment != null) {
        others.add(segment);
      }
    } else if (!others.isEmpty()) {
      others.remove(random.nextInt(others.size())).release();
    }
  }
}
