package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.host.ServerTime;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.index.v1.SnapshotRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Entries with deadlines by calls, over ends and starts of a server whose clock the test sets. */
@Timeout(60)
class ExpiringEntriesTest {
  private static final long NOW = 1_800_000_000_000L;
  private static final long HOUR = 3_600_000;

  @TempDir Path data;
  @TempDir Path salvaged;

  private final AtomicLong wallMs = new AtomicLong(NOW);
  private final AtomicLong runningMs = new AtomicLong(5);
  private boolean snapshots;
  private Indexes indexes;
  private LocalServer server;
  private IndexGrpc.IndexBlockingStub stub;

  @BeforeEach
  void start() throws IOException {
    indexes =
        new Indexes(
            IndexMemory.ofProcess(
                new IndexMemoryContext()
                    .budget(64L << 20)
                    .dataDirectory(data)
                    .durability(Durability.DISK)
                    .time(new ServerTime(wallMs::get, () -> runningMs.get() * 1_000_000))));
    server = LocalServer.start(indexes);
    stub = IndexGrpc.newBlockingStub(server.channel());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /** Ends, and starts again when the wall clock is so much further. */
  private void restart(long millis) throws Exception {
    if (snapshots) {
      final var unused =
          IndexAdminGrpc.newBlockingStub(server.channel())
              .snapshot(SnapshotRequest.getDefaultInstance());
    }
    stop();
    wallMs.addAndGet(millis);
    start();
  }

  private void pass(long millis) {
    wallMs.addAndGet(millis);
    runningMs.addAndGet(millis);
  }

  /** Makes all owners look at the time, as a wake-up does within a second. */
  private void look(String name) {
    final var open = new CountDownLatch(indexes.find(name).partitions());
    indexes.find(name).tick(outcome -> open.countDown());
    assertTrue(Uninterruptibles.awaitUninterruptibly(open, Duration.ofSeconds(30)));
  }

  private void create(String name, IndexKind kind) {
    assertTrue(
        IndexAdminGrpc.newBlockingStub(server.channel())
            .createIndex(
                CreateIndexRequest.newBuilder()
                    .setIndex(name)
                    .setKind(kind)
                    .setDurability(Durability.DISK)
                    .build())
            .getCreated());
  }

  private static ByteString bytes(String text) {
    return ByteString.copyFromUtf8(text);
  }

  private PutResponse put(String name, String key, long ttlMs) {
    return stub.put(
        PutRequest.newBuilder()
            .setIndex(name)
            .setKey(bytes(key))
            .setValue(bytes("value of " + key))
            .setTtlMs(ttlMs)
            .build());
  }

  private Entry get(String name, String key) {
    return stub.get(GetRequest.newBuilder().setIndex(name).setKey(bytes(key)).build()).getEntry();
  }

  private boolean isThere(String name, String key) {
    return stub.get(GetRequest.newBuilder().setIndex(name).setKey(bytes(key)).build()).hasEntry();
  }

  private long count(String name) {
    return stub.count(CountRequest.newBuilder().setIndex(name).build()).getEntries();
  }

  @Test
  void answersTellDeadlines() {
    create("o", IndexKind.ORDERED);
    put("o", "a", 10_000);
    put("o", "b", 0);
    assertEquals(NOW + 10_000, get("o", "a").getDeadlineMs());
    assertEquals(0, get("o", "b").getDeadlineMs());
    final ScanRequest scan = ScanRequest.newBuilder().setIndex("o").build();
    for (final ScanRequest request : List.of(scan, scan.toBuilder().setSnapshot(true).build())) {
      final List<Entry> entries = stub.scanPage(request).getEntriesList();
      assertEquals(2, entries.size());
      assertEquals(get("o", "a"), entries.get(0));
      assertEquals(get("o", "b"), entries.get(1));
    }
    final BatchGetRequest batch =
        BatchGetRequest.newBuilder().setIndex("o").addKeys(bytes("a")).build();
    assertEquals(get("o", "a"), stub.batchGet(batch).getAnswers(0).getEntry());
    final CompareAndSetRequest.Builder comparison =
        CompareAndSetRequest.newBuilder().setIndex("o").setKey(bytes("a"));
    final CompareAndSetResponse lost = stub.compareAndSet(comparison.build());
    assertFalse(lost.getApplied());
    assertEquals(get("o", "a"), lost.getEntry());
    pass(5_000);
    final CompareAndSetResponse won =
        stub.compareAndSet(
            comparison.setExpectedVersion(lost.getEntry().getVersion()).setTtlMs(20_000).build());
    assertTrue(won.getApplied());
    assertEquals(NOW + 25_000, won.getEntry().getDeadlineMs());
    assertEquals(get("o", "a"), won.getEntry());
  }

  @Test
  void timeHasALimit() {
    final long limit = 3650L * 24 * HOUR;
    put("o", "a", limit);
    assertEquals(NOW + limit, get("o", "a").getDeadlineMs());
    for (final long ttl : new long[] {limit + 1, -1}) {
      final StatusRuntimeException refused =
          assertThrows(StatusRuntimeException.class, () -> put("o", "a", ttl));
      assertEquals(Status.Code.INVALID_ARGUMENT, refused.getStatus().getCode());
      assertTrue(refused.getMessage().contains("limit=" + limit), refused.getMessage());
      final CompareAndSetRequest comparison =
          CompareAndSetRequest.newBuilder().setIndex("o").setKey(bytes("a")).setTtlMs(ttl).build();
      assertThrows(StatusRuntimeException.class, () -> stub.compareAndSet(comparison));
    }
    final PutEntry.Builder entry = PutEntry.newBuilder().setKey(bytes("b"));
    final BatchPutResponse batch =
        stub.batchPut(
            BatchPutRequest.newBuilder()
                .setIndex("o")
                .addEntries(entry.setTtlMs(limit + 1))
                .addEntries(entry.setTtlMs(7))
                .build());
    assertEquals(Status.Code.INVALID_ARGUMENT.value(), batch.getOutcomes(0).getCode());
    assertEquals(0, batch.getOutcomes(1).getCode());
    assertEquals(NOW + 7, get("o", "b").getDeadlineMs());
  }

  /** What has ended meanwhile is absent from the first read on. */
  @ParameterizedTest
  @CsvSource({"HASH,false", "ORDERED,false", "HASH,true", "ORDERED,true"})
  void deadlinesOutliveTheServer(IndexKind kind, boolean fromSnapshots) throws Exception {
    snapshots = fromSnapshots;
    create("i", kind);
    final long first = put("i", "short", 10_000).getVersion();
    put("i", "long", 100_000);
    put("i", "for ever", 10_000);
    put("i", "for ever", 0);
    restart(50_000);
    assertFalse(isThere("i", "short"));
    assertTrue(isThere("i", "for ever"));
    assertEquals(NOW + 100_000, get("i", "long").getDeadlineMs());
    final PutResponse again = put("i", "short", 0);
    assertTrue(again.getCreated());
    assertTrue(again.getVersion() > first);
    restart(0);
    assertTrue(isThere("i", "short"), "the removal came before");
    assertTrue(isThere("i", "long"));
    assertEquals(3, count("i"));
    pass(50_000);
    look("i");
    assertFalse(isThere("i", "long"));
    restart(-HOUR);
    assertFalse(isThere("i", "long"), "what is absent stays so, also by an earlier clock");
    assertTrue(isThere("i", "for ever"));
  }

  /**
   * Also after the wall clock was set back, entries are there for their time: where the snapshot
   * has the only tick, too.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void clockThatWasSetBack(boolean fromSnapshots) throws Exception {
    snapshots = fromSnapshots;
    create("i", IndexKind.ORDERED);
    put("i", "a", 10_000);
    restart(-HOUR);
    put("i", "b", 1_000);
    pass(900);
    look("i");
    assertTrue(isThere("i", "a"));
    assertTrue(isThere("i", "b"));
    pass(200);
    look("i");
    assertFalse(isThere("i", "b"));
    assertTrue(isThere("i", "a"));
    wallMs.addAndGet(-HOUR); // while the server runs
    runningMs.addAndGet(8_000);
    look("i");
    assertTrue(isThere("i", "a"));
    runningMs.addAndGet(1_000);
    look("i");
    assertFalse(isThere("i", "a"));
  }

  /**
   * A host whose clock is behind when the server starts, and is set right then: entries end at
   * their deadlines by the clock that is right, and so do those that are put from then on.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void clockThatIsBehindAtTheStart(boolean fromSnapshots) throws Exception {
    snapshots = fromSnapshots;
    create("i", IndexKind.ORDERED);
    put("i", "hour", HOUR);
    restart(-2 * HOUR);
    assertTrue(isThere("i", "hour"));
    wallMs.set(NOW + 60_000);
    runningMs.addAndGet(60_000);
    put("i", "minutes", 5 * 60_000);
    assertEquals(NOW + 6 * 60_000, get("i", "minutes").getDeadlineMs());
    pass(10_000);
    look("i");
    assertTrue(isThere("i", "hour"));
    pass(5 * 60_000 - 10_001);
    look("i");
    assertTrue(isThere("i", "minutes"));
    pass(1);
    look("i");
    assertFalse(isThere("i", "minutes"));
    pass(HOUR - 6 * 60_000 - 1);
    look("i");
    assertTrue(isThere("i", "hour"));
    pass(1);
    look("i");
    assertFalse(isThere("i", "hour"));
    assertEquals(NOW + HOUR, wallMs.get());
  }

  /** An entry that is put while the clock is behind that of the log has its whole time. */
  @Test
  void entryThatIsPutWhileTheClockIsBehind() throws Exception {
    create("i", IndexKind.ORDERED);
    put("i", "before", HOUR);
    restart(-60_000);
    put("i", "a", 90_000);
    pass(10_000);
    wallMs.addAndGet(60_000); // right again
    put("i", "b", 90_000);
    pass(79_999);
    look("i");
    assertTrue(isThere("i", "a"));
    pass(1);
    look("i");
    assertFalse(isThere("i", "a"));
    pass(9_999);
    look("i");
    assertTrue(isThere("i", "b"));
    pass(1);
    look("i");
    assertFalse(isThere("i", "b"));
  }

  /** A salvage keeps deadlines, also on a host whose clock is behind that of the log. */
  @Test
  void salvagedDeadlines() throws Exception {
    final long now = System.currentTimeMillis() + 10 * HOUR; // which a salvage does not know
    restart(now - NOW);
    create("i", IndexKind.ORDERED);
    put("i", "hour", HOUR);
    put("i", "over", 10_000);
    pass(10_000);
    look("i");
    stop();
    final Path damaged = data;
    data = salvaged;
    final var unused = Salvage.run(damaged, data, 64L << 20);
    wallMs.set(now - 2 * HOUR);
    start();
    assertFalse(isThere("i", "over"));
    assertEquals(now + HOUR, get("i", "hour").getDeadlineMs());
  }

  @FunctionalInterface
  private interface Condition {
    boolean holds() throws Exception;
  }

  private static void await(Condition condition) throws Exception {
    while (!condition.holds()) { // the test's timeout ends it
      Thread.sleep(1);
    }
  }

  /** Puts entries into an ordered index, more than buffers have, by turns with two times. */
  private void fill(int entries, long firstTtlMs, long secondTtlMs) {
    final ByteString value = ByteString.copyFrom(new byte[20 << 10]);
    create("o", IndexKind.ORDERED);
    for (int i = 0; i < entries; i += 100) {
      final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex("o");
      for (int j = i; j < i + 100; j++) {
        batch.addEntries(
            PutEntry.newBuilder()
                .setKey(bytes(String.format("key %03d", j)))
                .setValue(value)
                .setTtlMs(j % 2 == 0 ? firstTtlMs : secondTtlMs));
      }
      assertTrue(
          stub.batchPut(batch.build()).getOutcomesList().stream().allMatch(o -> o.getCode() == 0));
    }
  }

  /** What has ended is still in the store for a while: nothing has kept it for the snapshot yet. */
  @Test
  void snapshotHasWhatHasEndedAndIsNotRemoved() {
    final int entries = 300;
    fill(entries, HOUR, HOUR);
    final Iterator<ScanResponse> pages =
        stub.scan(ScanRequest.newBuilder().setIndex("o").setSnapshot(true).build());
    int found = pages.next().getEntriesCount();
    indexes.find("o").ordered().partition(0).expiry().advance(NOW + 2 * HOUR); // as a tick does
    assertFalse(isThere("o", "key 299"));
    while (pages.hasNext()) {
      found += pages.next().getEntriesCount();
    }
    assertEquals(entries, found);
  }

  /** A snapshot has what had not ended at its begin, however long it takes. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void snapshotIsOfItsBegin(boolean reverse) throws Exception {
    final int entries = 300;
    fill(entries, 10_000, 20_000);
    pass(10_000);
    look("o");
    await(() -> !isThere("o", "key 298"));
    final Iterator<ScanResponse> pages =
        stub.scan(
            ScanRequest.newBuilder().setIndex("o").setSnapshot(true).setReverse(reverse).build());
    final List<String> keys = new ArrayList<>();
    pages.next().getEntriesList().forEach(entry -> keys.add(entry.getKey().toStringUtf8()));
    pass(10_000);
    put("o", "another", 0);
    await(() -> !isThere("o", "key 299"));
    await(() -> count("o") == 1);
    pages.forEachRemaining(
        page -> page.getEntriesList().forEach(entry -> keys.add(entry.getKey().toStringUtf8())));
    assertEquals(entries / 2, keys.size());
    assertTrue(keys.stream().allMatch(key -> (key.charAt(key.length() - 1) & 1) == 1));
  }
}
