package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;

/** The output of a benchmark that runs in the test's JVM. The test locks System.out. */
final class PrintedBench {
  private PrintedBench() {}

  /** Runs a benchmark, which has to succeed. */
  static String run(String... arguments) {
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
