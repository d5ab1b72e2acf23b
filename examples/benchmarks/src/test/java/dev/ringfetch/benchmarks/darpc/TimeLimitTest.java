package dev.ringfetch.benchmarks.darpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class TimeLimitTest {
  @Test
  void whatEndsInTimeIsReturned() throws InterruptedException {
    assertEquals(5, TimeLimit.within("a sum", 20, () -> 2 + 3));
  }

  @Test
  void whatLastsIsLeftBehind() {
    final CountDownLatch never = new CountDownLatch(1);
    final IllegalStateException thrown =
        assertThrows(
            IllegalStateException.class,
            () ->
                TimeLimit.within(
                    "a wait",
                    1,
                    () -> {
                      never.await();
                      return 0;
                    }));
    assertEquals("a wait does not end within 1 s", thrown.getMessage());
    never.countDown();
  }

  @Test
  void whatFailsSaysWhy() {
    final IllegalStateException thrown =
        assertThrows(
            IllegalStateException.class,
            () ->
                TimeLimit.within(
                    "a look",
                    20,
                    () -> {
                      throw new IOException("no such thing");
                    }));
    assertTrue(thrown.getMessage().contains("no such thing"), thrown::getMessage);
  }
}
