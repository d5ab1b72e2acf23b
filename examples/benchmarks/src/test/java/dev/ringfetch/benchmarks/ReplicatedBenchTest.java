package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ringfetch.benchmarks.replicated.ReplicatedSide;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Each side has several processes, each of which takes a second to start. */
final class ReplicatedBenchTest {
  @TempDir Path directory;

  private String run(List<ReplicatedSide> sides, String... more) throws IOException {
    final PrintStream before = System.out;
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final String names = sides.stream().map(Enum::name).collect(Collectors.joining(","));
    final int code;
    try {
      System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
      code =
          Bench.execute(
              Stream.concat(
                      Stream.of(
                          "replicated",
                          "--rounds=1",
                          "--millis=50",
                          "--warm-up=50",
                          "--threads=1,2",
                          "--entries=500",
                          "--data=" + directory,
                          "--sides=" + names),
                      Stream.of(more))
                  .toArray(String[]::new));
    } finally {
      System.setOut(before);
    }
    final String printed = out.toString(StandardCharsets.UTF_8);
    assertEquals(CommandLine.ExitCode.OK, code, printed);
    try (Stream<Path> files = Files.list(directory)) {
      assertEquals(List.of(), files.toList());
    }
    return printed;
  }

  /** Row and side of each line. */
  private static Set<String> rows(String printed) {
    return printed
        .lines()
        .filter(line -> line.startsWith("RESULT row=replicated-"))
        .map(line -> line.split(" ", -1))
        .map(words -> words[1].substring("row=replicated-".length()) + " " + words[2])
        .collect(Collectors.toSet());
  }

  private static Set<String> expected(List<ReplicatedSide> sides, boolean kills) {
    final Set<String> expected = new HashSet<>();
    for (final ReplicatedSide side : sides) {
      for (final String row : List.of("idle", "put-1", "put-2", "get-1", "get-2")) {
        expected.add(row + " side=" + side.text());
      }
      if (side == ReplicatedSide.oneSided) {
        for (final String row : List.of("direct-1", "direct-2")) {
          expected.add(row + " side=server");
          expected.add(row + " side=leader");
        }
      }
      if (kills) {
        expected.add("fail-over side=" + side.text());
      }
    }
    return expected;
  }

  @Tag("slow")
  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void eachRowOfAnIndexIsPrintedForScripts() throws IOException {
    final List<ReplicatedSide> sides = List.of(ReplicatedSide.one);
    assertEquals(expected(sides, false), rows(run(sides, "--kills=0")));
  }

  @ParameterizedTest
  @EnumSource(value = ReplicatedSide.class, mode = EnumSource.Mode.EXCLUDE, names = "one")
  @Tag("slow")
  @ResourceLock(Resources.SYSTEM_OUT)
  void eachRowOfASideIsPrintedForScripts(ReplicatedSide side) throws IOException {
    assumeTrue(side.obstacle().isEmpty(), side.obstacle());
    final List<ReplicatedSide> sides = List.of(side);
    assertEquals(expected(sides, true), rows(run(sides, "--kills=1")));
  }

  @ParameterizedTest
  @ResourceLock(Resources.SYSTEM_ERR)
  @ValueSource(strings = {"--sides=nobody", "--kills=-1", "--threads=0", "--data=/dev/null/none"})
  void whatCannotBeMeasuredIsRefused(String option) {
    assertEquals(CommandLine.ExitCode.USAGE, Bench.execute("replicated", option));
  }
}
