package dev.ringfetch.index.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeTable;
import dev.ringfetch.index.v1.Comparison;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.Increment;
import dev.ringfetch.index.v1.OperationAnswer;
import dev.ringfetch.index.v1.ReadEntry;
import dev.ringfetch.index.v1.RemoveEntry;
import dev.ringfetch.index.v1.TransactOperation;
import dev.ringfetch.index.v1.TransactRequest;
import dev.ringfetch.index.v1.TransactResponse;
import dev.ringfetch.index.v1.WriteEntry;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a partition answers to transactions, what they change, and when others see it. */
final class TransactionTest {
  private static final ByteString A = bytes("a");
  private static final ByteString B = bytes("b");
  private static final ByteString C = bytes("c");
  private static final ByteString ONE = bytes("1");
  private static final ByteString TWO = bytes("2");

  private final LateLog log = new LateLog(100, 1);
  private BookStore store = new BookStore(1_000_000);
  private final List<Throwable> errors = new ArrayList<>();
  private Partition partition = new Partition(store, log, 64, errors::add, Handover.never());
  private final List<Write> answers = new ArrayList<>();

  private static ByteString bytes(String text) {
    return ByteString.copyFromUtf8(text);
  }

  private static Comparison version(ByteString key, Comparison.Relation relation, long version) {
    return Comparison.newBuilder().setKey(key).setRelation(relation).setVersion(version).build();
  }

  private static Comparison value(ByteString key, Comparison.Relation relation, ByteString value) {
    return Comparison.newBuilder().setKey(key).setRelation(relation).setValue(value).build();
  }

  private static TransactOperation get(ByteString key) {
    return TransactOperation.newBuilder()
        .setKey(key)
        .setGet(ReadEntry.getDefaultInstance())
        .build();
  }

  private static TransactOperation put(ByteString key, ByteString value) {
    return TransactOperation.newBuilder()
        .setKey(key)
        .setPut(WriteEntry.newBuilder().setValue(value))
        .build();
  }

  private static TransactOperation delete(ByteString key) {
    return TransactOperation.newBuilder()
        .setKey(key)
        .setDelete(RemoveEntry.getDefaultInstance())
        .build();
  }

  private static TransactOperation increment(ByteString key, long delta) {
    return TransactOperation.newBuilder()
        .setKey(key)
        .setIncrement(Increment.newBuilder().setDelta(delta))
        .build();
  }

  private static TransactRequest always(TransactOperation... operations) {
    return TransactRequest.newBuilder().addAllThen(List.of(operations)).build();
  }

  private Transaction submit(TransactRequest request) {
    return submit(new Transaction(request, answers::add));
  }

  private <T extends Write> T submit(T write) {
    assertEquals(0, partition.submit(write));
    return write;
  }

  private Write put(ByteString key, String value) {
    return submit(new Write(answers::add).put(key, bytes(value)));
  }

  private static Entry entry(ByteString key, ByteString value, long version) {
    return Entry.newBuilder().setKey(key).setValue(value).setVersion(version).build();
  }

  private static OperationAnswer existed(boolean existed) {
    return OperationAnswer.newBuilder().setExisted(existed).build();
  }

  private static OperationAnswer found(Entry entry) {
    return OperationAnswer.newBuilder().setExisted(true).setEntry(entry).build();
  }

  @Test
  void allChangesHaveOneRecordAndOneVersionAndComeTogether() {
    put(A, "1");
    log.commitAll();
    final List<Integer> readable = new ArrayList<>();
    final Transaction transaction = submit(always(delete(A), put(B, TWO), put(C, ONE)));
    assertEquals(2, log.records().size());
    assertEquals(entry(A, ONE, 101), store.read(A)); // not before the commit
    assertNull(store.read(B));
    store.onApply(() -> readable.add(answers.size()));
    log.commitAll();
    assertEquals(List.of(1, 1, 1), readable); // all are applied before it is answered
    assertSame(transaction, answers.get(1));
    assertNull(store.read(A));
    assertEquals(entry(B, TWO, 102), store.read(B));
    assertEquals(entry(C, ONE, 102), store.read(C));
    final TransactResponse response = transaction.response().build();
    assertTrue(response.getSucceeded());
    assertEquals(102, response.getVersion());
    assertEquals(List.of(existed(true), existed(false), existed(false)), response.getAnswersList());
    assertEquals(0, store.reserved());
  }

