package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Ordered views of an index server. */
final class OrderedIndexTest extends OrderedIndexContract {
  @Override
  TestServer start(Path directory) throws IOException {
    return TestServer.start(directory);
  }

  @Override
  boolean servesSnapshots() {
    return true;
  }

  @Test
  void rangesOfManyPagesAreWhole() {
    final OrderedIndex<Long, byte[]> large = client.ordered("large", Codec.int64(), Codec.bytes());
    final Map<Long, byte[]> entries = new LinkedHashMap<>();
    for (long i = 0; i < 3_000; i++) {
      entries.put(i, new byte[500]);
    }
    large.putAll(entries);
    final List<Long> all = LongStream.range(0, 3_000).boxed().toList();
    assertEquals(all, large.scan().stream().map(IndexEntry::key).toList());
    assertEquals(all, large.scan().snapshot().stream().map(IndexEntry::key).toList());
    assertEquals(all, large.keys(Range.all()).pageSize(17).toList());
    assertEquals(all, large.async().toList(large.keys(Range.all())).join());
    assertEquals(2_000, large.deleteRange(Range.atLeast(1_000L)));
    assertEquals(1_000, large.count());
  }

  @Test
  void anIndexHasOneKind() {
    fill(1);
    final HashIndex<Long, String> byKey = client.hash("numbers", Codec.int64(), Codec.string());
    byKey.put(5L, "five");
    assertEquals(Optional.of("five"), index.get(5L));
    assertEquals(Optional.of("five"), byKey.access(Access.DIRECT).get(5L));
    client.hash("hashed", Codec.int64(), Codec.string()).put(1L, "one");
    final OrderedIndex<Long, String> wrong =
        client.ordered("hashed", Codec.int64(), Codec.string());
    final IndexException write = assertThrows(IndexException.class, () -> wrong.put(1L, "x"));
    assertEquals(Status.Code.FAILED_PRECONDITION, write.code());
    assertTrue(write.getMessage().contains("the index is HASH, not ORDERED"), write.getMessage());
    assertFalse(write.isOutcomeUnknown());
    final IndexException scan = assertThrows(IndexException.class, () -> wrong.scan().toList());
    assertEquals(Status.Code.FAILED_PRECONDITION, scan.code());
  }
}
