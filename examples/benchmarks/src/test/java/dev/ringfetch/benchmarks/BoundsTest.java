package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Numbers that make no sense are refused, before anything is started. */
final class BoundsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "--rounds 0",
        "--rounds -1",
        "--millis 0",
        "--in-flight 16,0",
        "--warm-up 0",
        "--rates -1",
        "allocation --calls 0",
        "idle --seconds 0",
        "clients --clients 0",
        "sessions --idle -1",
        "stages --rounds 0",
        "parts --forks 0",
        "bulk --millis 0",
        "unary --rounds 0",
        "threads --rounds 0"
      })
  void isRefused(String arguments) {
    assertEquals(CommandLine.ExitCode.USAGE, Bench.execute(arguments.split(" ")));
  }
}
