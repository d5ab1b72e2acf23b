package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import picocli.CommandLine;

final class PeersBenchTest {
  /** Without stubs, as those take long to start. */
  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void eachRowIsPrintedForScripts() {
    final PrintStream before = System.out;
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final int code;
    try {
      System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
      code =
          Bench.execute(
              "--peers=raw,aeron", "--rounds=2", "--millis=20", "--warm-up=20", "--payloads=32");
    } finally {
      System.setOut(before);
    }
    final String printed = out.toString(StandardCharsets.UTF_8);
    assertEquals(CommandLine.ExitCode.OK, code, printed);
    final List<String> results =
        printed.lines().filter(line -> line.startsWith("RESULT ")).toList();
    assertEquals(2, results.size(), printed);
    assertTrue(results.get(0).startsWith("RESULT peer=raw mode=direct payload=32 inflight=1 "));
    assertTrue(results.get(1).startsWith("RESULT peer=aeron-ipc mode=direct payload=32 "));
    results.forEach(line -> assertTrue(line.contains(" alloc_server="), line));
  }

  @Test
  @ResourceLock(Resources.SYSTEM_ERR)
  void optionsWithoutNameAreNotThoseOfAnotherBenchmark() {
    final PrintStream before = System.err;
    final ByteArrayOutputStream err = new ByteArrayOutputStream();
    final int code;
    try {
      System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
      code = Bench.execute("--quick", "bulk");
    } finally {
      System.setErr(before);
    }
    assertEquals(CommandLine.ExitCode.USAGE, code);
    assertTrue(err.toString(StandardCharsets.UTF_8).contains("'bulk'"), err::toString);
  }
}
