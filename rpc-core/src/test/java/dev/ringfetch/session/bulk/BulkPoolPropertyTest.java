package dev.ringfetch.session.bulk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Memory that is taken and given back at random: never twice at once, and always where it fits
 * first. {@code -Dringfetch.seed} replays a run.
 */
class BulkPoolPropertyTest {
  private static final int PAGE = BulkRegion.PAGE_LENGTH;
  private static final int REGIONS = 2;
  private static final int STEPS = 20_000;
  private static final int THREADS = 3;
  private static final int LIMIT_S = 60;

  private final long seed = Long.getLong("ringfetch.seed", 1);
  private final PoolSteps steps = new PoolSteps();

  /** As many regions as there are, which only have a length. */
  private BulkPool pool() {
    BulkPool pool = steps.pool(REGIONS * BulkPool.REGION_LENGTH);
    List<Segment> all = new ArrayList<>();
    for (int i = 0; i < REGIONS; i++) {
      assertNull(pool.allocate(BulkPool.REGION_LENGTH));
      steps.attach(pool);
      all.add(pool.allocate(BulkPool.REGION_LENGTH));
    }
    all.forEach(Segment::release);
    return pool;
  }

  @Test
  void whatIsTakenIsTheFirstThatFits() {
    steps.pretend();
    BulkPool pool = pool();
    Random random = new Random(seed);
    int pagesOfARegion = BulkPool.REGION_LENGTH / PAGE;
    BitSet[] model = {new BitSet(), new BitSet()};
    List<Segment> taken = new ArrayList<>();
    int found = 0;
    int refused = 0;
    for (int step = 0; step < STEPS; step++) {
      String what = "-Dringfetch.seed=" + seed + " step=" + step;
      boolean fills = (step / 500) % 2 == 0;
      if (!taken.isEmpty() && random.nextInt(10) < (fills ? 3 : 7)) {
        Segment segment = taken.remove(random.nextInt(taken.size()));
        int first = segment.offset() / PAGE;
        model[segment.region().number()].clear(first, first + pages(segment.length()));
        segment.release();
      } else {
        int length = 1 + random.nextInt(random.nextInt(4) == 0 ? 400_000 : 20_000);
        Segment segment = pool.allocate(length);
        int expected = firstFit(model, pagesOfARegion, pages(length));
        assertEquals(expected, segment == null ? -1 : place(segment, pagesOfARegion), what);
        if (segment == null) {
          refused++;
        } else {
          found++;
          assertEquals(length, segment.length(), what);
          int first = segment.offset() / PAGE;
          model[segment.region().number()].set(first, first + pages(length));
          taken.add(segment);
        }
      }
      long used = (long) (model[0].cardinality() + model[1].cardinality()) * PAGE;
      assertEquals(used, pool.usedLength(), what);
    }
    assertTrue(found > 1000 && refused > 100, "found=" + found + " refused=" + refused);
    taken.forEach(Segment::release);
    assertEquals(0, pool.usedLength());
  }

  private static int pages(int length) {
    return (int) Math.ceil(length / (double) PAGE);
  }

  private static int place(Segment segment, int pagesOfARegion) {
    return segment.region().number() * pagesOfARegion + segment.offset() / PAGE;
  }

  /** By trying every page. */
  private static int firstFit(BitSet[] model, int pagesOfARegion, int wanted) {
    for (int number = 0; number < model.length; number++) {
      for (int first = 0; first + wanted <= pagesOfARegion; first++) {
        if (model[number].get(first, first + wanted).isEmpty()) {
          return number * pagesOfARegion + first;
        }
      }
    }
    return -1;
  }

  @Test
  void noByteBelongsToTwoThreads() throws Exception {
    BulkPool pool = pool();
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<Integer>> owners = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        byte mark = (byte) (i + 1);
        owners.add(threads.submit(() -> ownAndGiveBack(pool, mark)));
      }
      for (Future<Integer> owner : owners) {
        assertTrue(owner.get(LIMIT_S, TimeUnit.SECONDS) > 0, "nothing was had");
      }
    } finally {
      threads.shutdownNow();
    }
    assertEquals(0, pool.usedLength());
    assertEquals(0, pool.droppedUnits());
  }

  private int ownAndGiveBack(BulkPool pool, byte mark) {
    Random random = new Random(seed + mark);
    List<Segment> mine = new ArrayList<>();
    byte[] marks = new byte[20_000];
    Arrays.fill(marks, mark);
    int had = 0;
    for (int step = 0; step < STEPS / 10; step++) {
      if (mine.size() > 100 || (!mine.isEmpty() && random.nextBoolean())) {
        giveBack(mine.remove(random.nextInt(mine.size())), mark);
        continue;
      }
      Segment segment = pool.allocate(1 + random.nextInt(marks.length));
      if (segment != null) {
        had++;
        segment.put(0, marks, 0, segment.length());
        mine.add(segment);
      }
    }
    mine.forEach(segment -> giveBack(segment, mark));
    return had;
  }

  private void giveBack(Segment segment, byte mark) {
    byte[] seen = new byte[segment.length()];
    segment.buffer().get(seen);
    byte[] written = new byte[seen.length];
    Arrays.fill(written, mark);
    assertArrayEquals(written, seen, () -> "another's byte: -Dringfetch.seed=" + seed);
    segment.release();
  }
}
