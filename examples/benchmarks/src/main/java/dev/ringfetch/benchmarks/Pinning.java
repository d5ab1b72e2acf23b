package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The assignment of cores to the threads of a peer's processes: clients use one half, servers the
 * other. {@code taskset} does it, once a peer is warm: until then its compilers may use all cores,
 * and it finds out how many there are.
 *
 * @param clients cores of clients.
 * @param servers cores of servers.
 * @param obstacle why there is no pinning, or null.
 */
record Pinning(List<Integer> clients, List<Integer> servers, String obstacle) {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String ALLOWED = "Cpus_allowed_list:";
  private static final int PATIENCE_SECONDS = 10;

  /** No pinning, for this reason. */
  static Pinning none(String obstacle) {
    return new Pinning(List.of(), List.of(), obstacle);
  }

  /** The pinning that this machine allows. */
  static Pinning ofMachine() throws IOException {
    if (!Files.exists(STATUS)) {
      return none("not Linux");
    }
    final String allowed =
        Files.readAllLines(STATUS).stream()
            .filter(line -> line.startsWith(ALLOWED))
            .map(line -> line.substring(ALLOWED.length()).strip())
            .findFirst()
            .orElse("");
    final Pinning halves = halves(cores(allowed));
    return halves.obstacle != null || run("taskset", "--version") == 0
        ? halves
        : none("no taskset (Debian: apt-get install util-linux)");
  }

  /** Clients and servers on one core; none where this machine allows no pinning. */
  static Pinning ofOneCore() throws IOException {
    final Pinning halves = ofMachine();
    if (halves.obstacle != null) {
      return halves;
    }
    final List<Integer> first = halves.clients.subList(0, 1);
    return new Pinning(first, first, null);
  }

  /** The cores of a list as Linux writes it: 0-3,8. */
  static List<Integer> cores(String list) {
    final List<Integer> cores = new ArrayList<>();
    for (final String range : list.split(",", 0)) {
      final String[] ends = range.split("-", 2);
      if (!ends[0].isBlank()) {
        final int last = Integer.parseInt(ends[ends.length - 1].strip());
        for (int core = Integer.parseInt(ends[0].strip()); core <= last; core++) {
          cores.add(core);
        }
      }
    }
    return cores;
  }

  /** The first half for clients, the second for servers. */
  static Pinning halves(List<Integer> cores) {
    if (cores.size() < 2) {
      return none("fewer than two cores");
    }
    final int half = cores.size() / 2;
    return new Pinning(
        List.copyOf(cores.subList(0, half)), List.copyOf(cores.subList(half, cores.size())), null);
  }

  /** The settings that compared rounds must share, in words for scripts. */
  String settings() {
    return "clients=" + list(clients) + " servers=" + list(servers);
  }

  /** One line for people. */
  String describe() {
    return obstacle == null
        ? "once warm, clients on core "
            + list(clients)
            + ", servers on core "
            + list(servers)
            + ", by taskset; what is one process on all"
        : "none: " + obstacle;
  }

  /**
   * Pins all threads of a peer, and with them those that they will start.
   *
   * @return false if that does not succeed.
   */
  boolean pin(PeerContender peer) throws IOException {
    return obstacle != null
        || peer.isOneProcess()
        || (pin(peer.client(), clients) && pin(peer.server(), servers));
  }

  /** Pins all threads of a client's process, for a command with an option against it. */
  void pinClient(ChildProcess client) throws IOException {
    pinOrThrow(client, clients);
  }

  /** Pins all threads of a server's process, for a command with an option against it. */
  void pinServer(ChildProcess server) throws IOException {
    pinOrThrow(server, servers);
  }

  private void pinOrThrow(ChildProcess process, List<Integer> cores) throws IOException {
    if (obstacle == null && !pin(process, cores)) {
      throw new IOException("a process cannot be pinned; --no-pinning does without");
    }
  }

  private static boolean pin(ChildProcess process, List<Integer> cores) throws IOException {
    return run("taskset", "-a", "-c", "-p", list(cores), Long.toString(process.pid())) == 0;
  }

  private static String list(List<Integer> cores) {
    return cores.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  /** Exit code of a command, whose output nobody sees; not 0 where there is none such. */
  private static int run(String... command) throws IOException {
    final Process process;
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      return -1; // there is no such command
    }
    try {
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        return -1;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for " + command[0], e);
    }
    return process.exitValue();
  }
}
