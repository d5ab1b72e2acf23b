package dev.ringfetch.session.unit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.bulk.ArrayPool;
import dev.ringfetch.session.bulk.BulkAccess;
import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.bulk.PoolSteps;
import dev.ringfetch.session.bulk.Segment;
import dev.ringfetch.session.bulk.Segments;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Units some of whose bytes are elsewhere: in registered memory, or still at the peer's. */
class UnitSegmentsTest {
  private static final int PAGE = BulkAccess.PAGE_LENGTH;

  private final PoolSteps steps = new PoolSteps();
  private final BulkPool pool = steps.grown(16 * PAGE);
  private final UnitBuffer unit = new UnitBuffer();
  private final ArrayPool arrays = new ArrayPool();

  @Test
  void lengthIsThatOfAllParts() {
    unit.addInt(1);
    unit.addSegment(pool.allocate(100), 10, 90);
    unit.addShort(2);
    unit.addSegment(pool.allocate(PAGE), 0, PAGE);
    unit.addLong(3);
    assertEquals(4 + 90 + 2 + PAGE + 8, unit.length());
    assertEquals(14, unit.arrayLength());
    assertEquals(90 + PAGE, unit.segments().length());
    unit.storeLength();
    unit.segments().take().release();
    assertEquals(4 + 90 + 2 + PAGE + 8, unit.length(), "also of what was taken");
  }

  @Test
  void partsStandWhereTheyWereAdded() {
    for (int i = 0; i < 9; i++) { // more than there is room for at first
      unit.addSegment(pool.allocate(PAGE), i, 100 + i);
      unit.addShort(i);
    }
    Segments segments = unit.segments();
    for (int i = 0; i < 9; i++) {
      Segments.Part part = segments.peek();
      assertSame(part, segments.peek());
      assertEquals(i, part.offset());
      assertEquals(100 + i, part.length());
      assertEquals(2 * i, part.position());
      assertEquals(i == 8, segments.isLast());
      Segment taken = segments.take();
      assertSame(part.segment(), taken);
      taken.release();
    }
    assertNull(segments.peek());
    assertEquals(0, pool.usedLength());
  }

  @Test
  void whatWasNotTakenIsGivenBackOnce() {
    unit.addSegment(pool.allocate(PAGE), 0, 1);
    unit.addSegment(pool.allocate(PAGE), 0, 1);
    unit.addSegment(pool.allocate(PAGE), 0, 1);
    Segment taken = unit.segments().take();
    unit.releaseSegments();
    assertEquals(PAGE, pool.usedLength());
    Segment next = pool.allocate(2 * PAGE); // of what was just given back
    unit.releaseSegments();
    unit.clear();
    unit.clear();
    assertEquals(3 * PAGE, pool.usedLength());
    next.release();
    taken.release();
    assertEquals(0, pool.usedLength());
    assertNull(unit.segments());
    assertEquals(0, unit.length());
  }

  @Test
  void oneSegmentMayBeInManyUnits() {
    UnitBuffer other = new UnitBuffer();
    Segment segment = pool.allocate(PAGE);
    unit.addSegment(segment.retain(), 0, 10);
    unit.addSegment(segment.retain(), 10, 10);
    other.addSegment(segment.retain(), 0, 20);
    segment.release();
    unit.clear();
    assertEquals(PAGE, pool.usedLength());
    other.clear();
    assertEquals(0, pool.usedLength());
  }

  @Test
  void unitOfMoreThanAnArrayIsRefused() {
    unit.addSegment(pool.allocate(PAGE), 0, UnitBuffer.MAX_LENGTH);
    assertEquals(UnitBuffer.MAX_LENGTH, unit.length());
    unit.addShort(1);
    assertThrows(IllegalStateException.class, unit::length);
  }

  @Test
  void unitWithSegmentsIsNotTruncated() {
    unit.addLong(1);
    unit.addSegment(pool.allocate(PAGE), 0, 10);
    assertThrows(IllegalArgumentException.class, () -> unit.truncate(4));
    assertEquals(18, unit.length());
  }

  @Test
  void lastReadIsTold() {
    assertFalse(unit.isReading());
    unit.beginRead();
    unit.beginRead();
    assertFalse(unit.endRead());
    assertTrue(unit.isReading());
    assertTrue(unit.endRead());
    assertFalse(unit.isReading());
  }

  @Test
  void clearedItWaitsForNoReadAndIsAnotherGeneration() {
    int generation = unit.generation();
    unit.beginRead();
    unit.clear();
    assertFalse(unit.isReading());
    assertEquals(generation + 1, unit.generation());
  }

  @Test
  void memoryGrowsWithWhatHasArrivedNotWithWhatIsAnnounced() {
    unit.extend(10_000, 50_000_000, arrays);
    assertTrue(unit.array().length <= 50_000, "length=" + unit.array().length);
    int length = unit.array().length;
    unit.extend(length, 50_000_000, arrays);
    assertTrue(unit.array().length <= 8 * length, "length=" + unit.array().length);
    assertEquals(10_000 + length, unit.length());
  }

  @Test
  void whatIsAnnouncedIsTakenAtOnceIfItIsNotMuchMore() {
    unit.extend(10_000, 30_000, arrays);
    byte[] array = unit.array();
    assertEquals(UnitBuffer.HEADROOM + 30_000, array.length);
    unit.extend(20_000, 30_000, arrays);
    assertSame(array, unit.array());
  }

  @Test
  void bytesThatAreThereSurviveTheGrowth() {
    byte[] bytes = {1, 2, 3};
    unit.addBytes(bytes, 0, 3);
    unit.extend(10_000, 100_000, arrays);
    unit.extend(80_000, 100_000, arrays);
    assertArrayEquals(bytes, Arrays.copyOfRange(unit.array(), unit.offset(), unit.offset() + 3));
    assertEquals(90_003, unit.length());
  }

  @Test
  void arrayGoesBackWhereItIsFromWhenTheUnitIsCleared() {
    unit.extend(50_000, 50_000, arrays);
    byte[] array = unit.array();
    unit.clear();
    unit.clear();
    assertNotSame(array, unit.array());
    assertSame(array, arrays.take(50_000));
    assertNotSame(array, arrays.take(50_000), "given back twice");
  }

  @Test
  void arrayThatWasTooShortGoesBackWhenALongerOneTakesItsPlace() {
    unit.extend(10_000, 100_000, arrays);
    byte[] first = unit.array();
    unit.extend(80_000, 100_000, arrays);
    byte[] second = unit.array();
    assertNotSame(first, second);
    unit.clear();
    assertSame(first, arrays.take(first.length));
    assertSame(second, arrays.take(second.length));
    assertNotSame(first, arrays.take(first.length));
    assertNotSame(second, arrays.take(second.length));
  }

  @Test
  void arrayThatWasTakenOutIsNobodyElses() {
    unit.extend(50_000, 50_000, arrays);
    byte[] array = unit.detach();
    unit.clear();
    assertEquals(0, unit.length());
    assertNotSame(array, arrays.take(50_000));
    assertNotNull(array);
  }

  @Test
  void arrayOfTheUnitsOwnIsNotGivenAway() {
    unit.extend(20_000);
    byte[] own = unit.array();
    unit.clear();
    assertNotSame(own, arrays.take(own.length));
  }
}
