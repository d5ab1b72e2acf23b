package dev.ringfetch.benchmarks;

import com.google.protobuf.ByteString;
import dev.ringfetch.benchmarks.stores.NativeServer;
import dev.ringfetch.benchmarks.stores.StoreClient;
import dev.ringfetch.benchmarks.stores.StoreKind;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.SnapshotRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The start of servers that were killed: milliseconds from the start of the process to the answer
 * of the first Get; with an archive of the server's classes, as {@code examples/run index serve}
 * has one. Not for several threads.
 */
final class JournalStart {
  private static final double NS_PER_MS = 1e6;

  private final Path folder;
  private final int entries;
  private final long seed;
  private final Rings rings;
  private final List<String> flags;
  private final int rounds;
  private ServerClasses classes;

  /**
   * Creates it.
   *
   * @param folder of the servers' data
   * @param flags of the JVMs
   */
  JournalStart(Path folder, int entries, long seed, Rings rings, List<String> flags, int rounds) {
    this.folder = folder;
    this.entries = entries;
    this.seed = seed;
    this.rings = rings;
    this.flags = flags;
    this.rounds = rounds;
  }

  /** Measures all, by side; what is not installed is left out. */
  Map<String, Spread> run() throws IOException {
    final Map<String, Spread> starts = new LinkedHashMap<>();
    classes = ServerClasses.archived(folder, rings);
    starts.put("empty", index(StoreKind.stub, 1, false));
    for (final StoreKind kind : List.of(StoreKind.stub, StoreKind.orderedStub)) {
      final String name = kind == StoreKind.stub ? "hash" : "ordered";
      starts.put(name + "-journal", index(kind, entries, false));
      starts.put(name + "-snapshot", index(kind, entries, true));
    }
    final Optional<Path> redis = NativeServer.find("redis-server");
    if (redis.isPresent()) {
      starts.put("redis-everysec", redis(redis.get()));
    }
    return starts;
  }

  private Spread index(StoreKind kind, int count, boolean takesSnapshot) throws IOException {
    final Path data = folder.resolve("start-" + kind + "-" + count + "-" + takesSnapshot);
    final String index = kind == StoreKind.stub ? "" : "ordered";
    final GetRequest last;
    JournalServer server = JournalServer.start(data, "interval", rings, classes);
    try (ChildProcess client = server.client(kind, count, seed, flags)) {
      if (kind != StoreKind.stub) {
        client.ask("clear");
      }
      client.ask("load", 0, count);
      last =
          GetRequest.newBuilder()
              .setIndex(index)
              .setKey(ByteString.copyFrom(StoreClient.key(count - 1)))
              .build();
      if (takesSnapshot) {
        IndexAdminGrpc.newBlockingStub(server.channel())
            .snapshot(SnapshotRequest.getDefaultInstance());
      }
      get(server, last); // the classes of this process
    } finally {
      server.kill();
    }
    final List<Double> millis = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      final long beginNs = System.nanoTime();
      server = JournalServer.start(data, "interval", rings, classes);
      try {
        get(server, last);
        millis.add((System.nanoTime() - beginNs) / NS_PER_MS);
      } finally {
        server.kill();
      }
    }
    return Spread.of(millis, Double::doubleValue);
  }

  private static void get(JournalServer server, GetRequest request) throws IOException {
    if (!IndexGrpc.newBlockingStub(server.channel()).get(request).hasEntry()) {
      throw new IOException("an entry is missing after a start: " + request);
    }
  }

  private Spread redis(Path program) throws IOException {
    final Path socket = folder.resolve("start-redis");
    NativeServer server = NativeServer.redis(program, socket, "everysec");
    final List<Double> millis = new ArrayList<>();
    try {
      try (ChildProcess client = StoreClient.start(StoreKind.redis, entries, seed, socket, flags)) {
        client.ask("load", 0, entries);
      }
      for (int round = 0; round < rounds; round++) {
        server.kill();
        final long beginNs = System.nanoTime();
        server = NativeServer.redis(program, socket, "everysec");
        NativeServer.awaitRedis(socket, entries - 1L);
        millis.add((System.nanoTime() - beginNs) / NS_PER_MS);
      }
    } finally {
      server.close();
    }
    return Spread.of(millis, Double::doubleValue);
  }
}
