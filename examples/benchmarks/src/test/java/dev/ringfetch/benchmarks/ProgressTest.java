package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class ProgressTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  private Progress progress(boolean terminal) {
    return new Progress(
        new PrintStream(out, true, StandardCharsets.UTF_8), terminal, "bench", 120_000);
  }

  private String printed() {
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void theBarGrowsWithWhatIsDone() {
    final Progress progress = progress(true);
    assertEquals("[" + ".".repeat(30) + "]   0 % 2:00 left", progress.bar());
    progress.done(60_000);
    assertEquals("[" + "#".repeat(15) + ".".repeat(15) + "]  50 % 1:00 left", progress.bar());
    progress.done(90_000); // more than was thought
    assertEquals("[" + "#".repeat(30) + "] 100 % 0:00 left", progress.bar());
  }

  @Test
  void aTerminalHasOneLineThatIsTakenBack() {
    final Progress progress = progress(true);
    progress.begin("one");
    progress.begin("two");
    assertEquals(0, printed().lines().filter(line -> line.startsWith("bench")).count());
    assertEquals(printed().indexOf("two") + 3, printed().length());
    progress.tell("something");
    assertTrue(printed().endsWith("\r\u001b[Kbench: something" + System.lineSeparator()));
    final int length = printed().length();
    progress.clear();
    assertEquals(length, printed().length()); // there is nothing left to take back
  }

  @Test
  void elsewhereEachIsALine() {
    final Progress progress = progress(false);
    progress.begin("one");
    progress.tell("something");
    progress.clear();
    assertEquals(
        "bench: " + progress.bar() + " one|bench: something",
        String.join("|", printed().lines().toList()));
  }
}
