package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.benchmarks.adaptive.ReadRow;
import dev.ringfetch.index.client.Access;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import picocli.CommandLine;

final class AdaptiveBenchTest {
  @Tag("slow")
  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void eachRowOfEachAccessIsPrintedForScripts() {
    final String printed =
        run("adaptive", "--rounds=1", "--millis=50", "--warm-up=50", "--entries=3000");
    for (final ReadRow row : ReadRow.values()) {
      for (final Access access : Access.values()) {
        final String line = "RESULT row=" + row.text() + " access=" + access + " ";
        assertTrue(printed.contains(line), line + "\n" + printed);
      }
    }
    assertTrue(printed.contains("wrong answers: 0"), printed);
  }

  private static String run(String... arguments) {
    final PrintStream before = System.out;
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final int code;
    try {
      System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
      code = Bench.execute(arguments);
    } finally {
      System.setOut(before);
    }
    final String printed = out.toString(StandardCharsets.UTF_8);
    assertEquals(CommandLine.ExitCode.OK, code, printed);
    return printed;
  }
}
