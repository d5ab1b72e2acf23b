package dev.ringfetch.session.bulk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.unit.UnitBuffer;
import dev.ringfetch.system.Await;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the memory grows out of which a peer reads, and to whom it belongs. */
class BulkPoolTest {
  private static final int PAGE = BulkRegion.PAGE_LENGTH;
  private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
  private static final int LIMIT_S = 30;

  private final PoolSteps steps = new PoolSteps();

  @Test
  void firstToAskIsRefusedAndHasItGrow() {
    BulkPool pool = steps.pool(8 * PAGE);
    assertNull(pool.allocate(100));
    assertEquals(1, steps.attempts());
    assertNull(pool.allocate(100), "the peer has not answered");
    assertEquals(1, steps.attempts());
    assertArrayEquals(steps.memory(0).descriptor(), pool.takeOffer(Integer.MAX_VALUE));
    assertNull(pool.takeOffer(Integer.MAX_VALUE), "offered once");
    assertNull(pool.allocate(100));
    assertFalse(steps.memory(0).isSettled());
    assertTrue(pool.onAnswer(true));
    assertTrue(steps.memory(0).isSettled());
    assertEquals(100, pool.allocate(100).length());
    assertEquals(PAGE, pool.usedLength());
    assertEquals(1, steps.attempts());
  }

  @Test
  void answerToWhatWasNotOfferedIsABreachOfTheProtocol() {
    BulkPool pool = steps.pool(8 * PAGE);
    assertFalse(pool.onAnswer(true));
    pool.allocate(100);
    assertFalse(pool.onAnswer(true), "it is not written yet");
    pool.takeOffer(Integer.MAX_VALUE);
    assertTrue(pool.onAnswer(true));
    assertFalse(pool.onAnswer(true), "answered twice");
  }

  @Test
  void itGrowsByARegionAtATimeUpToItsLimit() {
    BulkPool pool = steps.pool(3 * BulkPool.REGION_LENGTH - 1);
    for (int number = 0; number < 2; number++) {
      assertNull(pool.allocate(BulkPool.REGION_LENGTH));
      assertEquals(BulkPool.REGION_LENGTH, steps.memory(number).region().length());
      steps.attach(pool);
      Segment all = pool.allocate(BulkPool.REGION_LENGTH);
      assertEquals(number, all.region().number());
      assertEquals(0, all.offset());
    }
    assertNull(pool.allocate(1));
    assertEquals(2, steps.attempts(), "a third would be beyond the limit");
    assertNull(pool.takeOffer(Integer.MAX_VALUE));
    assertEquals(2L * BulkPool.REGION_LENGTH, pool.usedLength());
  }

  @Test
  void whatIsLongerThanARegionHasOneOfItsOwn() {
    BulkPool pool = steps.pool(3 * BulkPool.REGION_LENGTH);
    int length = BulkPool.REGION_LENGTH + 1;
    assertNull(pool.allocate(length));
    assertEquals(BulkPool.REGION_LENGTH + PAGE, steps.memory(0).region().length());
    steps.attach(pool);
    assertEquals(length, pool.allocate(length).length());
    assertNull(pool.allocate(3 * BulkPool.REGION_LENGTH));
    assertEquals(1, steps.attempts());
  }

  @Test
  void itOffersNoMoreOftenThanAPeerListens() {
    steps.pretend();
    BulkPool pool = steps.pool(Integer.MAX_VALUE);
    for (int number = 0; number < MemoryExchange.MAX_OFFERS; number++) {
      assertNull(pool.allocate(BulkPool.REGION_LENGTH));
      steps.attach(pool);
      assertNotNull(pool.allocate(BulkPool.REGION_LENGTH));
    }
    assertNull(pool.allocate(BulkPool.REGION_LENGTH));
    assertEquals(MemoryExchange.MAX_OFFERS, steps.attempts());
  }

  @Test
  void whatAPeerWouldRefuseIsNotOffered() {
    steps.pretend();
    BulkPool pool = steps.pool(Integer.MAX_VALUE);
    assertNull(pool.allocate(MemoryExchange.MAX_ATTACHED_LENGTH + 1));
    assertEquals(0, steps.attempts());
    assertNull(pool.allocate(MemoryExchange.MAX_ATTACHED_LENGTH));
    steps.attach(pool);
    assertNotNull(pool.allocate(MemoryExchange.MAX_ATTACHED_LENGTH));
  }

