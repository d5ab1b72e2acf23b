package dev.ringfetch.examples.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The demo in small. */
@Tag("slow")
@Timeout(600)
final class ClusterDemoTest {
  private static void run(String... options) {
    final List<String> arguments =
        Stream.concat(
                Stream.of(
                    "demo",
                    "--seconds=1",
                    "--kill-every=1",
                    "--kills=2",
                    "--entries=1000",
                    "--writers=2",
                    "--readers=2",
                    "--seed=" + Long.getLong("ringfetch.seed", 1)),
                Arrays.stream(options))
            .toList();
    assertEquals(0, ClusterProgram.commandLine().execute(arguments.toArray(String[]::new)));
    final Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
    assertEquals(
        List.of(),
        ClusterProcess.strays(temporary).stream()
            .filter(
                process -> process.parent().equals(java.util.Optional.of(ProcessHandle.current())))
            .toList());
  }

  @Test
  void nothingIsLostWhereLeadersAreKilled() {
    run();
  }

  @Test
  void nothingIsLostWhereLeadersStandStill() {
    run("--pause=2");
  }
}
