package dev.ringfetch.benchmarks.stores;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class NativeStoresTest {
  private static final int ENTRIES = 1_000;

  @TempDir Path directory;

  @Test
  void redisHoldsWhatIsWritten() throws IOException {
    final Optional<Path> program = NativeServer.find("redis-server");
    assumeTrue(program.isPresent(), "redis-server is not installed");
    final Path socket = directory.resolve("socket");
    try (NativeServer server = NativeServer.redis(program.get(), socket);
        Store store = new RedisStore(socket)) {
      check(server, store);
    }
  }

  @Test
  void redisScansWhatIsWritten() throws IOException {
    final Optional<Path> program = NativeServer.find("redis-server");
    assumeTrue(program.isPresent(), "redis-server is not installed");
    final Path socket = directory.resolve("socket");
    try (NativeServer server = NativeServer.redis(program.get(), socket);
        Store store = new SortedRedisStore(socket)) {
      check(server, store);
      try (Store.Session session = store.open()) {
        for (int number = 0; number < ENTRIES; number++) {
          final int found = session.scan(number, 10);
          assertTrue(Entries.isEnough(found, number, ENTRIES, 10), "number=" + number);
        }
      }
    }
  }

  @Test
  void memcachedHoldsWhatIsWritten() throws IOException {
    final Optional<Path> program = NativeServer.find("memcached");
    assumeTrue(program.isPresent(), "memcached is not installed");
    final Path socket = directory.resolve("socket");
    try (NativeServer server = NativeServer.memcached(program.get(), socket);
        Store store = new MemcachedStore(socket)) {
      check(server, store);
    }
  }

  @Test
  void etcdHoldsWhatIsWritten() throws IOException {
    final Optional<Path> program = NativeServer.find("etcd");
    assumeTrue(program.isPresent(), "etcd is not installed");
    final int port = NativeServer.freePort();
    try (NativeServer server = NativeServer.etcd(program.get(), directory, port);
        Store store = new EtcdStore(new EtcdEndpoints("127.0.0.1:" + port))) {
      assertTrue(ProcessHandle.of(server.pid()).isPresent());
      checkEntries(store);
    }
  }

  @Test
  void rocksHoldsWhatIsWritten() {
    try (Store store = new RocksStore(directory)) {
      checkEntries(store);
    }
  }

  private static void check(NativeServer server, Store store) {
    assertTrue(ProcessHandle.of(server.pid()).isPresent());
    checkEntries(store);
    assertTrue(store.usedBytes() > ENTRIES * (Entries.KEY_LENGTH + Entries.VALUE_LENGTH));
  }

  private static void checkEntries(Store store) {
    try (Store.Session session = store.open()) {
      session.putAll(0, ENTRIES);
      for (int number = 0; number < ENTRIES; number++) {
        assertTrue(session.get(number), "number=" + number);
      }
      assertFalse(session.get(ENTRIES));
      session.put(ENTRIES, 7);
      assertTrue(session.get(ENTRIES));
    }
  }
}
