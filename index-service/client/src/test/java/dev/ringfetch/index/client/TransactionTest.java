package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.client.UnreliableWrites.Fate;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Transactions of a client: their conditions, operations, results and failures. */
@Timeout(120)
final class TransactionTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int TRANSFERS = 300;

  @TempDir Path directory;
  private final UnreliableWrites writes = new UnreliableWrites();
  private TestServer server;
  private ManagedChannel channel;
  private IndexClient client;
  private HashIndex<String, Long> hash;

  @BeforeEach
  void start() throws IOException {
    server = TestServer.start(directory);
    channel = server.channel(writes);
    client = server.builder(channel).build();
    hash = client.hash("hash", Codec.string(), Codec.int64());
  }

  @AfterEach
  void stop() {
    client.close();
    channel.shutdownNow();
    server.close();
  }

  private void assertHolds(boolean holds, Consumer<TransactionConditions<String, Long>> when) {
    assertEquals(
        holds, hash.transaction().when(when).then(t -> t.get("{t}.a")).commit().succeeded());
  }

  @Test
  void eachConditionHoldsOrNot() {
    assertHolds(true, c -> c.absent("{t}.a"));
    assertHolds(false, c -> c.exists("{t}.a"));
    assertHolds(false, c -> c.valueNot("{t}.a", 5L));
    final long version = hash.put("{t}.a", 5L);
    assertHolds(true, c -> c.exists("{t}.a").absent("{t}.b"));
    assertHolds(false, c -> c.exists("{t}.a").absent("{t}.a"));
    assertHolds(true, c -> c.version("{t}.a", version));
    assertHolds(false, c -> c.version("{t}.a", version + 1));
    assertHolds(true, c -> c.versionLess("{t}.a", version + 1).versionLess("{t}.b", 1));
    assertHolds(false, c -> c.versionLess("{t}.a", version));
    assertHolds(true, c -> c.versionGreater("{t}.a", version - 1));
    assertHolds(false, c -> c.versionGreater("{t}.a", version));
    assertHolds(true, c -> c.value("{t}.a", 5L).valueNot("{t}.a", 6L));
    assertHolds(false, c -> c.value("{t}.a", 6L));
    assertHolds(true, c -> c.valueGreater("{t}.a", -7L).valueLess("{t}.a", 6L));
    assertHolds(false, c -> c.valueGreater("{t}.a", 5L));
    assertHolds(false, c -> c.valueLess("{t}.a", 5L));
  }

  @Test
  void operationsAreAnsweredInTheirOrder() throws Exception {
    final OrderedIndex<String, Long> index = client.ordered("tree", Codec.string(), Codec.int64());
    index.put("b", 2L);
    final TransactionResult<String, Long> result =
        index
            .async()
            .transaction()
            .then(t -> t.get("a").put("a", 1L, Duration.ofDays(1)).get("a").remove("b").remove("c"))
            .then(t -> t.increment("n", 7))
            .otherwise(t -> t.remove("a"))
            .commit()
            .get();
    assertTrue(result.succeeded());
    final long version = result.version().orElseThrow();
    assertEquals(Optional.empty(), result.value(0));
    assertFalse(result.answers().get(1).existed());
    assertEquals(Optional.of(1L), result.value(2));
    assertTrue(result.answers().get(3).existed());
    assertFalse(result.answers().get(4).existed());
    assertEquals(7, result.answers().get(5).counter());
    final IndexEntry<String, Long> written = index.getEntry("a").orElseThrow();
    assertEquals(version, written.version());
    assertTrue(written.deadline().isPresent());
    assertEquals(Optional.of(written), result.answers().get(2).entry());
    assertEquals(version, index.getEntry("n").orElseThrow().version());
    final TransactionResult<String, Long> nothing =
        index.transaction().when(c -> c.exists("c")).then(t -> t.remove("a")).commit();
    assertEquals(new TransactionResult<>(false, OptionalLong.empty(), List.of()), nothing);
    assertEquals(2, index.count());
  }

  @Test
  void keysOfSeveralPartitionsAreRefusedWithBoth() {
    final IndexException refused =
        assertThrows(
            IndexException.class,
            () -> hash.transaction().then(t -> t.put("{a}1", 1L).put("{b}1", 1L)).commit());
    assertEquals(Status.Code.FAILED_PRECONDITION, refused.code());
    assertFalse(refused.isOutcomeUnknown());
    assertTrue(refused.getMessage().contains("key={a}1 other={b}1"), refused.getMessage());
    assertEquals(0, hash.count());
    final ExecutionException failed =
        assertThrows(
            ExecutionException.class,
            () -> hash.async().transaction().then(t -> t.put("k", 1L).remove("k")).commit().get());
    assertEquals(
        Status.Code.INVALID_ARGUMENT,
        assertInstanceOf(IndexException.class, failed.getCause()).code());
    assertThrows(IndexException.class, () -> hash.transaction().commit());
  }

  @Test
  void readsAloneNeedNoNumberAndNoIndex() {
    assertEquals(
        Optional.empty(),
        hash.transaction()
            .when(c -> c.absent("{t}.a"))
            .then(t -> t.get("{t}.b"))
            .commit()
            .value(0));
    assertEquals(List.of(), writes.numbers);
    assertEquals(Optional.empty(), client.describe("hash"));
  }

  @Test
  void longAnswersThatAreLostAreReportedAsGone() {
    final HashIndex<String, String> texts = client.hash("texts", Codec.string(), Codec.string());
    texts.put("k", "x".repeat(16 << 10));
    final AtomicInteger left = new AtomicInteger(1);
    writes.fates = () -> left.getAndDecrement() > 0 ? Fate.ANSWER_LOST : Fate.NONE;
    final OutcomeGoneException gone =
        assertThrows(
            OutcomeGoneException.class,
            () -> texts.transaction().then(t -> t.get("k").put("k", "short")).commit());
    assertFalse(gone.isOutcomeUnknown());
    assertTrue(gone.getMessage().contains("succeeded=true version="), gone.getMessage());
    assertEquals(Optional.of("short"), texts.get("k"));
  }

  /** Transfers by several threads over lossy connections: each transaction sees the same sum. */
  @Test
  void transactionsSeeEachOtherWhole() throws Exception {
    System.out.println("seed=" + SEED);
    final Random fates = new Random(SEED);
    writes.fates =
        () -> {
          synchronized (fates) {
            return List.of(Fate.NONE, Fate.SENT_TWICE, Fate.ANSWER_LOST).get(fates.nextInt(3));
          }
        };
    for (final KeyedIndex<String, Long> index :
        List.of(hash, client.ordered("tree", Codec.string(), Codec.int64()))) {
      final Bank bank = new Bank(index);
      bank.open();
      try (BankTellers tellers = new BankTellers(List.of(bank), SEED)) {
        tellers.await(2 * TRANSFERS);
      }
      bank.checkCount();
    }
  }
}
