package dev.ringfetch.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Numbers that make no sense are refused, before anything is started. */
final class BoundsTest {
  @ParameterizedTest
  @ResourceLock(Resources.SYSTEM_ERR)
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
        "threads --rounds 0",
        "verbs --rounds 0",
        "index --entries 0",
        "journal --entries 0"
      })
  void isRefused(String arguments) {
    final ByteArrayOutputStream said = new ByteArrayOutputStream();
    final PrintStream before = System.err;
    System.setErr(new PrintStream(said, true, UTF_8));
    try {
      assertEquals(CommandLine.ExitCode.USAGE, Bench.execute(arguments.split(" ", -1)));
    } finally {
      System.setErr(before);
    }
    assertTrue(said.toString(UTF_8).contains(" is at least "), () -> said.toString(UTF_8));
  }
}
