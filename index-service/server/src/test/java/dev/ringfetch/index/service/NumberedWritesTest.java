package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.outcome.ClientRegistry;
import dev.ringfetch.index.outcome.OutcomeTable;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CloseClientRequest;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.DeleteRangeResponse;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.OpenClientResponse;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.RequestNumber;
import dev.ringfetch.index.v1.SnapshotRequest;
import dev.ringfetch.index.v1.UpdateRequest;
import dev.ringfetch.index.v1.UpdateResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Writes with numbers that come again, to the same server and to the next one, which reads all of
 * the journal, or a snapshot that was taken at the end.
 */
@Timeout(60)
@ParameterizedClass
@ValueSource(booleans = {false, true})
class NumberedWritesTest {
  private static final Duration TERM = Duration.ofMinutes(30);

  @TempDir Path data;

  @Parameter boolean fromSnapshots;

  private long nowNs;
  private int clientLimit = 100;
  private Indexes indexes;
  private LocalServer server;
  private IndexGrpc.IndexBlockingStub index;
  private IndexAdminGrpc.IndexAdminBlockingStub admin;
  private long client;
  private long first = 1;

  private void start(Durability durability) throws IOException {
    indexes =
        new Indexes(
            IndexMemory.ofProcess(
                new IndexMemoryContext()
                    .budget(16L << 20)
                    .dataDirectory(data)
                    .durability(durability)),
            () -> new ClientRegistry(TERM, clientLimit, () -> nowNs));
    serve();
  }

