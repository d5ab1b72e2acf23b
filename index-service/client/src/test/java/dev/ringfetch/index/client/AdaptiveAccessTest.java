package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.DirectAccessGrpc;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Views that choose the route of each read, on a real server. */
@Timeout(60)
final class AdaptiveAccessTest {
  private static final int ENTRIES = 300;

  @TempDir Path directory;

  private final Map<Access, Integer> routes = new EnumMap<>(Access.class);
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final MicrometerMetrics meters = new MicrometerMetrics(registry);
  private final Set<ReadKind> kinds = EnumSet.noneOf(ReadKind.class);
  private int windows;

  private IndexClient client(TestServer server) {
    final ClientMetrics metrics =
        new ClientMetrics() {
          @Override
          public void onEnd(
              Operation operation,
              String index,
              Access route,
              io.grpc.Status.Code code,
              long durationNs) {
            routes.merge(route, 1, Integer::sum);
            meters.onEnd(operation, index, route, code, durationNs);
          }

          @Override
          public void onShare(String index, ReadKind kind, double share, long probes) {
            assertEquals("numbers", index);
            windows++;
            kinds.add(kind);
            meters.onShare(index, kind, share, probes);
          }
        };
    return server.builder().metrics(metrics).build();
  }

  private OrderedIndex<Long, Long> filled(IndexClient client) {
    final OrderedIndex<Long, Long> index = client.ordered("numbers", Codec.int64(), Codec.int64());
    for (long i = 0; i < ENTRIES; i++) {
      index.put(i, 2 * i);
    }
    routes.clear();
    return index.access(Access.ADAPTIVE);
  }

  /** Both routes give the same answers, and calls are tried though memory is faster. */
  @Test
  void mostReadsOfAFastIndexGoDirectly() throws Exception {
    try (TestServer server = TestServer.start(directory);
        IndexClient client = client(server)) {
      final OrderedIndex<Long, Long> index = filled(client);
      assertEquals(Access.ADAPTIVE, index.access());
      final long limitNs = System.nanoTime() + 30_000_000_000L;
      long done = 0;
      while (done < 2_000 || !routes.containsKey(Access.RPC)) {
        final long key = done++ % (ENTRIES + 1);
        assertEquals(
            key < ENTRIES ? Optional.of(2 * key) : Optional.empty(), index.get(key), "key=" + key);
        assertTrue(System.nanoTime() - limitNs < 0, "calls are tried: " + routes);
      }
      assertTrue(routes.get(Access.DIRECT) > done / 2, routes::toString);
      assertTrue(windows > 0);
      final List<Long> keys = IntStream.range(0, 20).mapToObj(i -> (long) i).toList();
      for (int i = 0; i < 200; i++) {
        assertEquals(20, index.getAll(keys).size());
        assertEquals(ENTRIES, index.scan().toList().size());
        assertEquals(keys, index.keys(Range.all()).limit(20).toList());
      }
      for (long i = 0; i < 200; i++) {
        assertEquals(i, index.update(-1L, before -> before.orElse(-1L) + 1));
      }
    }
  }

  /** Each kind of search has a share of its own; both routes find the same. */
  @Test
  void searchesAreKindsOfReads() throws Exception {
    try (TestServer server = TestServer.start(directory);
        IndexClient client = client(server)) {
      final SpatialIndex<Long, Long> index =
          client.spatial("numbers", Codec.int64(), Codec.int64()).access(Access.ADAPTIVE);
      for (long i = 0; i < ENTRIES; i++) {
        index.put(i, Box.of((double) i, 0), 2 * i);
      }
      final long limitNs = System.nanoTime() + 60_000_000_000L;
      routes.clear();
      final Set<ReadKind> searched =
          EnumSet.of(ReadKind.SEARCH_OF_10, ReadKind.LONGER_SEARCH, ReadKind.NEAREST_OF_100);
      while (!kinds.containsAll(searched) || routes.size() < 2) {
        final Box all = new Box(0, 0, ENTRIES, 1);
        assertEquals(7, index.intersecting(all).limit(7).toList().size());
        assertEquals(ENTRIES, index.within(all).toList().size());
        assertEquals(50, index.nearest(new Point(1, 1), 50).size());
        assertTrue(System.nanoTime() - limitNs < 0, kinds + " " + routes);
      }
      assertEquals(searched, kinds);
      assertTrue(routes.get(Access.DIRECT) > routes.get(Access.RPC), routes::toString);
    }
  }

  @Test
  void withoutAGrantAllGoesByCalls() throws Exception {
    try (TestServer server =
            TestServer.startWith(
                directory,
                new TreeIndex(),
                new TreeAdmin(),
                new DirectAccessGrpc.DirectAccessImplBase() {});
        IndexClient client = client(server)) {
      final HashIndex<Long, Long> index =
          client.hash("numbers", Codec.int64(), Codec.int64()).access(Access.ADAPTIVE);
      index.put(1L, 2L);
      routes.clear();
      for (int i = 0; i < 500; i++) {
        assertEquals(Optional.of(2L), index.get(1L));
      }
      assertEquals(Map.of(Access.RPC, 500), routes);
      assertEquals(0, windows);
    }
  }

  @Test
  void sharesAreMeters() {
    assertNull(registry.find(MicrometerMetrics.SHARE).gauge());
    meters.onShare("numbers", ReadKind.GET, 0.75, 3);
    meters.onShare("numbers", ReadKind.PAGE_OF_10, 0, 9);
    meters.onShare("numbers", ReadKind.PAGE_OF_10, 0.125, 1);
    assertEquals(0.75, registry.get(MicrometerMetrics.SHARE).tags(tags("get")).gauge().value());
    assertEquals(
        0.125, registry.get(MicrometerMetrics.SHARE).tags(tags("page_of_10")).gauge().value());
    assertEquals(
        10, registry.get(MicrometerMetrics.PROBES).tags(tags("page_of_10")).counter().count());
  }

  private static Tags tags(String kind) {
    return Tags.of("index", "numbers", "kind", kind);
  }
}
