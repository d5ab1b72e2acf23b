package dev.ringfetch.index.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Searches a model of two counters, whose states and shortest traces are known. */
final class SearchTest {
  /** Two counters from 0 to a bound, in one order or either; their sum may be forbidden. */
  private record Counters(int bound, int forbidden, boolean symmetric) implements Model {
    @Override
    public long[] initial() {
      return new long[2];
    }

    @Override
    public void successors(long[] state, Sink sink) {
      for (int counter = 0; counter < 2; counter++) {
        if (state[counter] < bound) {
          final long[] next = state.clone();
          next[counter]++;
          final boolean bad = next[0] + next[1] == forbidden;
          sink.next(next, Step.JOURNAL, 0, counter, (int) next[counter], bad ? "forbidden" : null);
        }
      }
    }

    @Override
    public void canonical(long[] state) {
      if (symmetric && state[0] > state[1]) {
        final long one = state[0];
        state[0] = state[1];
        state[1] = one;
      }
    }
  }

  @Test
  void findsEachState() {
    final Search.Result result = new Search(new Counters(299, -1, false), 1_000_000).run();
    assertEquals(300 * 300, result.states());
    assertTrue(result.complete());
    assertNull(result.violation());
    assertEquals(2 * 299 * 300, result.coverage().count(Step.JOURNAL, 0));
  }

  @Test
  void findsOneOfTwoSymmetricStates() {
    final Search.Result result = new Search(new Counters(299, -1, true), 1_000_000).run();
    assertEquals(300 * 301 / 2, result.states());
  }

  @Test
  void givesShortestTrace() {
    for (final boolean symmetric : new boolean[] {false, true}) {
      final Search.Result result = new Search(new Counters(9, 4, symmetric), 1000).run();
      assertEquals("forbidden", result.violation());
      assertEquals(4, result.trace().size());
      assertTrue(result.trace().get(3).endsWith(": forbidden"));
    }
  }

  @Test
  void saysThatItGaveUp() {
    final Search.Result result = new Search(new Counters(299, -1, false), 1000).run();
    assertFalse(result.complete());
  }
}