  /** Any limit can be set, of which only whole pages can be had. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 63, 1000, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE + 100})
  void noLimitIsExceeded(int limit) {
    BulkPool pool = steps.pool(limit);
    for (int length : new int[] {-1, 0, 1, PAGE, limit, limit + 1, Integer.MAX_VALUE}) {
      assertNull(pool.allocate(length));
    }
    assertEquals(limit < PAGE ? 0 : 1, steps.attempts());
    if (limit >= PAGE) {
      steps.attach(pool);
      int pages = limit / PAGE;
      assertEquals(pages * PAGE, steps.memory(0).region().length());
      assertNotNull(pool.allocate(pages * PAGE));
      assertNull(pool.allocate(1));
      assertEquals(1, steps.attempts());
    }
  }

  @Test
  void nothingIsNotAllocated() {
    BulkPool pool = steps.grown(8 * PAGE);
    for (int length : new int[] {0, -1, Integer.MIN_VALUE}) {
      assertNull(pool.allocate(length), "length=" + length);
    }
    assertEquals(0, pool.usedLength());
  }

  /** A ring of the shortest frames has no room for what a fabric's memory is found by. */
  @Test
  void offerThatDoesNotFitInAFrameIsNotMade() {
    BulkPool pool = steps.pool(8 * PAGE);
    pool.allocate(100);
    int length = steps.memory(0).descriptor().length;
    assertNull(pool.takeOffer(length - 1));
    assertTrue(steps.memory(0).isSettled());
    assertFalse(pool.onAnswer(true), "nothing was offered");
    steps.advance(60 * SECOND_NS);
    assertNull(pool.allocate(100));
    assertEquals(1, steps.attempts(), "the next would not fit, either");

    BulkPool other = steps.pool(8 * PAGE);
    other.allocate(100);
    assertNotNull(other.takeOffer(length));
  }

  /** A name of a pool's memory means something else, or nothing, to the peer of another. */
  @Test
  void segmentIsOfOnePoolAlone() {
    BulkPool pool = steps.grown(8 * PAGE);
    PoolSteps others = new PoolSteps();
    BulkPool other = others.grown(8 * PAGE);
    Segment segment = pool.allocate(100);
    assertTrue(pool.owns(segment));
    assertFalse(other.owns(segment));
  }

  @Test
  void whileOneThreadRegistersNoOtherDoes() {
    BulkPool pool = steps.pool(64 * PAGE);
    steps.onRegister(() -> assertNull(pool.allocate(100)));
    assertNull(pool.allocate(100));
    assertEquals(1, steps.attempts());
  }

  @Test
  void afterAFailureItTriesAgainASecondLater() {
    BulkPool pool = steps.pool(8 * PAGE);
    steps.refuse(true);
    assertNull(pool.allocate(100));
    assertNull(pool.takeOffer(Integer.MAX_VALUE));
    steps.advance(SECOND_NS - 1);
    assertNull(pool.allocate(100));
    assertEquals(1, steps.attempts());
    steps.advance(1);
    steps.refuse(false);
    assertNull(pool.allocate(100));
    assertEquals(2, steps.attempts());
    steps.attach(pool);
    assertNotNull(pool.allocate(100));
  }

  @Test
  void poolsOfOneBudgetShareIt() {
    MemoryQuota budget = new MemoryQuota(20 * PAGE);
    SessionContext context = new SessionContext().bulkLength(8 * PAGE).bulkQuota(budget);
    BulkPool first = steps.pool(context);
    first.allocate(1);
    steps.attach(first);
    BulkPool second = steps.pool(context);
    second.allocate(1);
    steps.attach(second);
    assertEquals(16 * PAGE, budget.reserved());
    BulkPool third = steps.pool(context);
    assertNull(third.allocate(1));
    assertNull(third.allocate(1), "not for a second");
    assertEquals(2, steps.attempts());
    assertEquals(1, steps.count(Counter.SESSION_BULK_REFUSED));
    steps.advance(SECOND_NS);
    assertNull(third.allocate(1));
    assertEquals(2, steps.count(Counter.SESSION_BULK_REFUSED));
    first.refuse();
    first.close();
    first.close();
    assertEquals(8 * PAGE, budget.reserved(), "given back once");
    steps.advance(SECOND_NS);
    assertNull(third.allocate(1));
    assertEquals(3, steps.attempts());
    assertEquals(8 * PAGE, steps.count(Counter.SESSION_BULK_REGISTERED));
    steps.attach(third);
    assertNotNull(third.allocate(1));
    assertEquals(16 * PAGE, budget.reserved());
  }