  private void serve() throws IOException {
    server = LocalServer.start(indexes);
    index = IndexGrpc.newBlockingStub(server.channel());
    admin = IndexAdminGrpc.newBlockingStub(server.channel());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void restart(Durability durability) throws Exception {
    if (fromSnapshots && indexes.memory().journal() != null) {
      final var unused = admin.snapshot(SnapshotRequest.getDefaultInstance());
    }
    stop();
    start(durability);
  }

  private void open() {
    open("a");
  }

  private void open(String name) {
    final OpenClientResponse opened = index.openClient(client(name, 0));
    assertEquals(TERM.toMillis(), opened.getLeaseMs());
    client = opened.getClient();
    assertNotEquals(0, client);
  }

  private static OpenClientRequest client(String name, long client) {
    return OpenClientRequest.newBuilder().setIndex(name).setClient(client).build();
  }

  private CloseClientRequest close() {
    return CloseClientRequest.newBuilder().setIndex("a").setClient(client).build();
  }

  private static ByteString bytes(String text) {
    return ByteString.copyFromUtf8(text);
  }

  private RequestNumber number(long number) {
    return RequestNumber.newBuilder()
        .setClient(client)
        .setNumber(number)
        .setFirstIncomplete(first)
        .build();
  }

  private void create(String name, IndexKind kind) {
    admin.createIndex(CreateIndexRequest.newBuilder().setIndex(name).setKind(kind).build());
  }

  private PutRequest put(String name, String key, String value, long number) {
    return PutRequest.newBuilder()
        .setIndex(name)
        .setKey(bytes(key))
        .setValue(bytes(value))
        .setNumber(number(number))
        .build();
  }

  private DeleteRequest delete(String name, String key, long number) {
    return DeleteRequest.newBuilder()
        .setIndex(name)
        .setKey(bytes(key))
        .setNumber(number(number))
        .build();
  }

  private CompareAndSetRequest compareAndSet(
      String name, String key, long expected, String value, long number) {
    return CompareAndSetRequest.newBuilder()
        .setIndex(name)
        .setKey(bytes(key))
        .setExpectedVersion(expected)
        .setValue(bytes(value))
        .setNumber(number(number))
        .build();
  }

  private long plainPut(String name, String key, String value) {
    return index
        .put(
            PutRequest.newBuilder()
                .setIndex(name)
                .setKey(bytes(key))
                .setValue(bytes(value))
                .build())
        .getVersion();
  }

  private String get(String name, String key) {
    final Entry entry =
        index.get(GetRequest.newBuilder().setIndex(name).setKey(bytes(key)).build()).getEntry();
    return entry.getVersion() == 0 ? null : entry.getValue().toStringUtf8();
  }

  private static Status status(Executable call) {
    return org.junit.jupiter.api.Assertions.assertThrows(StatusRuntimeException.class, call)
        .getStatus();
  }

  private static void assertGone(Executable call) {
    final Status status = status(call);
    assertEquals(Status.Code.FAILED_PRECONDITION, status.getCode());
    assertTrue(status.getDescription().startsWith("outcome is gone"), status::toString);
  }

  private static void assertInvalid(Executable call) {
    assertEquals(Status.Code.INVALID_ARGUMENT, status(call).getCode());
  }

  @ParameterizedTest
  @EnumSource(
      value = Durability.class,
      names = {"MEMORY", "INTERVAL", "DISK"})
  void eachWriteIsCarriedOutOnceAndAnsweredAlike(Durability durability) throws Exception {
    start(durability);
    for (final IndexKind kind : new IndexKind[] {IndexKind.HASH, IndexKind.ORDERED}) {
      final String name = kind.name();
      create(name, kind);
      open(name);
      final long begin = kind == IndexKind.HASH ? 1 : 1_001;
      final PutRequest put = put(name, "a", "1", begin);
      final PutResponse created = index.put(put);
      assertTrue(created.getCreated());
      final CompareAndSetRequest applied =
          compareAndSet(name, "a", created.getVersion(), "2", begin + 1);
      final CompareAndSetResponse written = index.compareAndSet(applied);
      assertTrue(written.getApplied());
      final CompareAndSetRequest lost = compareAndSet(name, "a", 0, "3", begin + 2);
      final CompareAndSetResponse inTheWay = index.compareAndSet(lost);
      assertFalse(inTheWay.getApplied());
      assertEquals("2", inTheWay.getEntry().getValue().toStringUtf8());
      final DeleteRequest nothing = delete(name, "b", begin + 3);
      assertFalse(index.delete(nothing).getExisted());
      plainPut(name, "b", "4");
      final BatchPutRequest.Builder batch =
          BatchPutRequest.newBuilder().setIndex(name).setNumber(number(begin + 4));
      for (int i = 0; i < 20; i++) {
        batch.addEntriesBuilder().setKey(bytes("key" + i)).setValue(bytes("" + i));
      }
      final BatchPutResponse batched = index.batchPut(batch.build());
      for (int i = 0; i < 20; i += 2) {
        plainPut(name, "key" + i, "other");
      }
      final DeleteRequest one = delete(name, "key1", begin + 24);
      assertTrue(index.delete(one).getExisted());
      plainPut(name, "key1", "again");
      for (int round = 0; round < 2; round++) {
        assertEquals(created, index.put(put));
        assertEquals(written, index.compareAndSet(applied));
        assertEquals(inTheWay, index.compareAndSet(lost));
        assertFalse(index.delete(nothing).getExisted());
        assertEquals("4", get(name, "b"));
        assertEquals(batched, index.batchPut(batch.build()));
        assertTrue(index.delete(one).getExisted());
        assertEquals("other", get(name, "key0"));
        assertEquals("again", get(name, "key1"));
        assertEquals("2", get(name, "a"));
        if (durability != Durability.MEMORY && round == 0) {
          restart(durability);
        }
      }
      index.delete(DeleteRequest.newBuilder().setIndex(name).setKey(bytes("a")).build());
      final CompareAndSetResponse gone = index.compareAndSet(lost);
      assertFalse(gone.getApplied(), "it was lost, although it would hold now");
      assertTrue(gone.getValueGone());
      assertFalse(gone.hasEntry());
      assertEquals(null, get(name, "a"));
    }
  }

  private UpdateRequest.Builder update(String key, long number) {
    return UpdateRequest.newBuilder().setKey(bytes(key)).setNumber(number(number));
  }

  private UpdateRequest increment(String key, long delta, long number) {
    final UpdateRequest.Builder request = update(key, number);
    request.getIncrementBuilder().setDelta(delta);
    return request.build();
  }

  @ParameterizedTest
  @EnumSource(
      value = Durability.class,
      names = {"MEMORY", "INTERVAL", "DISK"})
  void eachUpdateIsCarriedOutOnceAndAnsweredAlike(Durability durability) throws Exception {
    start(durability);
    open("");
    final UpdateRequest first = increment("counter", -5, 1);
    final UpdateRequest second = increment("counter", 3, 2);
    final UpdateResponse counted = index.update(first);
    final UpdateResponse countedOn = index.update(second);
    assertEquals(-5, counted.getCounter());
    assertEquals(-2, countedOn.getCounter());
    plainPut("", "text", "no counter");
    final UpdateRequest uncounted = increment("text", 1, 3);
    final String refusal = status(() -> index.update(uncounted)).getDescription();
    assertTrue(refusal.contains("length=10"), refusal);
    final UpdateRequest.Builder full = update("full", 4);
    full.getGetAndSetBuilder().setValue(CounterDescriptor.value(Long.MAX_VALUE));
    final UpdateResponse set = index.update(full.build());
    assertFalse(set.hasPrevious() || set.getPreviousGone());
    final UpdateRequest overflowing = increment("full", 1, 5);
    assertEquals(Status.Code.OUT_OF_RANGE, status(() -> index.update(overflowing)).getCode());
    final UpdateRequest.Builder again = update("text", 6);
    again.getGetAndSetBuilder().setValue(bytes("other"));
    final UpdateResponse reset = index.update(again.build());
    assertEquals("no counter", reset.getPrevious().getValue().toStringUtf8());
    final UpdateRequest.Builder touching = update("text", 7);
    touching.getTouchBuilder().setExpectedVersion(reset.getVersion()).setTtlMs(1_000_000);
    final UpdateResponse touched = index.update(touching.build());
    assertTrue(touched.getApplied());
    final UpdateRequest.Builder deleting = update("text", 8);
    deleting.getDeleteIfBuilder().setExpectedVersion(reset.getVersion());
    final UpdateResponse untouched = index.update(deleting.build());
    assertFalse(untouched.getApplied());
    assertEquals(touched.getVersion(), untouched.getVersion());
    final UpdateRequest.Builder deletingIt = update("full", 9);
    deletingIt.getDeleteIfBuilder().setExpectedVersion(set.getVersion());
    assertTrue(index.update(deletingIt.build()).getApplied());
    plainPut("", "full", "refilled");
    plainPut("", "long", "x".repeat(OutcomeTable.ANSWER_LIMIT));
    final UpdateRequest.Builder replacing = update("long", 11);
    replacing.getGetAndSetBuilder().setValue(bytes("short"));
    final UpdateResponse replaced = index.update(replacing.build());
    assertEquals(OutcomeTable.ANSWER_LIMIT, replaced.getPrevious().getValue().size());
    for (int round = 0; round < 2; round++) {
      assertEquals(counted, index.update(first));
      assertEquals(countedOn, index.update(second));
      assertEquals(refusal, status(() -> index.update(uncounted)).getDescription());
      assertEquals(set, index.update(full.build()));
      assertEquals(Status.Code.OUT_OF_RANGE, status(() -> index.update(overflowing)).getCode());
      assertEquals(reset, index.update(again.build()));
      final UpdateResponse gone = index.update(replacing.build());
      assertEquals(replaced.getVersion(), gone.getVersion());
      assertTrue(gone.getApplied() && gone.getPreviousGone() && !gone.hasPrevious());
      assertEquals(touched, index.update(touching.build()));
      assertEquals(untouched, index.update(deleting.build()));
      assertTrue(index.update(deletingIt.build()).getApplied());
      assertEquals("refilled", get("", "full"));
      assertEquals("other", get("", "text"));
      if (durability != Durability.MEMORY && round == 0) {
        restart(durability);
      }
    }
    assertEquals(-1, index.update(increment("counter", 1, 10)).getCounter());
  }

  @Test
  void theRemovalOfARangeGoesOnUnderItsNumber() throws Exception {
    start(Durability.DISK);
    create("a", IndexKind.ORDERED);
    open();
    for (int i = 0; i < 900; i++) {
      plainPut("a", String.format("key%03d", i), "1");
    }
    final DeleteRangeRequest all =
        DeleteRangeRequest.newBuilder().setIndex("a").setNumber(number(1)).build();
    final DeleteRangeRequest some =
        DeleteRangeRequest.newBuilder()
            .setIndex("a")
            .setRange(KeyRange.newBuilder().setPrefix(bytes("key0")))
            .setLimit(70)
            .setNumber(number(2))
            .build();
    final DeleteRangeResponse limited = index.deleteRange(some);
    assertEquals(70, limited.getRemoved());
    assertTrue(limited.getMore());
    final DeleteRangeResponse removed = index.deleteRange(all);
    assertEquals(830, removed.getRemoved());
    assertFalse(removed.getMore());
    plainPut("a", "key000", "2");
    assertEquals(removed, index.deleteRange(all));
    restart(Durability.DISK);
    assertEquals(removed, index.deleteRange(all));
    assertEquals(limited, index.deleteRange(some));
    assertEquals("2", get("a", "key000"));
    assertEquals(
        1,
        index
            .deleteRange(DeleteRangeRequest.newBuilder().setIndex("a").setNumber(number(3)).build())
            .getRemoved());
  }

  @Test
  void whatIsCompleteOrOfNoClientIsNotCarriedOut() throws Exception {
    start(Durability.DISK);
    client = 12345;
    assertGone(() -> index.put(put("a", "a", "1", 1)));
    assertFalse(indexes.all().stream().anyMatch(found -> found.name().equals("a")), "created");
    open();
    index.put(put("a", "a", "1", 3));
    first = 3;
    index.put(put("a", "a", "2", 4));
    first = 1;
    assertGone(() -> index.put(put("a", "a", "3", 2)));
    assertGone(() -> index.delete(delete("a", "a", 1)));
    assertEquals("2", get("a", "a"));
    assertInvalid(() -> index.put(put("a", "a", "3", 0)));
    assertInvalid(() -> index.put(put("a", "a", "3", 1 << 16 | 1)));
    assertInvalid(() -> index.put(put("a", "a", "3", 1L << 48)));
    assertInvalid(() -> index.delete(delete("a", "a", 4)));
    final long records = indexes.memory().journal().describe().getRecords();
    assertTrue(index.closeClient(close()).getExisted());
    assertGone(() -> index.put(put("a", "a", "3", 5)));
    while (indexes.memory().journal().describe().getRecords() == records) {
      Thread.sleep(1); // its end is recorded behind the answer
    }
    restart(Durability.DISK);
    assertGone(() -> index.put(put("a", "a", "3", 5)));
    assertEquals("2", get("a", "a"));
  }

  @Test
  void aClientThatDoesNothingLosesItsNumber() throws Exception {
    clientLimit = 2;
    start(Durability.DISK);
    open();
    final long idle = client;
    open();
    final Status full = status(() -> index.openClient(client("a", 0)));
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, full.getCode());
    assertTrue(full.getDescription().contains("limit=2"), full::toString);
    for (int i = 1; i <= 4; i++) {
      nowNs += TERM.toNanos() * 2 / 5;
      index.put(put("a", "a", "" + i, i)); // renews
    }
    final long active = client;
    client = idle;
    assertGone(() -> index.put(put("a", "a", "5", 1)));
    client = active;
    index.put(put("a", "a", "5", 5));
    assertEquals(active, index.openClient(client("a", active)).getClient());
    assertNotEquals(idle, index.openClient(client("a", idle)).getClient());
    restart(Durability.DISK);
    nowNs += TERM.toNanos() - 1; // a full term since the start
    assertEquals("5", get("a", "a"));
    final long version = index.put(put("a", "a", "5", 5)).getVersion();
    assertEquals(version, index.put(put("a", "a", "5", 5)).getVersion());
    nowNs += TERM.toNanos() + TERM.toNanos() / 32;
    assertGone(() -> index.put(put("a", "a", "6", 6)));
  }

