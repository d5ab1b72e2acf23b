package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

@Tag("slow")
final class BusyBenchTest {
  /** So short that the ratios are chance. */
  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void eachModeHasARowInEachPlace() {
    final PrintStream before = System.out;
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final int exit;
    try {
      System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
      exit =
          Bench.execute(
              "busy", "--quick", "--places=twoLoops,quota", "--millis=50", "--warm-up=300");
    } finally {
      System.setOut(before);
    }
    assertEquals(0, exit, out::toString);
    final List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
    final List<String> results = lines.stream().filter(line -> line.startsWith("RESULT ")).toList();
    for (final String mode : List.of("blocking", "future", "async")) {
      assertTrue(
          results.stream()
              .anyMatch(
                  line ->
                      line.startsWith(
                          "RESULT place=twoLoops neighbours=2 mode=" + mode + " payload=32 ")),
          out::toString);
    }
    assertTrue(
        results.size() == 6 || lines.stream().anyMatch(line -> line.startsWith("quota: left out")),
        out::toString);
  }
}
