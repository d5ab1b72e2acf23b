package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.client.UnreliableWrites.Fate;
import dev.ringfetch.index.v1.CloseClientRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.RequestNumber;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Writes that are sent again, because they or their answers were lost: each is carried out once.
 */
@Timeout(120)
final class ExactlyOnceTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int STEPS = 80;

  @TempDir Path directory;
  private final UnreliableWrites writes = new UnreliableWrites();
  private TestServer server;
  private ManagedChannel channel;
  private IndexClient client;

  @BeforeEach
  void start() throws IOException {
    server = TestServer.start(directory);
    channel = server.channel(writes);
    client = server.builder(channel).build();
  }

  @AfterEach
  void stop() {
    client.close();
    channel.shutdownNow();
    server.close();
  }

  /** Where there is no index, a write that creates none needs none: it cannot be lost. */
  @Test
  void theFirstWriteThatFindsNoIndexIsAnswered() throws Exception {
    writes.fates = () -> Fate.ANSWER_LOST;
    final OrderedIndex<String, Long> index =
        client.ordered("absent", Codec.string(), Codec.int64());
    assertEquals(0, index.deleteRange(Range.all()));
    assertEquals(0, index.async().deleteRange(Range.all()).get());
    assertFalse(index.remove("a"));
    assertFalse(index.async().remove("a").get());
    assertFalse(index.compareAndSet("a", 7, 1L).applied());
    assertFalse(index.removeIf("a", 7));
    assertEquals(OptionalLong.empty(), index.async().persist("a").get());
    assertEquals(List.of(), writes.numbers);
    writes.fates = () -> Fate.NONE;
    index.put("a", 1L);
    assertEquals(1, index.deleteRange(Range.all()));
  }

  /** Each answer is that of a map to which each write was applied once. */
  @Test
  void lostAnswersAndDuplicatesChangeNothing() throws Exception {
    System.out.println("seed=" + SEED);
    final Random random = new Random(SEED);
    final Fate[] fates = {
      Fate.NONE, Fate.SENT_TWICE, Fate.SENT_TWICE, Fate.ANSWER_LOST, Fate.TWICE_AND_LOST
    };
    writes.fates = () -> fates[random.nextInt(fates.length)];
    for (final KeyedIndex<String, Long> index :
        List.of(
            client.hash("hash", Codec.string(), Codec.int64()),
            client.ordered("ordered", Codec.string(), Codec.int64()))) {
      final Map<String, Long> expected = new HashMap<>();
      final Map<String, Long> versions = new HashMap<>();
      for (long i = 0; i < STEPS; i++) {
        final String key = "k" + random.nextInt(5);
        final boolean waits = random.nextBoolean();
        final AsyncIndex<String, Long> async =
            index instanceof HashIndex<String, Long> hash
                ? hash.async()
                : ((OrderedIndex<String, Long>) index).async();
        switch (random.nextInt(11)) {
          case 0 -> {
            versions.put(key, waits ? index.put(key, i) : async.put(key, i).get());
            expected.put(key, i);
          }
          case 1 -> {
            final boolean existed = waits ? index.remove(key) : async.remove(key).get();
            assertEquals(expected.remove(key) != null, existed);
          }
          case 2 -> {
            final boolean written =
                waits ? index.putIfAbsent(key, i) : async.putIfAbsent(key, i).get();
            assertEquals(expected.putIfAbsent(key, i) == null, written);
          }
          case 3 -> {
            final Long next =
                waits
                    ? index.update(key, value -> value.orElse(0L) + 1)
                    : async.update(key, value -> value.orElse(0L) + 1).get();
            assertEquals(expected.merge(key, 1L, Long::sum), next);
          }
          case 4 -> {
            final long version = versions.getOrDefault(key, 1L << 40);
            final Optional<IndexEntry<String, Long>> before = index.getEntry(key);
            final CompareAndSetResult<String, Long> result =
                waits
                    ? index.compareAndSet(key, version, i)
                    : async.compareAndSet(key, version, i).get();
            final boolean holds = before.map(IndexEntry::version).orElse(0L) == version;
            assertEquals(holds, result.applied());
            if (holds) {
              expected.put(key, i);
            }
            assertEquals(
                Optional.ofNullable(expected.get(key)), result.entry().map(IndexEntry::value));
          }
          case 5 -> {
            final long sum = waits ? index.increment(key, i) : async.increment(key, i).get();
            assertEquals(expected.merge(key, i, Long::sum), sum);
          }
          case 6 -> {
            final long version = versions.getOrDefault(key, 1L << 40);
            final boolean holds =
                index.getEntry(key).map(IndexEntry::version).orElse(0L) == version;
            assertEquals(
                holds, waits ? index.removeIf(key, version) : async.removeIf(key, version).get());
            if (holds) {
              expected.remove(key);
            }
          }
          case 7 -> {
            final Duration day = Duration.ofDays(1);
            final OptionalLong version =
                waits ? index.touch(key, day) : async.touch(key, day).get();
            assertEquals(expected.containsKey(key), version.isPresent());
            version.ifPresent(touched -> versions.put(key, touched));
          }
          case 8 -> {
            final Optional<Long> before =
                waits ? index.getAndSet(key, i) : async.getAndSet(key, i).get();
            assertEquals(Optional.ofNullable(expected.put(key, i)), before);
          }
          case 9 -> transact(index, waits ? null : async, expected, i);
          default -> {
            final Map<String, Long> all = Map.of("k0", i, "k3", i, "other" + i, i);
            if (waits) {
              index.putAll(all);
            } else {
              async.putAll(all).get();
            }
            expected.putAll(all);
          }
        }
        assertEquals(Optional.ofNullable(expected.get(key)), index.get(key));
      }
      if (index instanceof OrderedIndex<String, Long> ordered) {
        assertEquals(expected.size(), ordered.deleteRange(Range.all()));
        ordered.put("left", 1L);
        ordered.put("right", 1L);
        assertEquals(1, ordered.async().deleteRange(Range.prefix("l")).get());
        assertEquals(1, ordered.count());
      } else {
        assertEquals(expected.size(), index.count());
      }
    }
  }

  /** Moves one from an entry to another, if it is greater than 1; else removes it. */
  private static void transact(
      KeyedIndex<String, Long> index,
      AsyncIndex<String, Long> async,
      Map<String, Long> expected,
      long i)
      throws Exception {
    final String from = "{k}" + i % 3;
    final String to = "{k}" + (i + 1) % 3;
    final Consumer<TransactionConditions<String, Long>> when = c -> c.valueGreater(from, 1L);
    final Consumer<TransactionOperations<String, Long>> then =
        t -> t.increment(from, -1).increment(to, 1).get(from);
    final Consumer<TransactionOperations<String, Long>> otherwise =
        t -> t.get(from).remove(from).put(to, i);
    final TransactionResult<String, Long> result =
        async == null
            ? index.transaction().when(when).then(then).otherwise(otherwise).commit()
            : async.transaction().when(when).then(then).otherwise(otherwise).commit().get();
    final Long before = expected.get(from);
    if (before != null && before > 1) {
      assertTrue(result.succeeded());
      assertEquals(expected.merge(from, -1L, Long::sum), result.answers().get(0).counter());
      assertEquals(expected.merge(to, 1L, Long::sum), result.answers().get(1).counter());
      assertEquals(Optional.of(before - 1), result.value(2));
    } else {
      assertFalse(result.succeeded());
      assertEquals(Optional.ofNullable(before), result.value(0));
      assertEquals(expected.remove(from) != null, result.answers().get(1).existed());
      assertEquals(expected.put(to, i) != null, result.answers().get(2).existed());
    }
    assertEquals(Optional.ofNullable(expected.get(from)), index.get(from));
    assertEquals(Optional.ofNullable(expected.get(to)), index.get(to));
  }

  /** What a write replaced is answered, or its loss is reported: nothing is made up. */
  @Test
  void theValueBeforeIsKnownOrReportedAsGone() {
    final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
    writes.fates = once(Fate.ANSWER_LOST);
    assertEquals(Optional.empty(), index.getAndSet("a", 1L), "there was none, as its record says");
    assertEquals(Optional.of(1L), index.getAndSet("a", 2L));
    writes.fates = once(Fate.ANSWER_LOST);
    assertEquals(Optional.of(2L), index.getAndSet("a", 3L), "the server has kept it");
    final HashIndex<String, String> texts = client.hash("b", Codec.string(), Codec.string());
    texts.put("a", "x".repeat(16 << 10));
    writes.fates = once(Fate.ANSWER_LOST);
    final OutcomeGoneException gone =
        assertThrows(OutcomeGoneException.class, () -> texts.getAndSet("a", "short"));
    assertFalse(gone.isOutcomeUnknown(), "it was carried out");
    assertTrue(gone.getMessage().contains("the value was written"), gone.getMessage());
    assertEquals(Optional.of("short"), texts.get("a"));
  }

  /** Whatever a delayed duplicate meets, a lost comparison stays lost. */
  @Test
  void aLostComparisonIsNotCarriedOutLater() {
    final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
    final IndexClient other = server.connect();
    final HashIndex<String, Long> others = other.hash("a", Codec.string(), Codec.int64());
    index.put("a", 1L);
    writes.fates = once(Fate.ANSWER_LOST);
    writes.onLost = () -> others.remove("a");
    assertFalse(index.putIfAbsent("a", 2L));
    assertEquals(Optional.empty(), index.get("a"));
    index.put("a", 1L);
    writes.fates = once(Fate.ANSWER_LOST);
    writes.onLost = () -> others.put("a", 5L);
    final CompareAndSetResult<String, Long> lost = index.compareAndSet("a", 1 << 30, 2L);
    assertFalse(lost.applied());
    assertEquals(5L, lost.entry().orElseThrow().value(), "it is read again");
    other.close();
  }

  private static java.util.function.Supplier<Fate> once(Fate fate) {
    final Fate[] next = {fate};
    return () -> {
      final Fate taken = next[0];
      next[0] = Fate.NONE;
      return taken;
    };
  }

  @Test
  void aWriteToAnIndexThatAnotherClientMadeAnewIsRepeated() throws Exception {
    final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
    final Iterator<Fate> fates = List.of(Fate.NONE, Fate.ANSWER_LOST, Fate.ANSWER_LOST).iterator();
    index.put("a", 1L);
    try (IndexClient other = server.connect()) {
      assertTrue(other.drop("a"));
      other.hash("a", Codec.string(), Codec.int64()).put("b", 2L);
      writes.fates = () -> fates.hasNext() ? fates.next() : Fate.NONE; // the first is refused
      assertEquals(1, index.increment("c", 1));
      assertEquals(Optional.of(1L), index.get("c"));
      assertFalse(fates.hasNext());
    }
  }

  @Test
  void aWriteWhoseOutcomeIsGoneSaysSo() throws Exception {
    final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
    index.put("a", 1L);
    try (IndexClient other = server.connect()) {
      writes.onLost = () -> assertTrue(other.drop("a"));
      writes.fates = once(Fate.ANSWER_LOST);
      final OutcomeGoneException gone =
          assertThrows(OutcomeGoneException.class, () -> index.put("key", 2L));
      assertTrue(gone.isOutcomeUnknown());
      assertEquals(2, gone.number());
      assertEquals(Status.Code.FAILED_PRECONDITION, gone.code());
      assertTrue(gone.getMessage().contains("key=\"key\""), gone::getMessage);
      assertTrue(gone.getMessage().contains("number=2"), gone::getMessage);
      assertEquals(List.of("default"), other.indexes());
      index.put("a", 1L); // creates it again, as the kind that the view wants
      writes.fates = once(Fate.ANSWER_LOST);
      final ExecutionException asynchronous =
          assertThrows(ExecutionException.class, () -> index.async().remove("a").get());
      assertInstanceOf(OutcomeGoneException.class, asynchronous.getCause());
      writes.onLost = () -> {};
      index.put("a", 3L);
      assertEquals(Optional.of(3L), index.get("a"));
    }
  }

  @Test
  void aWriteThatWasNeverSentGetsAnotherNumber() throws Exception {
    final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
    index.put("a", 1L);
    for (final boolean waits : new boolean[] {true, false}) {
      final long known = last().getClient();
      IndexGrpc.newBlockingStub(channel)
          .closeClient(CloseClientRequest.newBuilder().setIndex("a").setClient(known).build());
      assertTrue((waits ? index.remove("a") : index.async().put("a", 1L).get() > 0));
      assertNotEquals(known, last().getClient());
      assertEquals(1, last().getNumber());
      index.put("a", 1L);
    }
    // With an answer lost, it may have been carried out: no other number.
    final long known = last().getClient();
    writes.onLost =
        () ->
            IndexGrpc.newBlockingStub(channel)
                .closeClient(
                    CloseClientRequest.newBuilder().setIndex("a").setClient(known).build());
    writes.fates = once(Fate.ANSWER_LOST);
    assertThrows(OutcomeGoneException.class, () -> index.put("a", 7L));
    assertEquals(Optional.of(7L), index.get("a"), "it was carried out");
  }

  private RequestNumber last() {
    return writes.numbers.get(writes.numbers.size() - 1);
  }

  @Test
  void numbersThatNobodyWaitsForAreComplete() throws Exception {
    final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
    index.put("a", 1L);
    assertEquals(1, last().getFirstIncomplete());
    writes.fates = () -> Fate.SILENT;
    final CompletableFuture<Long> silent = index.async().put("a", 2L);
    final CompletableFuture<Long> late =
        index.deadline(Duration.ofMillis(100)).async().put("a", 2L);
    while (writes.numbers.size() < 3) {
      Thread.sleep(1);
    }
    writes.fates = () -> Fate.NONE;
    index.put("a", 3L);
    assertEquals(2, last().getFirstIncomplete());
    assertThrows(ExecutionException.class, () -> late.get(30, TimeUnit.SECONDS));
    silent.cancel(true);
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    do { // the end of the call comes on a thread of the channel
      index.put("a", 3L);
      assertTrue(System.nanoTime() - endNs < 0, () -> "first=" + last().getFirstIncomplete());
    } while (last().getFirstIncomplete() != last().getNumber());
  }

  @Test
  void withoutNumbersNothingIsRepeated() {
    final IndexClient plain = server.builder(channel).exactlyOnce(false).build();
    final HashIndex<String, Long> index = plain.hash("a", Codec.string(), Codec.int64());
    index.put("a", 1L);
    writes.fates = () -> Fate.ANSWER_LOST;
    assertThrows(UnavailableException.class, () -> index.put("a", 2L));
    assertEquals(Optional.of(2L), index.get("a"));
    assertTrue(writes.numbers.stream().allMatch(number -> number.getClient() == 0), "unnumbered");
    assertEquals(2, writes.numbers.size());
    plain.close();
  }

  @Test
  void repetitionEndsWithTheDeadlineAndWithTheClient() throws Exception {
    final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
    index.put("a", 1L);
    writes.fates = () -> Fate.ANSWER_LOST;
    final HashIndex<String, Long> brief = index.deadline(Duration.ofMillis(300));
    final IndexException late = assertThrows(IndexException.class, () -> brief.put("a", 2L));
    assertTrue(late.isOutcomeUnknown());
    assertTrue(late.getMessage().contains("lost"), late::getMessage);
    assertThrows(ExecutionException.class, () -> brief.async().put("a", 2L).get());
    final List<CompletableFuture<?>> repeated = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      repeated.add(index.async().put("a", 2L));
    }
    client.close();
    for (final CompletableFuture<?> future : repeated) {
      assertThrows(ExecutionException.class, () -> future.get(30, TimeUnit.SECONDS));
    }
    assertThrows(IllegalStateException.class, () -> index.put("a", 3L));
  }

  @Test
  void aClosedClientGivesItsNumberBack() {
    final IndexClient other = server.builder(channel).build();
    other.hash("a", Codec.string(), Codec.int64()).put("a", 1L);
    final long number = last().getClient();
    other.close();
    assertFalse(
        IndexGrpc.newBlockingStub(channel)
            .closeClient(CloseClientRequest.newBuilder().setClient(number).build())
            .getExisted());
  }
}
