package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Futures of views that read memory: complete at once where memory decides, else as calls end. */
@Timeout(120)
final class DirectFuturesTest {
  private final Map<Access, Integer> routes = new ConcurrentHashMap<>();

  @TempDir Path directory;

  private IndexClientBuilder counting(IndexClientBuilder builder) {
    return builder.metrics(
        (operation, index, route, code, durationNs) -> {
          if (operation == Operation.GET || operation == Operation.GET_ALL) {
            routes.merge(route, 1, Integer::sum);
          }
        });
  }

  private static HashIndex<String, Long> direct(IndexClient client) {
    return client.hash("numbers", Codec.string(), Codec.int64()).access(Access.DIRECT);
  }

  /** Reads until memory is granted. */
  private void awaitGrant(AsyncIndex<String, Long> async, String key) throws Exception {
    final long limitNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!routes.containsKey(Access.DIRECT)) {
      final Optional<Long> unused = async.get(key).get(60, TimeUnit.SECONDS);
      assertTrue(System.nanoTime() - limitNs < 0, "in time");
    }
    routes.clear();
  }

  /** The result of a future that has ended already. */
  private static <T> T now(CompletableFuture<T> future) {
    assertTrue(future.isDone(), "the caller has to wait");
    return future.join();
  }

  @Test
  void futuresOfMemoryAreComplete() throws Exception {
    try (TestServer server = TestServer.start(directory);
        IndexClient client = counting(server.builder()).build()) {
      final HashIndex<String, Long> index = direct(client);
      final AsyncIndex<String, Long> async = index.async();
      final long version = index.put("a", 1L);
      index.put("brief", 5L, Duration.ofDays(1));
      awaitGrant(async, "a");

      assertEquals(Optional.of(1L), now(async.get("a")));
      assertEquals(Optional.of(new IndexEntry<>("a", 1L, version)), now(async.getEntry("a")));
      assertEquals(Optional.empty(), now(async.get("b")));
      assertTrue(now(async.getEntry("brief")).orElseThrow().deadline().isPresent());
      assertEquals(Map.of("a", 1L, "brief", 5L), now(async.getAll(List.of("a", "b", "brief"))));
      assertEquals(2L, async.put("a", 2L).thenCompose(put -> async.get("a")).get().orElseThrow());
      assertEquals(Map.of(Access.DIRECT, 6), routes);

      final String longKey = "k".repeat(1025);
      assertInstanceOf(
          IndexException.class,
          assertThrows(ExecutionException.class, () -> async.get(longKey).get()).getCause());
      index.access(Access.RPC).async().get("a").get();
      assertEquals(2, routes.get(Access.RPC)); // the long key, too
    }
  }

  /** A caller, which may be an event loop, does not read more keys than that itself. */
  @Test
  void manyKeysGoByCallsAfterTheFirst() throws Exception {
    try (TestServer server = TestServer.start(directory);
        IndexClient client = counting(server.builder()).build()) {
      final HashIndex<String, Long> index = direct(client);
      final AsyncIndex<String, Long> async = index.async();
      final Map<String, Long> entries = new LinkedHashMap<>();
      for (long i = 0; i < AsyncIndex.MEMORY_KEYS; i++) {
        entries.put("key" + i, i);
      }
      index.putAll(entries);
      awaitGrant(async, "key0");
      assertEquals(entries, now(async.getAll(entries.keySet())));
      assertEquals(Map.of(Access.DIRECT, 1), routes);

      index.put("last", -1L);
      entries.put("last", -1L);
      assertEquals(entries, async.getAll(entries.keySet()).get(60, TimeUnit.SECONDS));
      assertEquals(Map.of(Access.DIRECT, 1, Access.RPC, 1), routes);
    }
  }

  @Test
  void futuresOfAdaptiveViewsGoByCalls() throws Exception {
    try (TestServer server = TestServer.start(directory);
        IndexClient client = counting(server.builder()).build()) {
      final HashIndex<String, Long> index = direct(client);
      index.put("a", 1L);
      awaitGrant(index.async(), "a");
      final AsyncIndex<String, Long> hash = index.access(Access.ADAPTIVE).async();
      final AsyncIndex<String, Long> ordered =
          client.ordered("numbers", Codec.string(), Codec.int64()).access(Access.ADAPTIVE).async();
      for (int i = 0; i < 20; i++) {
        assertEquals(Optional.of(1L), hash.get("a").get(60, TimeUnit.SECONDS));
        assertEquals(Map.of("a", 1L), ordered.getAll(List.of("a")).get(60, TimeUnit.SECONDS));
      }
      assertEquals(Map.of(Access.RPC, 40), routes);
    }
  }

  /** A read never finds less than what was acknowledged before it began. */
  @Test
  void noReadIsStale() throws Exception {
    final int writes = 2_000;
    try (TestServer server = TestServer.start(directory);
        IndexClient client = counting(server.builder()).build()) {
      final HashIndex<String, Long> index = direct(client);
      final AtomicLong acknowledged = new AtomicLong();
      index.put("a", 0L);
      final Thread writer =
          new Thread(
              () -> {
                for (long i = 1; i <= writes; i++) {
                  index.put("a", i);
                  acknowledged.set(i);
                }
              });
      writer.start();
      while (writer.isAlive()) {
        final List<CompletableFuture<Boolean>> reads = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
          final long floor = acknowledged.get();
          reads.add(index.async().get("a").thenApply(found -> found.orElseThrow() >= floor));
        }
        for (final CompletableFuture<Boolean> read : reads) {
          assertTrue(read.get(60, TimeUnit.SECONDS));
        }
      }
      assertTrue(routes.getOrDefault(Access.DIRECT, 0) > 0, () -> "routes=" + routes);
    }
  }

  @Test
  void withoutAGrantCallsAnswer() throws Exception {
    try (TestServer server =
            TestServer.startWith(directory, new TreeIndex(), new TreeAdmin(), new SilentGrants());
        IndexClient client = counting(server.builder()).build()) {
      final HashIndex<String, Long> index = direct(client);
      index.put("a", 1L);
      final long beginNs = System.nanoTime();
      for (int i = 0; i < 20; i++) {
        assertEquals(Optional.of(1L), index.async().get("a").get());
        assertEquals(Map.of("a", 1L), index.async().getAll(List.of("a", "b")).get());
      }
      assertEquals(Map.of(Access.RPC, 40), routes);
      // A reader that waits for its grant would take half of the deadline, 15 s, once.
      assertTrue(System.nanoTime() - beginNs < TimeUnit.SECONDS.toNanos(14));
    }
  }

  /** The one operation that may be under way does not end; reads of memory need no turn. */
  @Test
  void readsOfMemoryAreNotUnderWay() throws Exception {
    final Held held = new Held();
    try (TestServer server = TestServer.start(directory)) {
      final ManagedChannel channel = server.channel(held);
      try (IndexClient client = counting(server.builder(channel).maxInFlight(1)).build()) {
        final HashIndex<String, Long> index = direct(client);
        final AsyncIndex<String, Long> async = index.async();
        index.put("a", 1L);
        awaitGrant(async, "a");
        held.holds = true;
        final CompletableFuture<Long> put = async.put("a", 2L);
        assertEquals(Optional.of(1L), now(async.get("a")));
        assertFalse(put.isDone());
        put.cancel(true);
      } finally {
        channel.shutdownNow();
      }
    }
  }

  @Test
  void aClosedClientFailsTheFuture() throws IOException {
    try (TestServer server = TestServer.start(directory)) {
      final IndexClient client = server.connect();
      final AsyncIndex<String, Long> async = direct(client).async();
      client.close();
      assertInstanceOf(
          IllegalStateException.class,
          assertThrows(ExecutionException.class, () -> async.get("a").get()).getCause());
    }
  }

  /** Keeps puts, while it is told to, as if the server did not answer. */
  private static final class Held implements ClientInterceptor {
    private volatile boolean holds;

    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      return holds && method.equals(IndexGrpc.getPutMethod())
          ? new SimpleForwardingClientCall<Q, R>(next.newCall(method, options)) {
            @Override
            public void halfClose() {}
          }
          : next.newCall(method, options);
    }
  }

  @Test
  void viewsWithAlikeTimeoutsShareReaders() throws Exception {
    try (TestServer server = TestServer.start(directory);
        IndexClient client = server.connect()) {
      final HashIndex<String, Long> index = direct(client);
      final DirectReads reads = index.deadline(Duration.ofNanos(1 << 30)).direct().reads();
      for (int micros = 600_000; micros < 1_000_000; micros += 10_007) {
        assertSame(reads, index.deadline(Duration.ofNanos(micros * 1_000L)).direct().reads());
      }
      assertNotSame(reads, index.deadline(Duration.ofSeconds(2)).direct().reads());
      assertEquals(Optional.empty(), index.deadline(Duration.ofNanos(Long.MAX_VALUE)).get("none"));
    }
  }
}
