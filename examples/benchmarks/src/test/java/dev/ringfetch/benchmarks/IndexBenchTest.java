package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

final class IndexBenchTest {
  private static final String[] SHORT = {
    "index", "--rounds=1", "--millis=20", "--warm-up=20", "--entries=500", "--growth=1900"
  };

  private static String run(String... more) {
    return PrintedBench.run(
        Stream.concat(Stream.of(SHORT), Stream.of(more)).toArray(String[]::new));
  }

  /** Rivals have processes of their own, each of which takes a second to start. */
  @Tag("slow")
  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void eachRowOfTheIndexIsPrintedForScripts(@TempDir Path directory) throws IOException {
    check(directory, List.of(StoreSide.ringfetch, StoreSide.echo, StoreSide.direct));
  }

  @Test
  @Tag("slow")
  @ResourceLock(Resources.SYSTEM_OUT)
  void eachRowOfEachPeerIsPrintedForScripts(@TempDir Path directory) throws IOException {
    check(directory, List.of(StoreSide.values()));
  }

  private static void check(Path directory, List<StoreSide> sides) throws IOException {
    final String logs = "--logs=" + directory.resolve("run");
    final String option =
        "--peers=" + sides.stream().map(StoreSide::name).collect(Collectors.joining(","));
    final String printed = run(logs, option);
    final Set<String> results = rows(printed);
    for (final IndexRow row : IndexRow.values()) {
      final List<String> peers =
          row == IndexRow.growth
              ? List.of(
                  IndexGrowth.ALONE,
                  IndexGrowth.BESIDE_GROWTH,
                  IndexGrowth.BESIDE_UPDATES,
                  IndexGrowth.OWNER,
                  IndexGrowth.OWNER_UPDATES)
              : row.sides().stream()
                  .filter(sides::contains)
                  .filter(side -> StoreContender.obstacle(side).isEmpty())
                  .map(StoreSide::text)
                  .toList();
      for (final String peer : peers) {
        assertTrue(
            results.remove("row=" + row.text() + " peer=" + peer), row + " " + peer + printed);
      }
    }
    assertEquals(Set.of(), results);
    assertTrue(printed.contains("RESULT goal=get-p50-by-ring-echo unit=ratio "), printed);
    assertTrue(printed.contains("RESULT goal=growth-longest-step unit=us "), printed);
    assertTrue(printed.contains("\nwrong answers: 0\n"), printed);
    for (final StoreSide side : sides) {
      final String obstacle = StoreContender.obstacle(side);
      assertEquals(!obstacle.isEmpty(), printed.contains("left out: " + obstacle + "\n"), printed);
    }

    final List<String> rounds = Files.readAllLines(directory.resolve("run/rounds.log"));
    assertEquals(rows(printed), rows(run(logs, option, "--resume")));
    assertEquals(rounds, Files.readAllLines(directory.resolve("run/rounds.log")));
  }

  /** Row and peer of each line. */
  private static Set<String> rows(String printed) {
    return printed
        .lines()
        .filter(line -> line.startsWith("RESULT row="))
        .map(line -> line.substring("RESULT ".length(), line.indexOf(" threads=")))
        .collect(Collectors.toSet());
  }

  @ParameterizedTest
  @ResourceLock(Resources.SYSTEM_ERR)
  @ValueSource(strings = {"--peers=nobody", "--rows=none", "--growth=1000", "--resume"})
  void whatCannotBeMeasuredIsRefused(String option) {
    assertEquals(CommandLine.ExitCode.USAGE, Bench.execute("index", option));
  }
}