  @Test
  void whatCannotBeRegisteredIsNotTakenOutOfTheBudget() {
    MemoryQuota budget = new MemoryQuota(8 * PAGE);
    SessionContext context = new SessionContext().bulkLength(8 * PAGE).bulkQuota(budget);
    steps.refuse(true);
    assertNull(steps.pool(context).allocate(1));
    assertEquals(0, budget.reserved());
    steps.refuse(false);
    BulkPool ended = steps.pool(context);
    steps.onRegister(ended::refuse);
    assertNull(ended.allocate(1));
    assertEquals(0, budget.reserved());
    steps.onRegister(() -> {});
    BulkPool pool = steps.pool(context);
    assertNull(pool.allocate(1));
    steps.attach(pool);
    assertNotNull(pool.allocate(8 * PAGE));
    assertEquals(8 * PAGE, budget.reserved());
  }

  @Test
  void refusedByThePeerItIsNotOfferedAgain() {
    BulkPool pool = steps.pool(8 * PAGE);
    pool.allocate(100);
    pool.takeOffer(Integer.MAX_VALUE);
    assertTrue(pool.onAnswer(false));
    assertTrue(steps.memory(0).isSettled());
    for (int i = 0; i < 5; i++) {
      steps.advance(60 * SECOND_NS);
      assertNull(pool.allocate(100));
    }
    assertEquals(1, steps.attempts());
    assertNull(pool.takeOffer(Integer.MAX_VALUE));
  }

  @Test
  void anInterruptNeitherStopsItNorIsLost() {
    BulkPool pool = steps.pool(8 * PAGE);
    boolean[] seen = new boolean[1];
    steps.onRegister(() -> seen[0] = Thread.currentThread().isInterrupted());
    Thread.currentThread().interrupt();
    assertNull(pool.allocate(100));
    assertTrue(Thread.interrupted(), "the thread's status");
    assertFalse(seen[0], "its file would be closed");
    steps.attach(pool);
    assertNotNull(pool.allocate(100));
    assertFalse(Thread.currentThread().isInterrupted());
  }

  @Test
  void segmentGoesBackWithTheLastRelease() {
    BulkPool pool = steps.grown(8 * PAGE);
    Segment segment = pool.allocate(2 * PAGE);
    assertSame(segment, segment.retain());
    segment.release();
    assertEquals(2 * PAGE, pool.usedLength());
    segment.release();
    assertEquals(0, pool.usedLength());
    assertThrows(IllegalStateException.class, segment::retain);
    assertThrows(IllegalStateException.class, segment::release, "once too often");
    assertEquals(0, pool.usedLength());
  }

  @Test
  void segmentIsWrittenWithinItsBounds() {
    BulkPool pool = steps.grown(8 * PAGE);
    pool.allocate(PAGE);
    Segment segment = pool.allocate(10);
    segment.put(2, new byte[] {0, 1, 2, 3}, 1, 3);
    byte[] bytes = new byte[10];
    ByteBuffer buffer = segment.buffer();
    assertEquals(10, buffer.remaining());
    buffer.get(bytes);
    assertArrayEquals(new byte[] {0, 0, 1, 2, 3, 0, 0, 0, 0, 0}, bytes);
    Class<IndexOutOfBoundsException> misuse = IndexOutOfBoundsException.class;
    assertThrows(misuse, () -> segment.put(-1, bytes, 0, 1));
    assertThrows(misuse, () -> segment.put(8, bytes, 0, 3));
    assertThrows(misuse, () -> segment.put(10, bytes, 0, 1));
    segment.put(10, bytes, 0, 0);
    assertThrows(misuse, () -> segment.put(0, bytes, 0, -1));
    assertThrows(misuse, () -> segment.put(Integer.MAX_VALUE, bytes, 0, 1));
  }