  @Test
  void anotherIncarnationIsAnotherIndex() throws Exception {
    start(Durability.MEMORY);
    open();
    final PutRequest put = put("a", "a", "1", 1);
    final long incarnation = index.put(put).getIncarnation();
    final PutRequest again =
        put.toBuilder().setNumber(number(1).toBuilder().setIncarnation(incarnation)).build();
    assertEquals(incarnation, index.put(again).getIncarnation());
    admin.dropIndex(DropIndexRequest.newBuilder().setIndex("a").build());
    assertGone(() -> index.put(again));
    assertFalse(indexes.all().stream().anyMatch(found -> found.name().equals("a")), "created");
    plainPut("a", "a", "2");
    assertGone(() -> index.put(again));
    assertEquals("2", get("a", "a"));
  }

  @Test
  void aClientWithoutOutcomesOutlivesItsServer() throws Exception {
    start(Durability.DISK);
    create("a", IndexKind.HASH);
    open();
    restart(Durability.DISK);
    assertEquals(client, index.openClient(client("a", client)).getClient());
    assertTrue(index.put(put("a", "a", "1", 1)).getCreated());
  }

  /** Else a client that repeats its write at a server that starts takes the outcome for gone. */
  @Test
  void aServerThatReadsItsJournalSaysNothingOfOutcomes() throws Exception {
    start(Durability.DISK);
    create("a", IndexKind.HASH);
    open();
    final PutResponse written = index.put(put("a", "a", "1", 1));
    stop();
    indexes =
        Indexes.unrecovered(
            IndexMemory.shared(
                new IndexMemoryContext()
                    .budget(16L << 20)
                    .dataDirectory(data)
                    .durability(Durability.DISK)
                    .fallback(true)));
    ClusterNode.alone(indexes);
    serve();
    assertRecovering(() -> index.put(put("a", "a", "1", 1)));
    assertRecovering(() -> index.delete(delete("a", "a", 2)));
    assertRecovering(() -> index.compareAndSet(compareAndSet("a", "a", 1, "1", 3)));
    assertRecovering(() -> index.openClient(client("a", 0)));
    assertRecovering(() -> index.openClient(client("a", client)));
    assertRecovering(() -> index.closeClient(close()));
    indexes.recoverAndServe();
    assertEquals(written, index.put(put("a", "a", "1", 1)));
    assertEquals(client, index.openClient(client("a", client)).getClient());
  }

