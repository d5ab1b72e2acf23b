package dev.ringfetch.session.bulk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doThrow;

import dev.ringfetch.system.Warnings;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of memory that a caller uses after it has freed it. */
class PoisonTest {
  private static final int PAGE = BulkRegion.PAGE_LENGTH;

  private final Warnings warnings = new Warnings(BulkPool.class);
  private final PoolSteps steps = new PoolSteps();

  @BeforeEach
  void poison() {
    System.setProperty(Poison.PROPERTY, "true");
  }

  @AfterEach
  void close() {
    System.clearProperty(Poison.PROPERTY);
    warnings.close();
  }

  private static void assertPoisoned(ByteBuffer memory) {
    for (int i = 0; i < memory.capacity(); i++) {
      assertEquals(Poison.BYTE, memory.get(i), "index=" + i);
    }
  }

  @Test
  void whatWasGivenBackIsPoisonedAndNothingElseIs() {
    BulkPool pool = steps.grown(8 * PAGE);
    Segment kept = pool.allocate(PAGE);
    Segment given = pool.allocate(PAGE + 1);
    assertPoisoned(kept.buffer()); // which nobody has had before
    ByteBuffer view = given.buffer();
    kept.put(0, new byte[PAGE], 0, PAGE);
    given.put(0, new byte[PAGE + 1], 0, PAGE + 1);
    given.release();
    assertPoisoned(view);
    assertEquals(ByteBuffer.allocate(PAGE), kept.buffer());
    assertNotNull(pool.allocate(7 * PAGE));
    assertEquals(List.of(), warnings.messages());
  }

  @Test
  void whoeverWritesToWhatIsNotHisIsFound() {
    BulkPool pool = steps.grown(8 * PAGE);
    Segment given = pool.allocate(3 * PAGE);
    ByteBuffer view = given.buffer();
    given.release();
    view.put(2 * PAGE + 7, (byte) 1);
    assertNotNull(pool.allocate(2 * PAGE));
    assertEquals(List.of(), warnings.messages());
    Segment hit = pool.allocate(2 * PAGE);
    assertEquals(1, warnings.messages().size());
    String warning = warnings.messages().get(0);
    assertTrue(warning.contains("offset=" + (2 * PAGE + 7) + " region=0"), warning);
    hit.release();
    assertNotNull(pool.allocate(6 * PAGE));
    assertEquals(1, warnings.messages().size(), "it was poisoned anew");
  }

  @Test
  void memoryOfASessionThatHasEndedIsLeftAlone() {
    BulkPool pool = steps.grown(8 * PAGE);
    Segment given = pool.allocate(PAGE);
    given.put(0, new byte[PAGE], 0, PAGE);
    pool.refuse();
    pool.close();
    given.release();
    assertEquals(ByteBuffer.allocate(PAGE), given.buffer());
  }

  @Test
  void unlessAskedForNothingIsPoisoned() {
    System.clearProperty(Poison.PROPERTY);
    BulkPool pool = steps.grown(8 * PAGE);
    Segment given = pool.allocate(PAGE);
    given.release();
    assertEquals(ByteBuffer.allocate(PAGE), given.buffer());
    given.buffer().put(0, (byte) 1);
    assertNotNull(pool.allocate(PAGE));
    assertEquals(List.of(), warnings.messages());
  }

  @Test
  void memoryThatIsTakenAwayEndsItsSession() {
    steps.pretend();
    BulkPool pool = steps.grown(2 * BulkPool.REGION_LENGTH);
    Segment given = pool.allocate(PAGE);
    Segment other = pool.allocate(PAGE);
    doThrow(new InternalError("by a test"))
        .when(steps.memory(0).region())
        .putBytes(anyInt(), any(byte[].class), anyInt(), anyInt());
    assertThrows(InternalError.class, other::release, "a fault of something else");
    steps.takeAway(0);
    given.release();
    assertEquals("the peer took registered memory away", steps.endReason());
  }
}
