package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The answers of the service to scans of hash indexes, over a channel. */
@Timeout(120)
final class HashScanTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 74);
  private static final ScanRequest ALL = ScanRequest.newBuilder().setUnordered(true).build();
  private static final int ENTRIES = 3_000;
  private static final ByteString VALUE = ByteString.copyFrom(new byte[200]);

  @TempDir private Path data;

  private LocalServer server;
  private IndexGrpc.IndexBlockingStub index;
  private IndexAdminGrpc.IndexAdminBlockingStub admin;

  @BeforeEach
  void start() throws IOException {
    server =
        LocalServer.start(
            IndexMemory.ofProcess(
                new IndexMemoryContext()
                    .budget(64L << 20)
                    .dataDirectory(data)
                    .durability(Durability.DISK))); // removals wait for it
    index = IndexGrpc.newBlockingStub(server.channel());
    admin = IndexAdminGrpc.newBlockingStub(server.channel());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static Set<ByteString> keys(int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(i -> ByteString.copyFromUtf8("key " + i))
        .collect(Collectors.toSet());
  }

  private void put(Set<ByteString> keys, ByteString value, long ttlMs) {
    final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder();
    keys.forEach(
        key -> batch.addEntries(PutEntry.newBuilder().setKey(key).setValue(value).setTtlMs(ttlMs)));
    assertEquals(keys.size(), index.batchPut(batch.build()).getOutcomesCount());
  }

  private List<Entry> scan(ScanRequest request) {
    final List<Entry> entries = new ArrayList<>();
    index.scan(request).forEachRemaining(page -> entries.addAll(page.getEntriesList()));
    return entries;
  }

  private static List<ByteString> keysOf(List<Entry> entries) {
    return entries.stream().map(Entry::getKey).toList();
  }

  @Test
  void aScanOfAQuietIndexHasEachEntryOnce() {
    final Set<ByteString> keys = keys(0, ENTRIES);
    put(keys, VALUE, 0);
    final List<Entry> entries = scan(ALL);
    assertEquals(ENTRIES, entries.size());
    assertEquals(keys, new HashSet<>(keysOf(entries)));
    for (final Entry entry : entries) {
      assertEquals(VALUE, entry.getValue());
      assertNotEquals(0, entry.getVersion());
    }
    final List<Entry> withoutValues = scan(ALL.toBuilder().setKeysOnly(true).build());
    assertEquals(keys, new HashSet<>(keysOf(withoutValues)));
    assertTrue(withoutValues.get(0).getValue().isEmpty());
    assertEquals(7, scan(ALL.toBuilder().setLimit(7).build()).size());
  }

  @Test
  void anEmptyIndexHasNone() {
    assertEquals(List.of(), scan(ALL));
    assertTrue(index.scanPage(ALL).getNextPageToken().isEmpty());
  }

  @Test
  void longEntriesEndAPage() {
    final Set<ByteString> keys = keys(0, 40);
    put(keys, ByteString.copyFrom(new byte[60_000]), 0);
    final Set<ByteString> seen = new HashSet<>();
    index
        .scan(ALL)
        .forEachRemaining(
            page -> {
              assertTrue(page.getEntriesCount() <= 6, "entries=" + page.getEntriesCount());
              seen.addAll(keysOf(page.getEntriesList()));
            });
    assertEquals(keys, seen);
  }

  /** The tables grow between the pages. */
  @Test
  void eachKeyThatIsThereThroughoutComesWhileTheIndexGrows() {
    final Set<ByteString> kept = keys(0, ENTRIES);
    put(kept, VALUE, 0);
    final Set<ByteString> seen = new HashSet<>();
    ScanRequest next = ALL.toBuilder().setPageSize(100).build();
    for (int i = 1; next != null; i++) {
      final ScanResponse page = index.scanPage(next);
      assertTrue(page.getEntriesCount() <= 100, "entries=" + page.getEntriesCount());
      seen.addAll(keysOf(page.getEntriesList()));
      put(keys(i * 1_000_000, i * 1_000_000 + 500), VALUE, 0);
      put(keys(i * 10, i * 10 + 10), ByteString.copyFromUtf8("changed"), 0);
      final ByteString token = page.getNextPageToken();
      next = token.isEmpty() ? null : next.toBuilder().setPageToken(token).build();
    }
    assertTrue(seen.size() > ENTRIES);
    seen.retainAll(kept);
    assertEquals(kept, seen);
  }

  @Test
  void pagesOfAQuietIndexHaveEachEntryOnce() {
    put(keys(0, ENTRIES), VALUE, 0);
    final List<ByteString> seen = new ArrayList<>();
    ScanRequest next = ALL.toBuilder().setPageSize(50).setKeysOnly(true).build();
    while (next != null) {
      final ScanResponse page = index.scanPage(next);
      seen.addAll(keysOf(page.getEntriesList()));
      final ByteString token = page.getNextPageToken();
      next = token.isEmpty() ? null : next.toBuilder().setPageToken(token).build();
    }
    assertEquals(ENTRIES, seen.size());
    assertEquals(keys(0, ENTRIES), new HashSet<>(seen));
  }

  /** The owner removes entries that have ended one after the other: the scan meets some of them. */
  @Test
  void anEntryThatHasEndedDoesNotCome() {
    put(keys(0, 10), VALUE, 0);
    for (int round = 1; round <= 5; round++) {
      ByteString last = null; // of one partition, as all have one tag
      for (int i = 0; i < 5; i++) {
        final Set<ByteString> ending = new LinkedHashSet<>();
        for (int j = 0; j < 2_000; j++) {
          last = ByteString.copyFromUtf8("{tag}" + round + "." + i + "." + j);
          ending.add(last);
        }
        put(ending, ByteString.EMPTY, 150);
      }
      final GetRequest request = GetRequest.newBuilder().setKey(last).build();
      while (index.get(request).hasEntry()) {
        // its deadline is the last one
      }
      assertEquals(keys(0, 10), new HashSet<>(keysOf(scan(ALL))));
    }
  }

  private ByteString token() {
    final ScanResponse page = index.scanPage(ALL.toBuilder().setPageSize(3).build());
    assertFalse(page.getNextPageToken().isEmpty());
    return page.getNextPageToken();
  }

  private void assertRefused(Status.Code code, ScanRequest request) {
    final StatusRuntimeException refused =
        assertThrows(StatusRuntimeException.class, () -> index.scanPage(request));
    assertEquals(code, refused.getStatus().getCode(), refused.toString());
  }

  @Test
  void aTokenOfAnotherIndexOrProcessIsRefused() throws IOException {
    put(keys(0, ENTRIES), VALUE, 0);
    final ByteString token = token();
    server.close();
    start();
    final ScanRequest next = ALL.toBuilder().setPageToken(token).build();
    assertRefused(Status.Code.ABORTED, next);
    final ScanRequest again = ALL.toBuilder().setPageToken(token()).build();
    admin.dropIndex(DropIndexRequest.getDefaultInstance());
    admin.createIndex(CreateIndexRequest.newBuilder().setKind(IndexKind.HASH).build());
    assertRefused(Status.Code.ABORTED, again);
  }

  @Test
  void aChangedTokenIsAPositionOrRefused() {
    put(keys(0, ENTRIES), VALUE, 0);
    final byte[] token = token().toByteArray();
    final Random random = new Random(SEED);
    int positions = 0;
    for (int i = 0; i < 500; i++) {
      final byte[] changed = token.clone();
      for (int j = random.nextInt(4); j >= 0; j--) {
        changed[17 + random.nextInt(changed.length - 17)] = (byte) random.nextInt(256);
      }
      try {
        index.scanPage(ALL.toBuilder().setPageToken(ByteString.copyFrom(changed)).build());
        positions++;
      } catch (StatusRuntimeException e) {
        assertEquals(
            Status.Code.INVALID_ARGUMENT, e.getStatus().getCode(), "seed=" + SEED + " " + e);
      }
    }
    assertTrue(positions > 0 && positions < 500, "positions=" + positions);
    assertRefused(
        Status.Code.INVALID_ARGUMENT,
        ALL.toBuilder().setPageToken(ByteString.copyFromUtf8("token")).build());
    assertEquals(ENTRIES, scan(ALL).size());
  }

  @Test
  void whatNeedsAnOrderIsRefused() {
    assertRefused(
        Status.Code.FAILED_PRECONDITION,
        ALL.toBuilder()
            .setRange(KeyRange.newBuilder().setPrefix(ByteString.copyFromUtf8("k")))
            .build());
    assertRefused(Status.Code.FAILED_PRECONDITION, ScanRequest.getDefaultInstance());
    assertRefused(Status.Code.FAILED_PRECONDITION, ALL.toBuilder().setReverse(true).build());
    assertRefused(Status.Code.FAILED_PRECONDITION, ALL.toBuilder().setSnapshot(true).build());
  }
}
