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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

@Tag("slow")
final class LoadBenchTest {
  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void eachLoadOfEitherPeerHasItsRow() {
    final PrintStream before = System.out;
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final int exit;
    try {
      System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
      exit =
          Bench.execute(
              "load",
              "--percent=0,50",
              "--rounds=1",
              "--millis=50",
              "--warm-up=50",
              "--no-pinning");
    } finally {
      System.setOut(before);
    }
    assertEquals(0, exit, out::toString);
    final List<String> results =
        out.toString(StandardCharsets.UTF_8)
            .lines()
            .filter(line -> line.startsWith("RESULT "))
            .toList();
    assertEquals(6, results.size(), out::toString);
    final List<String> peers = List.of("ringfetch", "grpc-netty-tcp", "none");
    for (int i = 0; i < results.size(); i++) {
      final int percent = i % 2 * 50;
      final String row =
          String.format(
              "RESULT peer=%s mode=blocking payload=32 inflight=1 percent=%d rate=",
              peers.get(i / 2), percent);
      assertTrue(results.get(i).startsWith(row), out::toString);
      // Idle ones make no calls, others do.
      assertEquals(percent == 0, results.get(i).contains(" calls_s=0 "), out::toString);
      final double client = figure(results.get(i), " cpu_client=");
      final double server = figure(results.get(i), " cpu_server=");
      assertTrue(client >= 0 && server >= 0, out::toString);
      if (percent > 0) {
        assertTrue(client > 0, out::toString);
        assertTrue(server > 0 || peers.get(i / 2).equals("none"), out::toString);
      }
    }
  }

  private static double figure(String result, String name) {
    final String from = result.substring(result.indexOf(name) + name.length());
    return Double.parseDouble(from.split(" ", 2)[0]);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--percent=-1", "--percent=0,101", "--rounds=0", "--warm-up=0"})
  void whatCannotBeMeasuredIsRefused(String option) {
    assertEquals(CommandLine.ExitCode.USAGE, Bench.execute("load", option));
  }
}
