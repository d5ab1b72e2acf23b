package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.stores.NativeServer;
import dev.ringfetch.benchmarks.stores.StoreClient;
import dev.ringfetch.benchmarks.stores.StoreKind;
import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The stores that sync each put before its answer, to compare an index with: Redis, etcd and
 * RocksDB, as far as they are there. Not for several threads.
 */
final class DurablePeers implements AutoCloseable {
  private static final List<String> FLAGS = List.of();

  private final Path folder;
  private final int entries;
  private final long seed;
  private final PrintStream out;
  private final Map<String, ChildProcess> clients = new LinkedHashMap<>();
  private final Deque<NativeServer> servers = new ArrayDeque<>();

  private DurablePeers(Path folder, int entries, long seed, PrintStream out) {
    this.folder = folder;
    this.entries = entries;
    this.seed = seed;
    this.out = out;
  }

  /**
   * Starts those that there are, with a client process each, and says which are left out.
   *
   * @param folder of their files
   * @param entries that each gets
   */
  static DurablePeers start(Path folder, int entries, long seed, PrintStream out)
      throws IOException {
    final DurablePeers peers = new DurablePeers(folder, entries, seed, out);
    boolean started = false;
    try {
      peers.startRedis();
      peers.startEtcd();
      peers.startRocks();
      started = true;
      return peers;
    } finally {
      if (!started) {
        peers.close();
      }
    }
  }

  private Optional<Path> find(String name, String program) {
    final Optional<Path> found = NativeServer.find(program);
    if (found.isEmpty()) {
      out.println("  left out: no " + name);
    }
    return found;
  }

  private void startRedis() throws IOException {
    final Optional<Path> program = find("Redis", "redis-server");
    if (program.isPresent()) {
      final Path socket = Files.createDirectory(folder.resolve("redis")).resolve("socket");
      servers.push(NativeServer.redis(program.get(), socket, "always"));
      add("redis-always", StoreClient.start(StoreKind.redis, entries, seed, socket, FLAGS));
    }
  }

  private void startEtcd() throws IOException {
    final Optional<Path> program = find("etcd", "etcd");
    if (program.isPresent()) {
      final int port = NativeServer.freePort();
      servers.push(
          NativeServer.etcd(program.get(), Files.createDirectory(folder.resolve("etcd")), port));
      add("etcd", StoreClient.start(StoreKind.etcd, entries, seed, "127.0.0.1:" + port, FLAGS));
    }
  }

  private void startRocks() throws IOException {
    add(
        "rocksdb",
        StoreClient.start(StoreKind.rocks, entries, seed, folder.resolve("rocks"), FLAGS));
  }

  private void add(String name, ChildProcess client) {
    clients.put(name, client);
    client.ask("load", 0, entries);
  }

  /** The client of each. */
  Map<String, ChildProcess> clients() {
    return clients;
  }

  @Override
  public void close() {
    clients.values().forEach(ChildProcess::close);
    servers.forEach(NativeServer::close);
  }
}
