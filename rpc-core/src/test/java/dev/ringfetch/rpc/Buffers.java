package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import java.nio.file.Path;

/** Whether applications have closed their registered buffers. */
final class Buffers {
  private Buffers() {}

  /** Those of all sessions that are open, at both sides, and that use this directory. */
  static void verifyClosed(Path directory) {
    final Counters counters = Counters.acquire(directory);
    try {
      assertEquals(0, counters.total(Counter.SESSION_BUFFERS_LENT), "buffers were not closed");
    } finally {
      counters.release();
    }
  }
}
