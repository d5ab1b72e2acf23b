package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.Timestamp;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hash views of an index server, blocking, asynchronous and direct. */
final class HashIndexTest {
  @TempDir static Path directory;
  private static TestServer server;
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final Map<Access, Integer> routes =
      Collections.synchronizedMap(new EnumMap<>(Access.class));
  private final List<Operation> operations = Collections.synchronizedList(new ArrayList<>());
  private IndexClient client;
  private HashIndex<String, Long> index;

  @BeforeAll
  static void start() throws IOException {
    server = TestServer.start(directory);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void connect() {
    client =
        server
            .builder()
            .metrics(
                (operation, name, route, code, durationNs) -> {
                  routes.merge(route, 1, Integer::sum);
                  operations.add(operation);
                  assertTrue(durationNs >= 0);
                })
            .build();
    index = client.hash("index" + NUMBER.incrementAndGet(), Codec.string(), Codec.int64());
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void aScanOfAHashIndexHasAllEntries() {
    final String name = "scanned" + NUMBER.incrementAndGet();
    client.create(name, IndexKind.HASH, Durability.MEMORY);
    final HashIndex<String, Long> hash = client.hash(name, Codec.string(), Codec.int64());
    final Map<String, Long> entries = new LinkedHashMap<>();
    for (long i = 0; i < 2_500; i++) {
      entries.put("key " + i, i);
    }
    hash.putAll(entries);
    final Map<String, Long> seen = new LinkedHashMap<>();
    for (final IndexEntry<String, Long> entry : hash.access(Access.DIRECT).scan()) {
      assertEquals(null, seen.put(entry.key(), entry.value()));
    }
    assertEquals(entries, seen);
    assertEquals(entries.keySet(), Set.copyOf(hash.keys().pageSize(100).toList()));
    assertEquals(3, hash.scan().limit(3).toList().size());
    final Scan<String> reversed = hash.keys().reverse();
    final IndexException refused = assertThrows(IndexException.class, reversed::toList);
    assertEquals(Status.Code.FAILED_PRECONDITION, refused.code());
  }

  @Test
  void whatIsPutIsThere() {
    assertEquals(Optional.empty(), index.get("a"));
    final long version = index.put("a", 1L);
    assertEquals(Optional.of(1L), index.get("a"));
    assertEquals(Optional.of(new IndexEntry<>("a", 1L, version)), index.getEntry("a"));
    assertTrue(index.put("a", 2L) > version);
    assertEquals(1, index.count());
    assertTrue(index.remove("a"));
    assertFalse(index.remove("a"));
    assertEquals(Optional.empty(), index.get("a"));
    assertEquals(0, index.count());
  }

  @Test
  void conditionsHoldOrAreAnswered() {
    assertTrue(index.putIfAbsent("a", 1L));
    assertFalse(index.putIfAbsent("a", 2L));
    final long version = index.getEntry("a").orElseThrow().version();
    final CompareAndSetResult<String, Long> lost = index.compareAndSet("a", version + 1, 3L);
    assertFalse(lost.applied());
    assertEquals(Optional.of(new IndexEntry<>("a", 1L, version)), lost.entry());
    final CompareAndSetResult<String, Long> won = index.compareAndSet("a", version, 3L);
    assertTrue(won.applied());
    assertEquals(3L, won.entry().orElseThrow().value());
    assertEquals(Optional.of(3L), index.get("a"));
    final CompareAndSetResult<String, Long> none = index.compareAndSet("b", version, 3L);
    assertFalse(none.applied());
    assertEquals(Optional.empty(), none.entry());
  }

  @Test
  void indexesAreCreatedAndDescribed() {
    assertEquals(Optional.empty(), client.describe("created"));
    assertTrue(client.create("created", IndexKind.ORDERED, Durability.MEMORY));
    assertFalse(client.create("created", IndexKind.ORDERED, Durability.DURABILITY_UNSPECIFIED));
    client.ordered("created", Codec.string(), Codec.int64()).put("a", 1L);
    final IndexDescription created = client.describe("created").orElseThrow();
    assertEquals(IndexKind.ORDERED, created.getKind());
    assertEquals(Durability.MEMORY, created.getDurability());
    assertEquals(1, created.getEntries());
    final IndexException other =
        assertThrows(
            IndexException.class,
            () -> client.create("created", IndexKind.HASH, Durability.MEMORY));
    assertEquals(Status.Code.ALREADY_EXISTS, other.code());
    assertEquals(Operation.CREATE, other.operation());
    final IndexException durable =
        assertThrows(
            IndexException.class, () -> client.create("durable", IndexKind.HASH, Durability.DISK));
    assertEquals(Status.Code.FAILED_PRECONDITION, durable.code());
    assertTrue(client.describeServer().getIncarnation() != 0);
  }

  @Test
  void theServerChangesEntriesInOneStep() throws Exception {
    final AsyncIndex<String, Long> async = index.async();
    assertEquals(5, index.increment("n", 5));
    assertEquals(2, async.increment("n", -3).get());
    assertEquals(Optional.of(2L), index.get("n"), "a counter is an int64");
    assertEquals(Optional.of(2L), index.access(Access.DIRECT).get("n"));
    index.update("n", value -> value.orElseThrow() * 10);
    assertEquals(21, index.increment("n", 1), "an int64 is a counter");
    assertEquals(Optional.of(21L), index.getAndSet("n", 7L));
    assertEquals(Optional.of(7L), async.getAndSet("n", 8L).get());
    assertEquals(Optional.empty(), index.getAndSet("new", 1L));
    final long version = index.getEntry("n").orElseThrow().version();
    assertFalse(index.removeIf("n", version - 1));
    assertFalse(async.removeIf("n", version - 1).get());
    assertTrue(index.removeIf("n", version));
    assertFalse(index.removeIf("n", version));
    assertEquals(Optional.empty(), index.get("n"));

    final HashIndex<String, String> texts =
        client.hash(index.name(), Codec.string(), Codec.string());
    texts.put("text", "12");
    final IndexException refused =
        assertThrows(IndexException.class, () -> index.increment("text", 1));
    assertEquals(Status.Code.FAILED_PRECONDITION, refused.code());
    assertFalse(refused.isOutcomeUnknown());
    assertEquals(Long.MAX_VALUE, index.increment("max", Long.MAX_VALUE));
    final IndexException full = assertThrows(IndexException.class, () -> index.increment("max", 1));
    assertEquals(Status.Code.OUT_OF_RANGE, full.code());
    assertEquals(Operation.INCREMENT, full.operation());
  }

  @Test
  void touchesChangeDeadlinesAndVersions() throws Exception {
    final Duration day = Duration.ofDays(1);
    assertEquals(OptionalLong.empty(), index.touch("a", day));
    final long version = index.put("a", 1L);
    final long touched = index.touch("a", day).orElseThrow();
    assertTrue(touched > version);
    final IndexEntry<String, Long> entry = index.getEntry("a").orElseThrow();
    assertEquals(touched, entry.version());
    assertEquals(1L, entry.value());
    assertTrue(entry.deadline().orElseThrow().isAfter(Instant.now().plus(day).minusSeconds(60)));
    assertEquals(OptionalLong.empty(), index.touch("a", version, day));
    final long again = index.async().touch("a", touched, day).get().orElseThrow();
    final Instant noon = Instant.now().plus(day).truncatedTo(ChronoUnit.SECONDS).plusNanos(1);
    assertTrue(index.expireAt("a", noon).orElseThrow() > again);
    assertEquals(
        Optional.of(noon.truncatedTo(ChronoUnit.SECONDS).plusMillis(1)),
        index.getEntry("a").orElseThrow().deadline());
    assertTrue(index.async().expireAt("a", noon).get().isPresent());
    assertTrue(index.persist("a").isPresent());
    assertEquals(Optional.empty(), index.getEntry("a").orElseThrow().deadline());
    assertTrue(index.async().persist("a").get().isPresent());
    assertEquals(1, index.increment("new", 1, day));
    assertTrue(index.getEntry("new").orElseThrow().deadline().isPresent());
    assertEquals(2, index.async().increment("new", 1, day).get());
    for (final Instant passed : List.of(Instant.EPOCH, Instant.MIN, Instant.now())) {
      index.put("a", 1L);
      assertTrue(index.expireAt("a", passed).isPresent());
      while (index.get("a").isPresent()) {
        Thread.sleep(1); // the test's timeout ends it
      }
    }
    index.put("a", 1L);
    for (final Instant far : List.of(Instant.MAX, Instant.now().plus(Duration.ofDays(3651)))) {
      final IndexException e = assertThrows(IndexException.class, () -> index.expireAt("a", far));
      assertEquals(Status.Code.INVALID_ARGUMENT, e.code());
    }
  }

  @Test
  void entriesAreThereForATime() throws Exception {
    final Duration day = Duration.ofDays(1);
    final Instant before = Instant.now();
    index.put("put", 1L, day);
    assertTrue(index.putIfAbsent("absent", 2L, day));
    assertFalse(index.putIfAbsent("absent", 3L, day));
    index.putAll(Map.of("all 1", 4L, "all 2", 5L), day);
    assertTrue(
        index.compareAndSet("compared", 0, 6L, day).entry().orElseThrow().deadline().isPresent());
    assertEquals(7L, index.update("updated", value -> 7L, day));
    index.async().put("async put", 8L, day).get();
    assertTrue(index.async().putIfAbsent("async absent", 9L, day).get());
    index.async().putAll(Map.of("async all", 10L), day).get();
    assertTrue(index.async().compareAndSet("async compared", 0, 11L, day).get().applied());
    assertEquals(12L, index.async().update("async updated", value -> 12L, day).get());
    final HashIndex<String, Long> direct = index.access(Access.DIRECT);
    for (final String key :
        List.of(
            "put",
            "absent",
            "all 1",
            "all 2",
            "compared",
            "updated",
            "async put",
            "async absent",
            "async all",
            "async compared",
            "async updated")) {
      final IndexEntry<String, Long> entry = index.getEntry(key).orElseThrow();
      final Instant deadline = entry.deadline().orElseThrow();
      assertFalse(deadline.isBefore(before.plus(day).minusSeconds(1)), key);
      assertTrue(deadline.isBefore(Instant.now().plus(day).plusSeconds(1)), key);
      assertEquals(Optional.of(entry), direct.getEntry(key));
    }
    index.put("put", 1L);
    assertEquals(Optional.empty(), index.getEntry("put").orElseThrow().deadline());
    index.put("absent", 1L, Duration.ofNanos(1)); // one millisecond
    while (index.get("absent").isPresent()) {
      Thread.sleep(1); // the test's timeout ends it
    }
    assertEquals(Optional.empty(), direct.get("absent"));
    assertTrue(index.putIfAbsent("absent", 2L));
  }

  @Test
  void updatesKeepTheDeadlineUnlessToldOtherwise() throws Exception {
    final Duration hour = Duration.ofHours(1);
    index.put("a", 1L, hour);
    final Optional<Instant> deadline = index.getEntry("a").orElseThrow().deadline();
    assertTrue(deadline.isPresent());
    assertEquals(2L, index.update("a", value -> value.orElseThrow() + 1));
    assertEquals(deadline, index.getEntry("a").orElseThrow().deadline());
    assertEquals(3L, index.async().update("a", value -> value.orElseThrow() + 1).get());
    assertEquals(deadline, index.getEntry("a").orElseThrow().deadline());
    assertEquals(deadline, index.access(Access.DIRECT).getEntry("a").orElseThrow().deadline());
    index.update("a", value -> value.orElseThrow() + 1, hour.multipliedBy(2));
    assertTrue(
        index.getEntry("a").orElseThrow().deadline().orElseThrow().isAfter(deadline.orElseThrow()));
    index.update("new", value -> 1L);
    assertEquals(Optional.empty(), index.getEntry("new").orElseThrow().deadline());
    final long version = index.getEntry("a").orElseThrow().version();
    assertTrue(index.compareAndSet("a", version, 9L).applied()); // as a put, it says no time
    assertEquals(Optional.empty(), index.getEntry("a").orElseThrow().deadline());
  }

  /** Far beyond its limit, too, where a transport would name a limit of its own. */
  @Test
  void valuesAndKeysThatAreTooLongAreRefusedBeforeTheyAreSent() {
    final String value = "value is too long: size=5242880 limit=1048576 bytes";
    final String key = "key is too long: size=5242880 limit=1024 bytes";
    final HashIndex<String, byte[]> large =
        client.hash(index.name(), Codec.string(), Codec.bytes());
    final byte[] bytes = new byte[5 << 20];
    final String longKey = "k".repeat(5 << 20);
    final OrderedIndex<String, byte[]> ordered =
        client.ordered(index.name() + " ordered", Codec.string(), Codec.bytes());
    isInvalid(value, () -> large.put("a", bytes));
    isInvalid(value, () -> large.put("a", bytes, Duration.ofDays(1)));
    isInvalid(value, () -> large.putIfAbsent("a", bytes));
    isInvalid(value, () -> large.compareAndSet("a", 1, bytes));
    isInvalid(value, () -> large.update("a", present -> bytes));
    isInvalid(value, () -> large.async().put("a", bytes).join());
    isInvalid(value, () -> large.async().update("a", present -> bytes).join());
    isInvalid(value, () -> large.putAll(Map.of("a", bytes, "b", new byte[1])));
    isInvalid(value, () -> large.async().putAll(Map.of("a", bytes, "c", new byte[1])).join());
    assertEquals(2, large.getAll(List.of("a", "b", "c")).size());
    isInvalid(key, () -> large.get(longKey));
    isInvalid(key, () -> large.access(Access.DIRECT).get(longKey));
    isInvalid(key, () -> large.getAll(List.of("b", longKey)));
    isInvalid(key, () -> large.async().getAll(List.of("b", longKey)).join());
    isInvalid(key, () -> large.remove(longKey));
    isInvalid(key, () -> large.async().remove(longKey).join());
    isInvalid(key, () -> large.put(longKey, new byte[1]));
    isInvalid("request is too long", () -> ordered.scan(Range.prefix(longKey)).toList());
    isInvalid("request is too long", () -> ordered.count(Range.atLeast(longKey)));
  }

  private static void isInvalid(String description, Runnable operation) {
    final RuntimeException failure = assertThrows(RuntimeException.class, operation::run);
    final Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    final IndexException e = assertInstanceOf(IndexException.class, cause);
    assertEquals(Status.Code.INVALID_ARGUMENT, e.code(), e::getMessage);
    assertTrue(e.description().contains(description), e::getMessage);
    assertFalse(e.isOutcomeUnknown());
  }

  @Test
  void timesThatAreNoneAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> index.put("a", 1L, Duration.ZERO));
    assertThrows(IllegalArgumentException.class, () -> index.put("a", 1L, Duration.ofMillis(-1)));
    for (final Duration tooLong :
        List.of(Duration.ofDays(3650).plusMillis(1), Duration.ofSeconds(Long.MAX_VALUE))) {
      final IndexException refused =
          assertThrows(IndexException.class, () -> index.put("a", 1L, tooLong));
      assertEquals(Status.Code.INVALID_ARGUMENT, refused.code());
      assertTrue(refused.getMessage().contains("3650 days"), refused.getMessage());
    }
    index.put("a", 1L, Duration.ofDays(3650));
  }

