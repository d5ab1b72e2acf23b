package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.stores.IndexProcess;
import dev.ringfetch.benchmarks.stores.MapProcess;
import dev.ringfetch.benchmarks.stores.NativeServer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The servers of {@link IndexBench}, started when they are needed, and the folder of their sockets
 * and of mapped files. Not for several threads.
 */
final class StoreServers implements AutoCloseable {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final long BYTES_PER_ENTRY = 160; // twice what is expected
  private static final long MIN_BYTES = 256L << 20;

  private final Rings rings;
  private final List<String> flags;
  private final Path folder;
  private final Thread deletion;
  private ChildProcess index;
  private ChildProcess map;
  private NativeServer redis;
  private NativeServer redisSorted;
  private NativeServer memcached;

  private StoreServers(Rings rings, List<String> flags, Path folder) {
    this.rings = rings;
    this.flags = flags;
    this.folder = folder;
    this.deletion = new Thread(this::delete, "bench-index-files");
    Runtime.getRuntime().addShutdownHook(deletion);
  }

  /**
   * Creates the folder, where shared memory is: no file of a rival waits for a disk.
   *
   * @param flags of the JVMs.
   */
  static StoreServers create(Rings rings, List<String> flags) throws IOException {
    final String prefix = "ringfetch-bench-index-";
    return new StoreServers(
        rings,
        flags,
        Files.isWritable(SHARED_MEMORY)
            ? Files.createTempDirectory(SHARED_MEMORY, prefix)
            : Files.createTempDirectory(prefix));
  }

  /** The server of indexes, with room for so many entries. */
  ChildProcess index(long entries) throws IOException {
    if (index == null) {
      index = startIndex(2 * entries); // of a hash index and of an ordered one
    }
    return index;
  }

  /** Another server of indexes; the caller ends it. */
  ChildProcess startIndex(long entries) throws IOException {
    final List<String> arguments = new ArrayList<>(rings.serverArguments());
    arguments.addAll(
        List.of("--memory", Long.toString(Math.max(MIN_BYTES, entries * BYTES_PER_ENTRY))));
    return ChildProcess.start(flags, IndexProcess.class, arguments);
  }

  /** The server of a map. */
  ChildProcess map() throws IOException {
    if (map == null) {
      map = ChildProcess.start(flags, MapProcess.class, List.of());
    }
    return map;
  }

  /** Where a server that was started listens. */
  static String target(ChildProcess server) {
    return "localhost:" + server.ask("port").count("port");
  }

  /** The Redis server. */
  NativeServer redis(Path program) throws IOException {
    if (redis == null) {
      redis = NativeServer.redis(program, file(StoreSide.redis));
    }
    return redis;
  }

  /** The Redis server whose keys are in a sorted set besides. */
  NativeServer redisSorted(Path program) throws IOException {
    if (redisSorted == null) {
      redisSorted = NativeServer.redis(program, file(StoreSide.redisSorted));
    }
    return redisSorted;
  }

  /** The memcached server. */
  NativeServer memcached(Path program) throws IOException {
    if (memcached == null) {
      memcached = NativeServer.memcached(program, file(StoreSide.memcached));
    }
    return memcached;
  }

  /** The socket or the mapped file of a side. */
  Path file(StoreSide side) {
    return folder.resolve(side.name());
  }

  private void delete() {
    try (Stream<Path> files = Files.walk(folder)) {
      for (final Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      System.err.println("bench index: cannot delete " + folder + ": " + e.getMessage());
    }
  }

  @Override
  public void close() {
    try {
      if (redis != null) {
        redis.close();
      }
      if (redisSorted != null) {
        redisSorted.close();
      }
      if (memcached != null) {
        memcached.close();
      }
      if (map != null) {
        map.close();
      }
      if (index != null) {
        index.close();
      }
    } finally {
      Runtime.getRuntime().removeShutdownHook(deletion);
      delete();
    }
  }
}
