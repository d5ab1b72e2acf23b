package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.benchmarks.adaptive.ReadRow;
import dev.ringfetch.index.client.Access;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

final class AdaptiveBenchTest {
  @Tag("slow")
  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void eachRowOfEachAccessIsPrintedForScripts() {
    final String printed =
        PrintedBench.run("adaptive", "--rounds=1", "--millis=50", "--warm-up=50", "--entries=3000");
    for (final ReadRow row : ReadRow.values()) {
      for (final Access access : Access.values()) {
        final String line = "RESULT row=" + row.text() + " access=" + access + " ";
        assertTrue(printed.contains(line), line + "\n" + printed);
      }
    }
    assertTrue(printed.contains("wrong answers: 0"), printed);
  }
}
