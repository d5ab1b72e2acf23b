package dev.ringfetch.examples.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The soak in small. */
@Tag("slow")
@Timeout(600)
final class ClusterSoakTest {
  private static void run(String... options) {
    assertEquals(0, ClusterProgram.commandLine().execute(options));
  }

  @AfterEach
  void nothingIsLeft() {
    final Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
    assertEquals(
        List.of(),
        ClusterProcess.strays(temporary).stream()
            .filter(process -> process.parent().equals(Optional.of(ProcessHandle.current())))
            .toList());
  }

  @Test
  void faultsAtRandomLoseNothing() {
    run(
        "soak",
        "--kills=4",
        "--restarts=0",
        "--seed=" + Long.getLong("ringfetch.seed", System.nanoTime()));
  }

  /** Sockets end or stand still, while memory that nodes share goes on. */
  @Test
  void cutsLoseNothing() {
    assumeTrue(NodeNetworks.obstacle().isEmpty(), NodeNetworks::obstacle);
    run(
        "soak",
        "--networks",
        "--kills=6",
        "--restarts=0",
        "--seed=" + Long.getLong("ringfetch.seed", System.nanoTime()));
  }

  @Test
  void clientsSeeNoErrorOfARollingRestart() {
    run("soak", "--kills=0", "--restarts=1");
  }
}
