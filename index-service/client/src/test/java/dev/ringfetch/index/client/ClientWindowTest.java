package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Numbers against a list of those that are under way. */
final class ClientWindowTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);

  @Test
  void theFirstIncompleteIsTheSmallestUnderWay() {
    System.out.println("seed=" + SEED);
    final Random random = new Random(SEED);
    final ClientWindow window = new ClientWindow(1, 100, 0);
    final List<ClientWindow.Numbers> open = new ArrayList<>();
    long next = 1;
    int full = 0;
    for (int i = 0; i < 20_000; i++) {
      final int count = random.nextInt(3) == 0 ? 1 + random.nextInt(3_000) : 1;
      final ClientWindow.Numbers taken = window.take(count);
      final long first = open.stream().mapToLong(ClientWindow.Numbers::first).min().orElse(next);
      assertEquals(next + count - first > ClientWindow.LENGTH, taken == null);
      if (taken == null) {
        full++;
      } else {
        assertEquals(next, taken.first());
        open.add(taken);
        next += count;
      }
      while (!open.isEmpty() && random.nextInt(30) != 0 && open.size() > random.nextInt(40)) {
        open.remove(random.nextInt(open.size())).complete();
      }
      assertEquals(
          open.stream().mapToLong(ClientWindow.Numbers::first).min().orElse(next),
          window.firstIncomplete());
      assertEquals(open.isEmpty(), window.isIdle());
    }
    assertTrue(full > 0, "it was never full");
  }

  @Test
  void itIsStaleWhenHalfOfTheLeaseIsOver() {
    final ClientWindow window = new ClientWindow(1, 100, 1_000);
    assertFalse(window.isStale(1_050));
    assertTrue(window.isStale(1_051));
    window.renewed(1_040);
    window.renewed(1_020);
    assertFalse(window.isStale(1_090));
    assertTrue(window.isStale(1_091));
    assertNull(window.take(ClientWindow.LENGTH + 1));
  }
}
