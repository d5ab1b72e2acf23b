package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.outcome.ClientRegistry;
import dev.ringfetch.index.partition.Transaction;
import dev.ringfetch.index.v1.Comparison;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.RequestNumber;
import dev.ringfetch.index.v1.SnapshotRequest;
import dev.ringfetch.index.v1.TransactOperation;
import dev.ringfetch.index.v1.TransactRequest;
import dev.ringfetch.index.v1.TransactResponse;
import dev.ringfetch.index.v1.UpdateRequest;
import dev.ringfetch.index.v1.UpdateResponse;
import dev.ringfetch.index.v1.WatchEvent;
import dev.ringfetch.index.v1.WatchRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Transactions over a server, and over the next ones on its directory. */
@Timeout(60)
class TransactTest {
  @TempDir Path data;

  private Indexes indexes;
  private LocalServer server;
  private IndexGrpc.IndexBlockingStub index;
  private IndexAdminGrpc.IndexAdminBlockingStub admin;
  private long client;
  private int partitions = 16;

  private void start(Durability durability) throws IOException {
    indexes =
        new Indexes(
            IndexMemory.ofProcess(
                new IndexMemoryContext()
                    .budget(32L << 20)
                    .partitions(partitions)
                    .dataDirectory(data)
                    .durability(durability)),
            () -> new ClientRegistry(Duration.ofMinutes(30), 100, () -> 0));
    server = LocalServer.start(indexes);
    index = IndexGrpc.newBlockingStub(server.channel());
    admin = IndexAdminGrpc.newBlockingStub(server.channel());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void restart(Durability durability) throws Exception {
    stop();
    start(durability);
  }

  private void create(String name, IndexKind kind) {
    admin.createIndex(CreateIndexRequest.newBuilder().setIndex(name).setKind(kind).build());
  }

  private void open(String name) {
    client = index.openClient(OpenClientRequest.newBuilder().setIndex(name).build()).getClient();
  }

  private RequestNumber number(long number) {
    return RequestNumber.newBuilder()
        .setClient(client)
        .setNumber(number)
        .setFirstIncomplete(1)
        .build();
  }

  private static ByteString bytes(String text) {
    return ByteString.copyFromUtf8(text);
  }

  private static TransactRequest.Builder transaction(String name) {
    return TransactRequest.newBuilder().setIndex(name);
  }

  private static Comparison absent(String key) {
    return Comparison.newBuilder().setKey(bytes(key)).setVersion(0).build();
  }

  private static TransactOperation put(String key, String value) {
    return put(key, value, 0);
  }

  private static TransactOperation put(String key, String value, long ttlMs) {
    final TransactOperation.Builder put = TransactOperation.newBuilder().setKey(bytes(key));
    put.getPutBuilder().setValue(bytes(value)).setTtlMs(ttlMs);
    return put.build();
  }

  private static TransactOperation increment(String key, long delta) {
    final TransactOperation.Builder increment = TransactOperation.newBuilder().setKey(bytes(key));
    increment.getIncrementBuilder().setDelta(delta);
    return increment.build();
  }

  private static TransactOperation delete(String key) {
    final TransactOperation.Builder delete = TransactOperation.newBuilder().setKey(bytes(key));
    delete.getDeleteBuilder();
    return delete.build();
  }

  private static TransactOperation get(String key) {
    final TransactOperation.Builder get = TransactOperation.newBuilder().setKey(bytes(key));
    get.getGetBuilder();
    return get.build();
  }

  private Entry entry(String name, String key) {
    return index.get(GetRequest.newBuilder().setIndex(name).setKey(bytes(key)).build()).getEntry();
  }

  private String value(String name, String key) {
    final Entry entry = entry(name, key);
    return entry.getVersion() == 0 ? null : entry.getValue().toStringUtf8();
  }

  private static Status refused(Runnable call) {
    return assertThrows(StatusRuntimeException.class, call::run).getStatus();
  }

  @ParameterizedTest
  @EnumSource(
      value = Durability.class,
      names = {"MEMORY", "INTERVAL", "DISK"})
  void eachIsCarriedOutOnceWithAllItsChangesAcrossStarts(Durability durability) throws Exception {
    start(durability);
    for (final IndexKind kind : new IndexKind[] {IndexKind.HASH, IndexKind.ORDERED}) {
      final String name = kind.name();
      create(name, kind);
      open(name);
      final TransactRequest first =
          transaction(name)
              .setNumber(number(1))
              .addComparisons(absent("{t}.a"))
              .addThen(put("{t}.a", "1"))
              .addThen(put("{t}.b", "2", 1_000_000))
              .addThen(increment("{t}.c", 7))
              .addThen(delete("{t}.d"))
              .addThen(get("{t}.b"))
              .addOtherwise(get("{t}.a"))
              .build();
      final TransactResponse done = index.transact(first);
      assertTrue(done.getSucceeded());
      final TransactRequest second = first.toBuilder().setNumber(number(2)).build();
      final TransactResponse lost = index.transact(second);
      assertFalse(lost.getSucceeded());
      assertEquals("1", lost.getAnswers(0).getEntry().getValue().toStringUtf8());
      final TransactRequest third =
          transaction(name)
              .setNumber(number(3))
              .addThen(get("{t}.a"))
              .addThen(delete("{t}.a"))
              .addThen(put("{t}.d", "4"))
              .build();
      final TransactResponse replaced = index.transact(third);
      final UpdateRequest.Builder fourth =
          UpdateRequest.newBuilder().setIndex(name).setKey(bytes("{t}.d")).setNumber(number(4));
      fourth.getGetAndSetBuilder().setValue(bytes("5"));
      final UpdateResponse set = index.update(fourth.build());
      assertEquals("4", set.getPrevious().getValue().toStringUtf8());
      for (int round = 0; round < 3; round++) {
        assertEquals(done, index.transact(first));
        assertEquals(lost, index.transact(second));
        assertEquals(replaced, index.transact(third));
        assertEquals(set, index.update(fourth.build()));
        assertEquals(null, value(name, "{t}.a"));
        final Entry limited = entry(name, "{t}.b");
        assertEquals(done.getVersion(), limited.getVersion());
        assertEquals(done.getAnswers(4).getEntry(), limited);
        assertTrue(limited.getDeadlineMs() > System.currentTimeMillis());
        assertEquals(CounterDescriptor.value(7), entry(name, "{t}.c").getValue());
        assertEquals("5", value(name, "{t}.d"));
        if (durability != Durability.MEMORY) {
          if (round == 1) {
            final var unused = admin.snapshot(SnapshotRequest.getDefaultInstance());
          }
          restart(durability);
        }
      }
    }
  }

  @Test
  void keysOfAHashIndexHaveOneTag() throws Exception {
    partitions = 1; // all keys are in it
    start(Durability.MEMORY);
    create("hash", IndexKind.HASH);
    create("tree", IndexKind.ORDERED);
    for (final String other : List.of("b", "{u}.a", "{}t}", "{t", "t}", "{T}.a")) {
      final TransactRequest.Builder request =
          transaction("hash")
              .addComparisons(absent("{t}.a"))
              .addThen(put("{t}.b", "1"))
              .addOtherwise(put(other, "1"));
      final Status status = refused(() -> index.transact(request.build()));
      assertEquals(Status.Code.FAILED_PRECONDITION, status.getCode());
      assertTrue(
          status.getDescription().contains("key={t}.a other=" + other + ";"), status::toString);
      assertTrue(index.transact(request.setIndex("tree").build()).getAnswersCount() > 0);
    }
    assertTrue(
        index
            .transact(
                transaction("hash")
                    .addComparisons(absent("t")) // its tag is all of it
                    .addThen(put("{t}.b", "1"))
                    .addThen(put("{t}", "1"))
                    .build())
            .getSucceeded());
    assertTrue(index.transact(transaction("hash").addThen(put("a", "1")).build()).getSucceeded());
  }

  @Test
  void limitsAreNamed() throws Exception {
    start(Durability.MEMORY);
    final TransactRequest.Builder many = transaction("a");
    final TransactRequest.Builder much = transaction("a");
    for (int i = 0; i < Transaction.MAX_OPERATIONS; i++) {
      many.addThen(put("k" + i, "1"));
      much.addThen(
          put("k" + i, "x".repeat(Transaction.MAX_BYTES / Transaction.MAX_OPERATIONS - 4)));
    }
    assertEquals(Transaction.MAX_OPERATIONS, index.transact(many.build()).getAnswersCount());
    assertEquals(Transaction.MAX_OPERATIONS, index.transact(much.build()).getAnswersCount());
    assertInvalid(many.addThen(get("k")), "then=129 limit=128");
    assertInvalid(
        transaction("a")
            .addThen(put("k", "x".repeat(Transaction.MAX_BYTES - 1)))
            .addOtherwise(get("k")),
        "size=983041 limit=983040");
    assertInvalid(transaction("a").addThen(put("k", "1")).addThen(delete("k")), "key=k");
    assertInvalid(transaction("a").addThen(put("", "1")), "key is empty");
    assertInvalid(transaction("a").addComparisons(absent("x".repeat(1025))), "size=1025");
    assertInvalid(transaction("a").addThen(put("k", "1", -1)), "ttl_ms=");
    assertInvalid(transaction("a"), "empty");
    assertEquals(
        Status.Code.UNIMPLEMENTED,
        refused(
                () ->
                    index.transact(
                        transaction("a")
                            .addThen(TransactOperation.newBuilder().setKey(bytes("k")))
                            .build()))
            .getCode());
    assertEquals(
        Status.Code.UNIMPLEMENTED,
        refused(
                () ->
                    index.transact(
                        transaction("a")
                            .addComparisons(absent("k").toBuilder().setRelationValue(9))
                            .build()))
            .getCode());
    // One key in both lists, and one that is read and changed, are no duplicates.
    assertTrue(
        index
            .transact(
                transaction("a")
                    .addThen(get("k"))
                    .addThen(put("k", "1"))
                    .addThen(get("k"))
                    .addOtherwise(delete("k"))
                    .build())
            .getSucceeded());
  }

  private void assertInvalid(TransactRequest.Builder request, String text) {
    final Status status = refused(() -> index.transact(request.build()));
    assertEquals(Status.Code.INVALID_ARGUMENT, status.getCode());
    assertTrue(status.getDescription().contains(text), status::toString);
  }

  @Test
  void aMissingIndexIsCreatedByTransactionsThatMayWrite() throws Exception {
    start(Durability.MEMORY);
    final TransactResponse nothing =
        index.transact(
            transaction("a")
                .addComparisons(absent("k"))
                .addThen(delete("k"))
                .addThen(get("k"))
                .build());
    assertTrue(nothing.getSucceeded());
    assertEquals(2, nothing.getAnswersCount());
    assertEquals(0, nothing.getIncarnation());
    assertFalse(index.describe(DescribeRequest.newBuilder().setIndex("a").build()).hasIndex());
    final TransactResponse written =
        index.transact(
            transaction("a")
                .addComparisons(absent("k").toBuilder().setVersion(1))
                .addThen(delete("k"))
                .addOtherwise(put("k", "1"))
                .build());
    assertFalse(written.getSucceeded());
    assertEquals("1", value("a", "k"));
  }

  @Test
  void anIncrementOfWhatIsNoCounterRefusesAll() throws Exception {
    start(Durability.MEMORY);
    index.transact(transaction("a").addThen(put("text", "abc")).build());
    open("a");
    final TransactRequest request =
        transaction("a")
            .addThen(put("k", "1"))
            .addThen(increment("text", 1))
            .setNumber(number(1))
            .build();
    for (int i = 0; i < 2; i++) {
      final Status status = refused(() -> index.transact(request));
      assertEquals(Status.Code.FAILED_PRECONDITION, status.getCode());
      assertTrue(status.getDescription().contains("length=3"), status::toString);
      index.put(
          PutRequest.newBuilder()
              .setIndex("a")
              .setKey(bytes("text"))
              .setValue(CounterDescriptor.value(1))
              .build());
    }
    assertEquals(null, value("a", "k"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWatchHasAllChangesOfATransactionInOneResponse(boolean fromJournal) throws Exception {
    start(Durability.DISK);
    create("a", IndexKind.ORDERED);
    WatchStream watch =
        new WatchStream(server.channel(), WatchRequest.newBuilder().setIndex("a").build());
    final ByteString token = watch.next().getToken();
    final TransactRequest.Builder request = transaction("a");
    for (int i = 0; i < 120; i++) { // more bytes than a response has otherwise
      request.addThen(put("k" + i, "x".repeat(7_000)));
    }
    final long version = index.transact(request.addThen(delete("none")).build()).getVersion();
    index.transact(transaction("a").addThen(delete("k0")).addThen(put("k1", "1")).build());
    if (fromJournal) {
      watch.cancel();
      restart(Durability.DISK);
      watch =
          new WatchStream(
              server.channel(), WatchRequest.newBuilder().setIndex("a").setToken(token).build());
    }
    List<WatchEvent> events = List.of();
    ByteString next = token;
    while (events.isEmpty()) {
      final var response = watch.next();
      events = response.getEventsList();
      next = response.getToken();
    }
    assertEquals(120, events.stream().filter(e -> e.getVersion() == version).count());
    watch.cancel();
    final int rest = 2 - (events.size() - 120);
    watch =
        new WatchStream(
            server.channel(), WatchRequest.newBuilder().setIndex("a").setToken(next).build());
    index.transact(transaction("a").addThen(put("last", "1")).build());
    assertEquals(rest + 1, watch.events(rest + 1).size());
    watch.cancel();
  }
}