  @Test
  void comparisonsChooseTheList() {
    put(A, "1");
    log.commitAll();
    final long version = 101;
    final Comparison.Relation equal = Comparison.Relation.EQUAL;
    final Comparison.Relation notEqual = Comparison.Relation.NOT_EQUAL;
    final Comparison.Relation greater = Comparison.Relation.GREATER;
    final Comparison.Relation less = Comparison.Relation.LESS;
    final List<Comparison> hold =
        List.of(
            version(A, equal, version),
            version(A, notEqual, 0),
            version(A, greater, 100),
            version(A, less, 102),
            version(A, less, -1), // unsigned
            version(B, equal, 0),
            version(B, less, 1),
            value(A, equal, ONE),
            value(A, notEqual, TWO),
            value(A, greater, bytes("0")),
            value(A, less, bytes("11")));
    final List<Comparison> fail =
        List.of(
            version(A, equal, 0),
            version(A, notEqual, version),
            version(A, greater, version),
            version(A, less, version),
            version(B, greater, 0),
            version(B, notEqual, 0),
            value(A, equal, TWO),
            value(A, notEqual, ONE),
            value(A, greater, ONE),
            value(A, less, ONE),
            value(B, equal, ByteString.EMPTY),
            value(B, notEqual, ONE),
            value(B, less, ONE));
    for (final Comparison comparison : hold) {
      assertTrue(compared(comparison), comparison.toString());
    }
    for (final Comparison comparison : fail) {
      assertFalse(compared(comparison), comparison.toString());
      assertFalse(compared(hold.get(0), comparison), comparison.toString());
      assertFalse(compared(comparison, hold.get(0)), comparison.toString());
    }
    assertEquals(1, log.records().size()); // of the put
  }

  private boolean compared(Comparison... comparisons) {
    final TransactResponse response =
        submit(
                TransactRequest.newBuilder()
                    .addAllComparisons(List.of(comparisons))
                    .addThen(get(A))
                    .addOtherwise(get(B))
                    .build())
            .response()
            .build();
    assertEquals(0, response.getVersion());
    assertEquals(
        response.getSucceeded() ? found(entry(A, ONE, 101)) : existed(false),
        response.getAnswers(0));
    return response.getSucceeded();
  }

  @Test
  void eachOperationSeesThoseBeforeIt() {
    put(A, "1");
    put(B, "1");
    log.commitAll();
    final Transaction transaction =
        submit(always(get(A), put(A, TWO), get(A), delete(B), get(B), get(C)));
    log.commitAll();
    assertEquals(
        List.of(
            found(entry(A, ONE, 101)),
            existed(true),
            found(entry(A, TWO, 103)),
            existed(true),
            existed(false),
            existed(false)),
        transaction.response().getAnswersList());
  }

  @Test
  void laterWritesSeeItsUncommittedChanges() {
    put(A, "1");
    log.commitAll();
    submit(always(delete(A), put(B, ONE)));
    final Write delete = submit(new Write(answers::add).delete(A));
    final Write lost = submit(new Write(answers::add).compareAndSet(B, 0, TWO));
    final Write read = submit(new Write(answers::add).read(B));
    final Write applied = submit(new Write(answers::add).compareAndSet(B, 102, TWO));
    final Transaction second = submit(always(get(A), get(B), increment(C, 5)));
    assertEquals(1, answers.size()); // all wait for the transaction's commit
    log.commit(1);
    assertEquals(5, answers.size());
    assertFalse(delete.existed());
    assertEquals(entry(B, ONE, 102), lost.entry());
    assertEquals(entry(B, ONE, 102), read.entry());
    log.commitAll();
    assertTrue(applied.applied());
    assertEquals(entry(B, TWO, 103), store.read(B));
    final TransactResponse response = second.response().build();
    assertEquals(found(entry(B, TWO, 103)), response.getAnswers(1));
    assertEquals(5, response.getAnswers(2).getCounter());
    assertEquals(entry(C, CounterDescriptor.value(5), 104), store.read(C));
  }

