package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import picocli.CommandLine;

@Tag("slow")
final class PeersBenchTest {
  private static final String[] SHORT = {
    "--peers=raw,aeron", "--millis=20", "--warm-up=20", "--payloads=32", "--in-flight=16"
  };

  /** What is printed; without stubs, as those take long to start. */
  private static String run(int expected, String... more) {
    final PrintStream before = System.out;
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final int code;
    try {
      System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
      code = Bench.execute(Stream.concat(Stream.of(SHORT), Stream.of(more)).toArray(String[]::new));
    } finally {
      System.setOut(before);
    }
    final String printed = out.toString(StandardCharsets.UTF_8);
    assertEquals(expected, code, printed);
    return printed;
  }

  private static List<String> results(String printed) {
    return printed.lines().filter(line -> line.startsWith("RESULT ")).toList();
  }

  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void eachRowIsPrintedForScripts() throws IOException {
    final String printed = run(CommandLine.ExitCode.OK, "--rounds=2");
    assertTrue(printed.startsWith("3 rows x 2 rounds x 0.0 s"), printed);
    final List<String> results = results(printed);
    assertEquals(3, results.size(), printed);
    assertTrue(results.get(0).startsWith("RESULT peer=raw mode=direct payload=32 inflight=1 "));
    assertTrue(results.get(1).startsWith("RESULT peer=aeron-ipc mode=direct payload=32 "));
    assertTrue(
        results.get(2).startsWith("RESULT peer=aeron-ipc mode=direct payload=32 inflight=16"));
    results.forEach(line -> assertTrue(line.contains(" alloc_server="), line));
    final String where = "logs, table and plot: ";
    final Path folder =
        Path.of(
            printed
                .lines()
                .filter(line -> line.startsWith(where))
                .findFirst()
                .orElseThrow()
                .substring(where.length()));
    final List<Path> files;
    try (Stream<Path> found = Files.list(folder)) {
      files = found.sorted().toList();
    }
    for (final Path file : files) {
      Files.delete(file);
    }
    Files.delete(folder);
    assertEquals(
        List.of(
            "aeron-ipc_direct_32_1.hlog",
            "aeron-ipc_direct_32_16.hlog",
            "bench.svg",
            "raw_direct_32_1.hlog"),
        files.stream()
            .map(file -> file.getFileName().toString())
            .filter(name -> !List.of("lock", "settings", "table.txt").contains(name))
            .toList());
  }

  /** Of three rounds a row the first run makes one: it stands for one that was interrupted. */
  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void aRunGoesOnWhereItWasInterrupted(@TempDir Path directory) throws IOException {
    final String logs = "--logs=" + directory.resolve("run");
    final Path log = directory.resolve("run/raw_direct_32_1.hlog");
    run(CommandLine.ExitCode.OK, logs, "--rounds=1");
    final List<String> first = Files.readAllLines(log);
    run(CommandLine.ExitCode.OK, logs, "--resume", "--rounds=3");
    final List<String> all = Files.readAllLines(log);
    assertEquals(first, all.subList(0, first.size()));
    assertEquals(
        3, all.stream().filter(line -> line.startsWith("#[Round] ")).count(), all::toString);
    assertTrue(Files.readString(directory.resolve("run/bench.svg")).startsWith("<svg "));

    final String printed = run(CommandLine.ExitCode.OK, logs, "--resume", "--rounds=3");
    assertTrue(printed.startsWith("3 rows x 3 rounds"), printed);
    assertTrue(printed.contains(", 0.0 of them left, after 0.0 minutes"), printed);
    assertEquals(all, Files.readAllLines(log));
    assertEquals(results(printed), results(Files.readString(directory.resolve("run/table.txt"))));
  }

  @Test
  @ResourceLock(Resources.SYSTEM_ERR)
  void optionsWithoutNameAreNotThoseOfAnotherBenchmark() {
    assertTrue(refusal("--quick", "bulk").contains("'bulk'"));
  }

  @Test
  @ResourceLock(Resources.SYSTEM_ERR)
  void whatCannotBeDoneIsRefusedBeforeAnythingStarts(@TempDir Path directory) throws IOException {
    assertTrue(refusal("--quick", "--full").contains("--full takes longer"));
    assertTrue(refusal("--peers=ringfetch", "--modes=direct").startsWith("nothing to measure: "));
    assertTrue(refusal("--payloads=7").contains("from 8 to 1048576 bytes"));
    assertTrue(refusal("--resume").contains("--resume goes on with the folder of --logs"));
    Files.writeString(directory.resolve("settings"), "other");
    final String logs = "--logs=" + directory;
    assertTrue(refusal(logs).contains("--resume goes on with them"));
    assertTrue(refusal(logs, "--resume").contains("other settings"));
  }

  private static String refusal(String... options) {
    final PrintStream before = System.err;
    final ByteArrayOutputStream err = new ByteArrayOutputStream();
    final int code;
    try {
      System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
      code = Bench.execute(options);
    } finally {
      System.setErr(before);
    }
    assertEquals(CommandLine.ExitCode.USAGE, code);
    return err.toString(StandardCharsets.UTF_8);
  }
}
