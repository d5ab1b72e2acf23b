package dev.ringfetch.benchmarks.stores;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class ScrambledZipfTest {
  private static final int ITEMS = 1_000;
  private static final int DRAWS = 200_000;

  /** The first keys that YCSB loads are known: "user" and these numbers. */
  @Test
  void scramblesAsYcsbDoes() {
    assertEquals(6284781860667377211L, ScrambledZipf.hash(0));
    assertEquals(8517097267634966620L, ScrambledZipf.hash(1));
  }

  @Test
  void ranksFollowZipfsLaw() {
    assertEquals(0, ScrambledZipf.rank(0));
    assertEquals(0, ScrambledZipf.rank(0.0377)); // 1 / 26.469
    assertEquals(1, ScrambledZipf.rank(0.0379));
    assertEquals(2, (double) ScrambledZipf.rank(0.0570), 1); // (1 + 0.5^0.99) / 26.469
    assertTrue(ScrambledZipf.rank(Math.nextDown(1.0)) >= 9_999_000_000L);
  }

  @Test
  void aFewItemsAreDrawnOftenAndEachInRange() {
    final int[] drawn = new int[ITEMS];
    for (final int number : ScrambledZipf.sequence(ITEMS, DRAWS, 1)) {
      drawn[number]++;
    }
    final int first = (int) (ScrambledZipf.hash(0) % ITEMS);
    // The first rank, and a thousandth of those beyond the first few.
    assertEquals(DRAWS / 26.469, drawn[first], DRAWS * 0.004);
    assertArrayEquals(ScrambledZipf.sequence(ITEMS, 100, 5), ScrambledZipf.sequence(ITEMS, 100, 5));
  }
}