  private static void assertRecovering(Executable call) {
    final Status status = status(call);
    assertEquals(Status.Code.UNAVAILABLE, status.getCode(), status::toString);
  }

  @Test
  void aNumberIsOfOneWrite() throws Exception {
    start(Durability.MEMORY);
    open();
    index.put(put("a", "a", "1", 1));
    assertInvalid(() -> index.delete(delete("a", "a", 1)));
    assertTrue(index.delete(delete("a", "a", 2)).getExisted());
    assertInvalid(() -> index.put(put("a", "a", "1", 2)));
    assertEquals(null, get("a", "a"));
  }

  @Test
  void aWriteThatWasRefusedMayBeCarriedOutLater() throws Exception {
    start(Durability.MEMORY);
    create("a", IndexKind.HASH);
    open();
    final String large = "x".repeat(900_000);
    int fitting = 0;
    Status full = null;
    while (full == null) {
      try {
        plainPut("a", "key" + fitting, large);
        fitting++;
      } catch (StatusRuntimeException e) {
        full = e.getStatus();
      }
    }
    final PutRequest put = put("a", "other", large, 1);
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, status(() -> index.put(put)).getCode());
    for (int i = 0; i < fitting; i++) {
      index.delete(delete("a", "key" + i, 2 + i));
    }
    final PutResponse written = index.put(put);
    assertTrue(written.getCreated());
    assertEquals(written, index.put(put));
  }
}
