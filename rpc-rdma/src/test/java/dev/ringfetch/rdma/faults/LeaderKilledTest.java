package dev.ringfetch.rdma.faults;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.zookeeper.ZooKeeperProcess;
import dev.ringfetch.rdma.natives.RdmaAssumptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A leader that places its records in a member's memory over a device, and is killed. */
@Tag("verbs")
@Tag("slow")
@Timeout(900)
final class LeaderKilledTest {
  private static final int NODES = 2;

  @TempDir private Path directory;
  private final List<Process> started = new ArrayList<>();
  private ZooKeeperProcess coordinator;

  private void start() throws IOException {
    final Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                IndexServer.class.getName(),
                "--port=0",
                "--fabric=verbs",
                "--replication=one-sided",
                "--cluster=zk://" + coordinator.address() + "/test",
                "--replicas=" + NODES,
                "--memory=32M")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    started.add(process);
  }

  private static String address(Process process) throws IOException {
    final String line = String.valueOf(process.inputReader(UTF_8).readLine());
    assertTrue(line.startsWith("index server listening on port "), line);
    return "localhost:" + line.substring(line.lastIndexOf(' ') + 1);
  }

  @AfterEach
  void stop() {
    started.forEach(Process::destroyForcibly);
    if (coordinator != null) {
      coordinator.kill();
    }
  }

  @Test
  void nothingAcknowledgedIsLost() throws Exception {
    RdmaAssumptions.assumeDevice();
    coordinator = ZooKeeperProcess.start(directory.resolve("zookeeper"), 0);
    for (int i = 0; i < NODES; i++) {
      start();
    }
    final Map<String, Process> nodes = new LinkedHashMap<>();
    for (final Process process : started) {
      nodes.put(address(process), process);
    }
    try (FailOverSteps steps = new FailOverSteps(List.copyOf(nodes.keySet()))) {
      final String leader = steps.place(null);
      steps.writeBeyond(leader, nodes.get(leader)::destroyForcibly);
    }
  }
}
