package dev.ringfetch.examples.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The networks of a cluster's nodes: a network namespace for each node, and a bridge of this one to
 * all of them. A node that is cut off reaches nobody by sockets, neither the coordinator; memory
 * that processes share goes on. Linux alone, and root.
 *
 * <p>Used by one thread at a time.
 */
final class NodeNetworks implements AutoCloseable {
  private static final int COMMAND_SECONDS = 10;

  private final String bridge;
  private final String prefix; // of addresses
  private final Set<String> nodes = new HashSet<>();

  /** Why there can be none here; empty if there can be. */
  static String obstacle() {
    if (!"root".equals(System.getProperty("user.name"))) {
      return "only root makes networks";
    }
    final String probe = "rfprobe" + ProcessHandle.current().pid();
    try {
      run("bridge", "link", "show");
      run("ip", "netns", "add", probe);
      run("ip", "netns", "delete", probe);
      return "";
    } catch (IOException | ClusterFailure e) {
      return e.getMessage();
    }
  }

  /** Creates the bridge. */
  NodeNetworks() throws IOException {
    final long id = ProcessHandle.current().pid();
    bridge = "rf" + id;
    prefix = "10." + (128 + id % 100) + "." + id / 100 % 250 + ".";
    boolean complete = false;
    try {
      run("ip", "link", "add", bridge, "type", "bridge");
      run("ip", "address", "add", prefix + "1/24", "dev", bridge);
      run("ip", "link", "set", bridge, "up");
      complete = true;
    } finally {
      if (!complete) {
        close();
      }
    }
  }

  /** The address of this side, which no cut concerns. */
  String address() {
    return prefix + "1";
  }

  /** The address of a node. */
  String address(String node) {
    return prefix + (10 + number(node));
  }

  private static int number(String node) {
    return Integer.parseInt(node.substring(node.lastIndexOf('-') + 1));
  }

  private String namespace(String node) {
    return bridge + "-" + number(node);
  }

  private String port(String node) {
    return bridge + "v" + number(node);
  }

  /** The words before the command of a node's process, by which it runs in the node's network. */
  List<String> entering(String node) throws IOException {
    if (nodes.add(node)) {
      final String namespace = namespace(node);
      run("ip", "netns", "add", namespace);
      run(
          "ip",
          "link",
          "add",
          port(node),
          "type",
          "veth",
          "peer",
          "name",
          "eth0",
          "netns",
          namespace);
      run("ip", "link", "set", port(node), "master", bridge, "up");
      run("ip", "-n", namespace, "address", "add", address(node) + "/24", "dev", "eth0");
      run("ip", "-n", namespace, "link", "set", "lo", "up");
      run("ip", "-n", namespace, "link", "set", "eth0", "up");
    }
    return List.of("ip", "netns", "exec", namespace(node));
  }

  /** Cuts a node off from all others, or ends that. */
  void cut(String node, boolean cut) throws IOException {
    run("ip", "link", "set", port(node), cut ? "down" : "up");
  }

  /**
   * Keeps a node apart, or ends that: two nodes that are kept apart do not reach each other, but
   * all the rest.
   */
  void keepApart(String node, boolean apart) throws IOException {
    run("bridge", "link", "set", "dev", port(node), "isolated", apart ? "on" : "off");
  }

  private static void run(String... command) throws IOException {
    final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    try {
      final boolean ended = process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS); // it says little
      if (!ended || process.exitValue() != 0) {
        process.destroyForcibly();
        final String said =
            new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        throw new ClusterFailure("failed: " + String.join(" ", command) + ": " + said);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterFailure("interrupted", e);
    }
  }

  /** Removes bridge and namespaces. */
  @Override
  public void close() {
    final List<String[]> commands = new ArrayList<>();
    for (final String node : nodes) {
      commands.add(new String[] {"ip", "link", "delete", port(node)});
      commands.add(new String[] {"ip", "netns", "delete", namespace(node)});
    }
    commands.add(new String[] {"ip", "link", "delete", bridge});
    for (final String[] command : commands) {
      try {
        run(command);
      } catch (IOException | ClusterFailure e) {
        System.err.println("cluster: not all is cleaned up: " + e.getMessage());
      }
    }
  }
}