  @Test
  void unitsThatWereDroppedGiveTheirMemoryBackAndAreCounted() throws Exception {
    BulkPool pool = steps.grown(8 * PAGE);
    for (int i = 0; i < 3; i++) {
      UnitBuffer unit = new UnitBuffer();
      unit.addSegment(pool.allocate(PAGE), 0, 10);
      unit.addSegment(pool.allocate(PAGE), 0, 10);
      if (i == 2) {
        unit.clear(); // as it should be: not dropped
      }
    }
    assertEquals(4 * PAGE, pool.usedLength());
    Await.until(
        "the collector",
        LIMIT_S,
        () -> {
          System.gc();
          return pool.droppedUnits() == 2;
        });
    assertEquals(0, pool.usedLength());
    assertEquals(2, pool.droppedUnits());
    assertNotNull(pool.allocate(8 * PAGE), "all of it");
  }

  /** Some of a unit's memory is on its way when the unit is dropped: the rest of it comes back. */
  @Test
  void unitThatIsDroppedHalfWayGivesTheOtherHalfBack() throws Exception {
    BulkPool pool = steps.grown(8 * PAGE);
    Segment onItsWay = takeOneOfTwo(pool);
    takeAll(pool);
    assertEquals(2 * PAGE, pool.usedLength());
    Await.until(
        "the collector",
        LIMIT_S,
        () -> {
          System.gc();
          return pool.usedLength() == PAGE;
        });
    onItsWay.release();
    assertEquals(0, pool.usedLength());
    assertEquals(1, pool.droppedUnits(), "a unit that was taken to its end is none");
  }

  private static Segment takeOneOfTwo(BulkPool pool) {
    UnitBuffer unit = new UnitBuffer();
    unit.addSegment(pool.allocate(PAGE), 0, 10);
    unit.addSegment(pool.allocate(PAGE), 0, 10);
    return unit.segments().take();
  }

  private static void takeAll(BulkPool pool) {
    UnitBuffer unit = new UnitBuffer();
    unit.addSegment(pool.allocate(PAGE), 0, 10);
    unit.segments().take().release();
  }

  @Test
  void memoryThatIsTakenAwayEndsTheSession() {
    steps.pretend();
    BulkPool pool = steps.grown(2 * BulkPool.REGION_LENGTH);
    pool.verify();
    assertFalse(pool.endIfGone(new InternalError("of something else")));
    assertNull(steps.endReason());
    steps.takeAway(0);
    assertTrue(pool.endIfGone(new InternalError("of this")));
    assertEquals("the peer took registered memory away", steps.endReason());
    assertTrue(pool.endIfGone(new InternalError("of another thread")), "it has ended");
  }

  /** A caller that still fills memory of a session that has ended gets its call ended, too. */
  @Test
  void faultAfterTheEndIsOfTheSession() {
    BulkPool pool = steps.grown(8 * PAGE);
    assertFalse(pool.endIfGone(new InternalError("of something else")));
    steps.end();
    assertTrue(pool.endIfGone(new InternalError("late")));
  }

  @Test
  void closedItKeepsWhatIsInUseAndGivesNothing() {
    BulkPool pool = steps.pool(2 * BulkPool.REGION_LENGTH);
    pool.allocate(100);
    steps.attach(pool);
    Segment inUse = pool.allocate(BulkPool.REGION_LENGTH);
    assertNull(pool.allocate(100));
    steps.attach(pool);
    pool.allocate(100).release();
    pool.refuse();
    pool.close();
    assertTrue(steps.memory(0).isKept(), "somebody may be inside");
    assertFalse(steps.memory(1).isKept());
    assertNull(pool.allocate(100));
    inUse.buffer().put(0, (byte) 1);
    inUse.release();
    assertEquals(0, pool.usedLength());
    assertNull(pool.allocate(100));
    assertEquals(2, steps.attempts());
  }

  @Test
  void closedItWaitsForNoAnswer() {
    BulkPool pool = steps.pool(8 * PAGE);
    pool.allocate(100);
    pool.refuse();
    pool.close();
    assertTrue(steps.memory(0).isSettled());
  }

  @Test
  void memoryThatComesAfterTheCloseIsOfferedToNobody() {
    BulkPool pool = steps.pool(8 * PAGE);
    steps.onRegister(pool::refuse);
    assertNull(pool.allocate(100));
    assertNull(pool.takeOffer(Integer.MAX_VALUE));
    assertTrue(steps.memory(0).isSettled());
  }
}
