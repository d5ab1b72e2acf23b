package dev.ringfetch.index.journal;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A few cases of {@link JournalFuzz}. */
class JournalFuzzTest {
  private static final int CASES =
      Integer.getInteger("ringfetch.cases", Integer.getInteger("ringfetch.hunt", 0) == 0 ? 20 : 60);

  @Test
  void changedFilesAreRefusedOrSayTheSame() throws IOException {
    final long seed = Long.getLong("ringfetch.seed", 20261127);
    final Map<String, Long> counts = JournalFuzz.run(seed, CASES);
    System.out.println("seed=" + seed + " " + counts);
    assertTrue(counts.get("refused") > 0, counts.toString());
  }
}
