package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A few cases of {@link DirectoryFuzz}. */
@Timeout(300)
class DirectoryFuzzTest {
  private static final int CASES =
      Integer.getInteger("ringfetch.cases", Integer.getInteger("ringfetch.hunt", 0) == 0 ? 6 : 12);

  @TempDir Path folder;

  @Test
  void damagedDirectoriesAreRefusedOrSalvaged() throws IOException {
    final long seed = Long.getLong("ringfetch.seed", 20261127);
    final Map<String, Long> counts = DirectoryFuzz.run(seed, CASES, folder);
    System.out.println("seed=" + seed + " " + counts);
    assertTrue(counts.get("salvaged") > 0, counts.toString());
  }
}