  @Test
  void itIsAnsweredAfterAllRecordsThatItHasSeen() {
    put(A, "1");
    put(B, "1");
    final Transaction read = submit(always(get(B), get(A)));
    final Transaction other = submit(always(get(A), get(B)));
    final Transaction compared =
        submit(
            TransactRequest.newBuilder()
                .addComparisons(version(B, Comparison.Relation.EQUAL, 0))
                .addThen(put(A, TWO))
                .build());
    log.commit(1);
    assertFalse(answers.contains(read));
    assertFalse(answers.contains(other));
    assertFalse(answers.contains(compared));
    log.commit(1);
    assertTrue(answers.containsAll(List.of(read, other, compared)));
    assertEquals(2, log.records().size());
  }

  @Test
  void anIncrementThatCannotBeLeavesAllAsItWas() {
    put(B, "text");
    log.commitAll();
    final Transaction transaction = submit(always(put(A, ONE), increment(C, 1), increment(B, 1)));
    assertTrue(transaction.isRefused());
    assertEquals(4, transaction.detail());
    assertEquals(1, log.records().size());
    assertEquals(0, store.reserved());
    submit(always(put(A, TWO)));
    log.commitAll();
    assertEquals(entry(A, TWO, 102), store.read(A));
  }

  @Test
  void memoryIsThereForAllChangesOrNoneIsMade() {
    store = new BookStore(7);
    partition = new Partition(store, log, 64, errors::add, Handover.never());
    final Transaction refused = submit(always(put(A, ONE), put(B, bytes("1234")), put(C, ONE)));
    assertEquals(Write.MEMORY_FULL, refused.outcome());
    assertEquals(0, store.reserved());
    assertEquals(List.of(), log.records());
    final Transaction fits = submit(always(put(A, ONE), put(B, bytes("1234"))));
    log.commitAll();
    assertEquals(Write.DONE, fits.outcome());
    assertEquals(0, store.reserved());
  }

  @Test
  void aLogWithoutRoomMakesItWaitAndItIsValidatedAnew() {
    put(A, "1");
    log.commitAll();
    log.scarce(true);
    final Transaction transaction =
        submit(
            TransactRequest.newBuilder()
                .addComparisons(version(A, Comparison.Relation.EQUAL, 101))
                .addThen(put(A, TWO))
                .addThen(put(B, TWO))
                .addOtherwise(delete(A))
                .build());
    assertEquals(0, store.reserved());
    log.scarce(false);
    log.commitAll();
    assertEquals(1, log.postponed());
    assertTrue(transaction.response().getSucceeded());
    assertEquals(2, transaction.response().getAnswersCount());
    assertEquals(entry(B, TWO, 102), store.read(B));
    assertEquals(0, store.reserved());
  }

  @Test
  void aFailedLogGivesItsMemoryBack() {
    final Transaction transaction = submit(always(put(A, ONE), put(B, TWO)));
    assertEquals(4, store.reserved());
    log.fail();
    assertEquals(Write.UNKNOWN, transaction.outcome());
    assertEquals(0, store.reserved());
  }

