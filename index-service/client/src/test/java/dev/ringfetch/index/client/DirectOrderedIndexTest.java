package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Ordered views whose reads and scans go directly. */
final class DirectOrderedIndexTest extends OrderedIndexContract {
  /** Operations that went directly, and those that went by calls. */
  private final Map<Operation, AtomicInteger> direct = new ConcurrentHashMap<>();

  private final Map<Operation, AtomicInteger> called = new ConcurrentHashMap<>();

  @Override
  TestServer start(Path directory) throws IOException {
    return TestServer.start(directory);
  }

  @Override
  boolean servesSnapshots() {
    return true;
  }

  @Override
  IndexClient connect(TestServer to) {
    return to.builder()
        .metrics(
            (operation, index, route, code, durationNs) ->
                (route == Access.DIRECT ? direct : called)
                    .computeIfAbsent(operation, unused -> new AtomicInteger())
                    .incrementAndGet())
        .build();
  }

  /** An index that exists is granted to the first read. */
  @Override
  OrderedIndex<Long, String> view(OrderedIndex<Long, String> plain) {
    plain.put(0L, "");
    plain.remove(0L);
    return plain.access(Access.DIRECT);
  }

  private static int count(Map<Operation, AtomicInteger> routes, Operation operation) {
    return routes.getOrDefault(operation, new AtomicInteger()).get();
  }

  @Test
  void readsAndScansMakeNoCalls() {
    fill(1_000);
    assertEquals(Access.DIRECT, index.access());
    assertEquals(Optional.of("v5"), index.get(5L));
    assertEquals(Optional.empty(), index.get(5_000L));
    assertEquals(2, index.getAll(List.of(1L, 5_000L, 2L)).size());
    final List<Long> all = LongStream.range(-1_000, 1_000).boxed().toList();
    assertEquals(all, index.keys(Range.all()).toList());
    assertEquals(all, index.keys(Range.all()).pageSize(17).toList());
    assertEquals(all, index.scan().stream().map(IndexEntry::key).toList());
    assertEquals(999, index.last().orElseThrow().key());
    assertEquals(-1_000, index.first().orElseThrow().key());
    assertEquals("v7", index.deadline(java.time.Duration.ofSeconds(20)).get(7L).orElseThrow());
    assertEquals(4, count(direct, Operation.GET) + count(direct, Operation.GET_ALL));
    assertTrue(count(direct, Operation.SCAN) > 100, direct::toString);
    assertEquals(Map.of(), reads(called));
    assertEquals(all, index.keys(Range.all()).snapshot().toList());
    assertTrue(count(called, Operation.SCAN) > 0, "a snapshot goes by calls");
    final int before = count(called, Operation.SCAN);
    assertEquals(all, index.access(Access.RPC).keys(Range.all()).toList());
    assertTrue(count(called, Operation.SCAN) > before, called::toString);
  }

  private static Map<Operation, AtomicInteger> reads(Map<Operation, AtomicInteger> routes) {
    final Map<Operation, AtomicInteger> reads = new LinkedHashMap<>(routes);
    reads.keySet().removeIf(operation -> operation.isWriting());
    return reads;
  }

  @Test
  void entriesAreWholeAndVersionsThoseOfWrites() {
    final OrderedIndex<Long, byte[]> large =
        client.ordered("numbers", Codec.int64(), Codec.bytes()).access(Access.DIRECT);
    for (long i = 0; i < 20; i++) {
      final long version = large.put(i, new byte[(int) i * 20_000]);
      final IndexEntry<Long, byte[]> entry = large.first(Range.atLeast(i)).orElseThrow();
      assertEquals(i * 20_000, entry.value().length);
      assertEquals(version, entry.version());
    }
    assertEquals(20, large.scan().toList().size());
    assertEquals(20, large.scan().reverse().toList().size());
  }

  /** As by calls: an index with the same name is another one. */
  @Test
  void scanOfADroppedIndexIsAborted() {
    fill(1_000);
    final ScanIterator<Long> iterator = index.keys(Range.all()).iterator();
    assertEquals(-1_000, iterator.next());
    client.drop("numbers");
    fill(1_000);
    final IndexException aborted =
        assertThrows(IndexException.class, () -> iterator.forEachRemaining(key -> {}));
    assertEquals(Status.Code.ABORTED, aborted.code());
    assertEquals(2_000, index.keys(Range.all()).toList().size());
  }

  @Test
  void hashIndexHasNoRangesThere() {
    client.hash("hashed", Codec.int64(), Codec.string()).put(1L, "one");
    final OrderedIndex<Long, String> wrong =
        client.ordered("hashed", Codec.int64(), Codec.string()).access(Access.DIRECT);
    assertEquals(Optional.of("one"), wrong.get(1L));
    final IndexException scan = assertThrows(IndexException.class, () -> wrong.scan().toList());
    assertEquals(Status.Code.FAILED_PRECONDITION, scan.code());
  }
}
