package dev.ringfetch.index.linearizability;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A few kills of a server under a mixed load on indexes of all durabilities: see {@link KillRun}.
 * Many are those of {@code index-service/server/src/test/soak/run}.
 *
 * <p>{@code -Dringfetch.kills=N} kills more often.
 */
@Tag("slow")
@Timeout(1200)
class DurabilityTest {
  @TempDir Path shm;
  @TempDir Path data;

  @Test
  void whatIsPromisedSurvivesEachKill() throws Exception {
    final long seed = Long.getLong("ringfetch.seed", 20261127);
    System.out.println("seed=" + seed);
    try (KillRun run = new KillRun(shm, data, seed)) {
      final KillCounts counts = run.run(Integer.getInteger("ringfetch.kills", 3));
      System.out.println(counts);
      assertAll(
          () -> assertTrue(counts.answered[0].get() > 0, "memory"),
          () -> assertTrue(counts.answered[1].get() > 0, "interval"),
          () -> assertTrue(counts.answered[2].get() > 0, "disk"),
          () -> assertTrue(counts.entriesCompared.get() > 0, "compared"));
    }
  }
}
