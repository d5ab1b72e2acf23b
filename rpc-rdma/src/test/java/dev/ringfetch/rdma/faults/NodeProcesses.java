package dev.ringfetch.rdma.faults;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.zookeeper.ZooKeeperProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A coordinator and nodes of a cluster, which reach each other's memory over a device alone. */
final class NodeProcesses implements AutoCloseable {
  private final ZooKeeperProcess coordinator;
  private final Map<String, Process> nodes = new LinkedHashMap<>();

  /**
   * Starts them.
   *
   * @param replication option of that name
   */
  NodeProcesses(Path directory, int count, String replication) throws IOException {
    coordinator = ZooKeeperProcess.start(directory.resolve("zookeeper"), 0);
    boolean done = false;
    try {
      final Process[] started = new Process[count];
      for (int i = 0; i < count; i++) {
        started[i] = start(count, replication);
        nodes.put("node " + i, started[i]);
      }
      final Map<String, Process> byAddress = new LinkedHashMap<>();
      for (final Process process : started) {
        byAddress.put(address(process), process);
      }
      nodes.clear();
      nodes.putAll(byAddress);
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  private Process start(int count, String replication) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            IndexServer.class.getName(),
            "--port=0",
            "--fabric=verbs",
            "--replication=" + replication,
            "--cluster=zk://" + coordinator.address() + "/test",
            "--replicas=" + count,
            "--memory=32M")
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private static String address(Process process) throws IOException {
    final String line = String.valueOf(process.inputReader(UTF_8).readLine());
    assertTrue(line.startsWith("index server listening on port "), line);
    return "localhost:" + line.substring(line.lastIndexOf(' ') + 1);
  }

  List<String> addresses() {
    return List.copyOf(nodes.keySet());
  }

  void kill(String address) {
    nodes.get(address).destroyForcibly();
  }

  @Override
  public void close() {
    Set.copyOf(nodes.values()).forEach(Process::destroyForcibly);
    coordinator.kill();
  }
}
