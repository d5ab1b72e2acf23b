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
final class ClientsBenchTest {
  /** So short that what it says of the bars is chance. */
  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void oneAndAllClientsOfEitherSideMakeCalls() {
    final PrintStream before = System.out;
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
      Bench.execute(
          "clients", "--clients=2", "--rounds=1", "--millis=20", "--warm-up=20", "--no-pinning");
    } finally {
      System.setOut(before);
    }
    final List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
    for (final String row : List.of("ring +1 ", "ring +2 ", "grpc +1 ", "grpc +2 ")) {
      assertEquals(
          1, lines.stream().filter(line -> line.matches(row + ".*")).count(), out::toString);
    }
    assertTrue(lines.get(lines.size() - 2).contains("bars: 0.7 and 0.5: "), out::toString);
    assertTrue(lines.get(lines.size() - 1).endsWith(" of 4 rounds"), out::toString);
  }
}
