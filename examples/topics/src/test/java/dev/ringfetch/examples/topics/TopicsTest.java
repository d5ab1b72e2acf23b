package dev.ringfetch.examples.topics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.rpc.Authority;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs each of the short programs. */
class TopicsTest {
  /** A program's main method. */
  private interface Program {
    void run(String[] args) throws Exception;
  }

  private static List<String> run(Program program, String... args) throws Exception {
    final ByteArrayOutputStream lines = new ByteArrayOutputStream();
    final PrintStream out = System.out;
    System.setOut(new PrintStream(lines, true, StandardCharsets.UTF_8));
    try {
      program.run(args);
    } finally {
      System.setOut(out);
    }
    return lines.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void deadline() throws Exception {
    assertEquals(List.of("client: DEADLINE_EXCEEDED", "server: told"), run(DeadlineExample::main));
  }

  @Test
  void cancel() throws Exception {
    assertEquals(List.of("client: Hello, Ada", "server: cancelled"), run(CancelExample::main));
  }

  @Test
  void flowControl() throws Exception {
    assertEquals(
        List.of("server: held back is true", "client: 10000 messages"),
        run(FlowControlExample::main));
  }

  @Test
  void retry() throws Exception {
    assertEquals(
        List.of("client: Hello, calls of gRPC 1", "server: 3 attempts"), run(RetryExample::main));
  }

  @Test
  void tls(@TempDir Path directory) throws Exception {
    final Authority authority = new Authority("authority");
    final Path certificate = directory.resolve("certificate.pem");
    final Path key = directory.resolve("key.pem");
    authority.issue("localhost").write(certificate, key);
    final Path trust = authority.write(directory.resolve("authority.pem"));
    assertEquals(
        List.of("client: Hello by shm"),
        run(TlsExample::main, certificate.toString(), key.toString(), trust.toString()));
  }

  @Test
  void kernel() throws Exception {
    assertEquals(List.of("longest: Schifffahrt"), run(KernelExample::main));
  }

  @Test
  void metrics() throws Exception {
    assertEquals(List.of("calls by ring: 10.0"), run(MetricsExample::main));
  }
}
