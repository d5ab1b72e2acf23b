package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.benchmarks.near.NearRead;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

final class NearBenchTest {
  private static final String[] SHORT = {
    "--rounds=1", "--millis=50", "--warm-up=50", "--entries=3000"
  };

  private static void check(String name, List<String> rows, List<NearRead> reads) {
    final String printed = PrintedBench.run(name, SHORT[0], SHORT[1], SHORT[2], SHORT[3]);
    for (final String row : rows) {
      for (final NearRead read : reads) {
        final String line = "RESULT row=" + row + " read=" + read + " ";
        assertTrue(printed.contains(line), line + "\n" + printed);
      }
    }
    assertTrue(printed.contains("wrong answers: 0"), printed);
  }

  @Tag("slow")
  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void chainsArePrintedForScripts() {
    check("follow", List.of("follow-2", "follow-4", "follow-10"), NearRead.CHAIN);
  }

  @Tag("slow")
  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void filtersArePrintedForScripts() {
    check("filter", List.of("filter-1-of-100"), NearRead.FILTER);
  }
}