  @Test
  void updatesOfManyThreadsAreAllCounted() throws Exception {
    final int threads = 4;
    final int each = 50;
    final ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      final List<Future<?>> ends = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        ends.add(
            executor.submit(
                () -> {
                  for (int j = 0; j < each; j++) {
                    index.update("n", n -> n.orElse(0L) + 1);
                  }
                }));
      }
      for (int j = 0; j < each; j++) {
        index.async().update("n", n -> n.orElse(0L) + 1).join();
      }
      for (final Future<?> end : ends) {
        end.get();
      }
    } finally {
      executor.shutdownNow();
    }
    assertEquals(Optional.of((threads + 1L) * each), index.get("n"));
    assertThrows(NullPointerException.class, () -> index.update("n", n -> null));
  }

  @Test
  void batchesAreSplit() {
    final Map<String, Long> entries = new LinkedHashMap<>();
    for (long i = 0; i < 2 * PutAll.BATCH_ENTRIES + 500; i++) {
      entries.put("k" + i, i);
    }
    index.putAll(entries);
    assertEquals(entries.size(), index.count());
    final List<String> keys = new ArrayList<>(entries.keySet());
    keys.add("absent");
    assertEquals(entries, index.getAll(keys));
    assertEquals(entries, index.access(Access.DIRECT).getAll(keys));
    assertEquals(entries, index.async().getAll(keys).join());
    assertEquals(Map.of(), index.getAll(List.of()));
    index.putAll(Map.of());
  }

  /** The server answers no batch with more than 4 MiB. */
  @Test
  void answersThatAreTooLongComeInSeveral() {
    final HashIndex<String, byte[]> large =
        client.hash(index.name(), Codec.string(), Codec.bytes());
    final Map<String, byte[]> entries = new LinkedHashMap<>();
    for (int i = 0; i < 10; i++) {
      entries.put("k" + i, new byte[1 << 20]);
    }
    large.putAll(entries);
    assertEquals(entries.keySet(), large.getAll(entries.keySet()).keySet());
    assertEquals(entries.keySet(), large.async().getAll(entries.keySet()).join().keySet());
    assertEquals(entries.keySet(), large.access(Access.DIRECT).getAll(entries.keySet()).keySet());
    client.drop(index.name());
  }

  @Test
  void entriesThatAreRefusedAreCounted() {
    final Map<String, Long> entries = new LinkedHashMap<>();
    entries.put("a", 1L);
    entries.put("", 2L);
    entries.put("b", 3L);
    entries.put("x".repeat(2000), 4L);
    final IndexException e = assertThrows(IndexException.class, () -> index.putAll(entries));
    assertEquals(Status.Code.INVALID_ARGUMENT, e.code());
    assertFalse(e.isOutcomeUnknown());
    assertTrue(e.getMessage().contains("failed=2 of=4"), e.getMessage());
    assertTrue(e.getMessage().contains("key is empty"), e.getMessage());
    assertEquals(Map.of("a", 1L, "b", 3L), index.getAll(List.of("a", "b")));
    final Throwable same =
        assertThrows(
                java.util.concurrent.CompletionException.class,
                () -> index.async().putAll(entries).join())
            .getCause();
    assertEquals(e.getMessage(), same.getMessage());
    final Set<ByteString> refused =
        Set.of(ByteString.EMPTY, ByteString.copyFromUtf8("x".repeat(2000)));
    assertEquals(refused, e.refusals().keySet());
    assertEquals(refused, ((IndexException) same).refusals().keySet());
  }

  @Test
  void failuresNameTheKeyInBounds() {
    final IndexException e =
        assertThrows(IndexException.class, () -> index.put("a\n\"\u00E9" + "x".repeat(1500), 1L));
    assertEquals(Status.Code.INVALID_ARGUMENT, e.code());
    assertEquals(Operation.PUT, e.operation());
    assertEquals(index.name(), e.index());
    assertTrue(e.key().startsWith("\"a\\x0a\\\"\\xc3\\xa9xxx"), e.key());
    assertTrue(e.key().endsWith("... (1505 bytes)"), e.key());
    assertTrue(e.getMessage().contains("limit=1024"), e.getMessage());
    assertTrue(e.getMessage().length() < 400, e.getMessage());
    assertFalse(e.isOutcomeUnknown());
  }

  @Test
  void directReadsPassByTheServer() {
    final HashIndex<String, Long> direct = index.access(Access.DIRECT);
    assertEquals(Access.DIRECT, direct.access());
    assertEquals(Optional.empty(), direct.get("a")); // there is no index yet
    final long version = index.put("a", 1L);
    final long limitNs = System.nanoTime() + 30_000_000_000L;
    do { // until it is granted
      assertEquals(Optional.of(1L), direct.get("a"));
      assertTrue(System.nanoTime() - limitNs < 0, "in time");
    } while (!routes.containsKey(Access.DIRECT));
    routes.clear();
    assertEquals(Optional.of(new IndexEntry<>("a", 1L, version)), direct.getEntry("a"));
    assertEquals(Optional.empty(), direct.get("b"));
    direct.put("a", 2L);
    assertEquals(Optional.of(2L), direct.get("a"));
    assertEquals(Map.of("a", 2L), direct.getAll(List.of("a", "b")));
    assertEquals(Map.of(Access.DIRECT, 4, Access.RPC, 1), routes);
    index.get("a");
    assertEquals(2, routes.get(Access.RPC));
  }

  @Test
  void directReadsOfManyThreadsAgree() throws Exception {
    index.put("a", 0L);
    final HashIndex<String, Long> direct = index.access(Access.DIRECT);
    final int threads = 2 * DirectReads.LIMIT;
    final ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      final List<Future<?>> ends = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        ends.add(
            executor.submit(
                () -> {
                  long last = 0;
                  for (int j = 0; j < 200; j++) {
                    final long seen = direct.get("a").orElseThrow();
                    assertTrue(seen >= last, "seen=" + seen + " last=" + last);
                    last = seen;
                  }
                }));
      }
      for (long i = 1; i <= 200; i++) {
        index.put("a", i);
        assertEquals(Optional.of(i), direct.get("a"));
      }
      for (final Future<?> end : ends) {
        end.get();
      }
    } finally {
      executor.shutdownNow();
    }
    assertTrue(routes.get(Access.DIRECT) > 100, routes::toString);
  }

  /** The server grants a connection 64 readers at a time. */
  @Test
  void clientsThatCloseGiveTheirGrantsBack() {
    index.put("a", 1L);
    final ManagedChannel channel = server.channel();
    final AtomicInteger direct = new AtomicInteger();
    final ClientMetrics counter =
        (operation, name, route, code, durationNs) -> {
          if (route == Access.DIRECT) {
            direct.incrementAndGet();
          }
        };
    try {
      final long limitNs = System.nanoTime() + 30_000_000_000L;
      for (int i = 1; i <= 70; i++) {
        try (IndexClient other = server.builder(channel).metrics(counter).build()) {
          final HashIndex<String, Long> view =
              other.hash(index.name(), Codec.string(), Codec.int64()).access(Access.DIRECT);
          while (direct.get() < i) {
            assertEquals(Optional.of(1L), view.get("a"));
            assertTrue(System.nanoTime() - limitNs < 0, "direct=" + direct);
          }
        }
      }
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void asynchronousOperationsAreTheSame() {
    final AsyncIndex<String, Long> async = index.async();
    assertEquals(Optional.empty(), async.get("a").join());
    final long version = async.put("a", 1L).join();
    assertEquals(Optional.of(1L), async.get("a").join());
    assertEquals(version, async.getEntry("a").join().orElseThrow().version());
    assertFalse(async.putIfAbsent("a", 2L).join());
    assertTrue(async.putIfAbsent("b", 2L).join());
    assertFalse(async.compareAndSet("a", version + 9, 3L).join().applied());
    assertTrue(async.compareAndSet("a", version, 3L).join().applied());
    assertEquals(4L, async.update("a", n -> n.orElseThrow() + 1).join());
    async.putAll(Map.of("c", 5L)).join();
    assertEquals(3, async.count().join());
    assertTrue(async.remove("c").join());
    final List<CompletableFuture<Long>> many = new ArrayList<>();
    for (long i = 0; i < 100; i++) {
      many.add(async.put("m" + i, i));
    }
    many.forEach(CompletableFuture::join);
    assertEquals(102, index.count());
  }

  @Test
  void everyOperationIsMeasured() {
    index.put("a", 1L);
    index.getAll(List.of("a"));
    index.async().get("a").join();
    client.drop(index.name());
    assertEquals(
        List.of(Operation.PUT, Operation.GET_ALL, Operation.GET, Operation.DROP), operations);
  }

  @Test
  void keysAndValuesHaveManyTypes() {
    final HashIndex<UUID, Timestamp> stamps =
        client.hash(index.name(), Codec.uuid(), Codec.message(Timestamp.getDefaultInstance()));
    final UUID id = new UUID(1, 2);
    stamps.put(id, Timestamp.newBuilder().setSeconds(5).build());
    assertEquals(5, stamps.get(id).orElseThrow().getSeconds());
    final HashIndex<Pair<Long, Instant>, String> pairs =
        client.hash(index.name(), Codec.pair(Codec.int64(), Codec.instant()), Codec.string());
    final Pair<Long, Instant> pair = new Pair<>(-1L, Instant.EPOCH);
    pairs.put(pair, "x");
    assertEquals(Map.of(pair, "x"), pairs.getAll(List.of(pair)));
  }

  @Test
  void indexesAreListedAndDropped() {
    assertFalse(client.drop(index.name()));
    index.put("a", 1L);
    assertTrue(client.indexes().contains(index.name()));
    assertTrue(client.drop(index.name()));
    assertFalse(client.indexes().contains(index.name()));
    assertEquals(Optional.empty(), index.get("a"));
    index.put("a", 2L);
    assertEquals(Optional.of(2L), index.get("a"));
  }

  @Test
  void anIndexThatAnotherClientDroppedIsCreatedAgainAsItWas() {
    index.put("a", 1L);
    dropByAnother();
    index.put("a", 2L);
    assertEquals(IndexKind.HASH, client.describe(index.name()).orElseThrow().getKind());
    dropByAnother();
    assertEquals(1L, index.async().increment("a", 1).join());
    assertEquals(IndexKind.HASH, client.describe(index.name()).orElseThrow().getKind());
    dropByAnother();
    assertFalse(index.remove("a"));
    assertFalse(index.async().remove("a").join());
    assertEquals(Optional.empty(), client.describe(index.name()), "a removal creates none");
  }

  @Test
  void anIndexThatIsDroppedBeforeANumberComesIsCreatedAgainAsItWas() {
    final Map<String, Consumer<HashIndex<String, Long>>> writes =
        Map.of(
            "put", view -> view.put("a", 1L),
            "put later", view -> view.async().put("a", 1L).join(),
            "remove", view -> assertFalse(view.remove("a")),
            "remove later", view -> assertFalse(view.async().remove("a").join()));
    writes.forEach(
        (name, write) -> {
          index.put("a", 2L);
          final AtomicInteger openings = new AtomicInteger();
          final ManagedChannel channel =
              server.channel(
                  new CallSteps(
                      method -> {
                        if (method.equals("OpenClient") && openings.getAndIncrement() == 0) {
                          dropByAnother();
                        }
                        return null;
                      }));
          try (IndexClient other = server.builder(channel).build()) {
            write.accept(other.hash(index.name(), Codec.string(), Codec.int64()));
          } finally {
            channel.shutdownNow();
          }
          final boolean creates = name.startsWith("put");
          assertEquals(
              creates ? Optional.of(IndexKind.HASH) : Optional.empty(),
              client.describe(index.name()).map(IndexDescription::getKind),
              name);
          assertEquals(creates ? 2 : 1, openings.get(), name);
        });
  }

  private void dropByAnother() {
    try (IndexClient other = server.connect()) {
      assertTrue(other.drop(index.name()));
    }
  }
}