  @Test
  void aRepetitionGetsTheSameAnswerAndChangesNothing() {
    final NumberedClient client = new NumberedClient(7, 1);
    put(A, "1");
    final TransactRequest request =
        TransactRequest.newBuilder()
            .addComparisons(version(B, Comparison.Relation.EQUAL, 0))
            .addThen(get(A))
            .addThen(put(A, TWO))
            .addThen(get(A))
            .addThen(increment(B, 3))
            .addOtherwise(get(B))
            .build();
    final Transaction first = submit(request, client, 1);
    final Transaction lost = submit(request, client, 2);
    final Transaction refused = submit(always(increment(A, 1)), client, 3);
    final Transaction again = submit(request, client, 1);
    assertEquals(1 + 3, log.records().size());
    assertFalse(answers.contains(again)); // before the commit of the first one
    log.commitAll();
    put(A, "3");
    submit(new Write(answers::add).delete(B));
    log.commitAll();
    final Transaction lostAgain = submit(request, client, 2);
    final Transaction refusedAgain = submit(always(increment(A, 1)), client, 3);
    assertEquals(6, log.records().size());
    assertEquals(entry(A, bytes("3"), 105), store.read(A));
    final TransactResponse response = first.response().build();
    assertEquals(102, response.getVersion());
    assertEquals(found(entry(A, TWO, 102)), response.getAnswers(2));
    assertEquals(3, response.getAnswers(3).getCounter());
    assertEquals(response, again.response().build());
    assertFalse(lost.response().getSucceeded());
    assertEquals(0, lost.response().getVersion());
    assertEquals(found(entry(B, CounterDescriptor.value(3), 102)), lost.response().getAnswers(0));
    assertEquals(lost.response().build(), lostAgain.response().build());
    assertTrue(refused.isRefused());
    assertTrue(refusedAgain.isRefused());
    assertEquals(1, refusedAgain.detail());
  }

  private Transaction submit(TransactRequest request, NumberedClient client, long number) {
    final Transaction transaction = new Transaction(request, answers::add);
    transaction.numbered(client, number);
    return submit(transaction);
  }

  @Test
  void aLongAnswerIsNotKept() {
    final NumberedClient client = new NumberedClient(7, 1);
    put(A, "x".repeat(OutcomeTable.ANSWER_LIMIT));
    final TransactRequest request = always(get(A), put(B, ONE));
    final Transaction first = submit(request, client, 1);
    final Transaction again = submit(request, client, 1);
    log.commitAll();
    assertEquals(2, first.response().getAnswersCount());
    assertFalse(first.response().getAnswersGone());
    assertTrue(again.response().getAnswersGone());
    assertTrue(again.response().getSucceeded());
    assertEquals(102, again.response().getVersion());
  }

  @Test
  void readsBeyondAnAnswerAreRefused() {
    final ByteString large = ByteString.copyFrom(new byte[1 << 20]);
    store = new BookStore(8L << 20);
    partition = new Partition(store, log, 64, errors::add, Handover.never());
    final List<TransactOperation> reads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      submit(new Write(answers::add).put(bytes("k" + i), large));
      reads.add(get(bytes("k" + i)));
    }
    log.commitAll();
    final Transaction refused =
        submit(TransactRequest.newBuilder().addThen(put(A, ONE)).addAllThen(reads).build());
    assertEquals(Write.ANSWER_TOO_LONG, refused.outcome());
    assertEquals(0, store.reserved());
    assertNull(store.read(A));
  }

  /** One that changes nothing can be sent again when its leader has ended. */
  @Test
  void readsAloneAreTold() {
    final TransactRequest reads = always(get(A), get(A));
    assertTrue(new Transaction(reads, answers::add).isReading());
    assertFalse(new Transaction(always(get(A), put(A, TWO)), answers::add).isReading());
    assertFalse(
        new Transaction(reads.toBuilder().addOtherwise(delete(A)).build(), answers::add)
            .isReading());
  }

  @Test
  void getAndSetKeepsTheEntryBefore() {
    final NumberedClient client = new NumberedClient(7, 1);
    put(A, "1");
    final Write first = submit(new Write(answers::add).getAndSet(A, TWO).numbered(client, 1));
    final Write again = submit(new Write(answers::add).getAndSet(A, TWO).numbered(client, 1));
    log.commitAll();
    assertEquals(2, log.records().size());
    assertEquals(entry(A, ONE, 101), first.entry());
    assertEquals(entry(A, ONE, 101), again.entry());
    assertEquals(102, again.version());
  }
}
