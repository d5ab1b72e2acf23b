package dev.ringfetch.index.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.outcome.KeptOutcome;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeWalk;
import dev.ringfetch.index.v1.Entry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What a partition answers, and when. */
final class PartitionTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString OTHER = ByteString.copyFromUtf8("other");
  private static final ByteString A = ByteString.copyFromUtf8("a");
  private static final ByteString B = ByteString.copyFromUtf8("b");
  private static final int CAPACITY = 64;

  /** An owner's of the store: version, reserve, put, grow. */
  private static final int CALLS_OF_A_PUT = 4;

  private final LateLog log = new LateLog(100, 1);
  private final BookStore store = new BookStore(1_000_000);
  private final List<Throwable> errors = new ArrayList<>();
  private final Partition partition =
      new Partition(store, log, CAPACITY, errors::add, Handover.never());
  private final List<Write> answers = new ArrayList<>();

  @Test
  void putIsAnsweredOnceItIsCommittedAndReadable() {
    final Write put = submit(write().put(KEY, A));
    assertEquals(List.of(), answers);
    assertNull(store.read(KEY));
    log.commitAll();
    assertEquals(List.of(put), answers);
    assertEquals(Write.DONE, put.outcome());
    assertEquals(101, put.version());
    assertTrue(put.created());
    assertEquals(entry(KEY, A, 101), store.read(KEY));
  }

  @Test
  void aWriteThatComesAfterTheEndOfWritesIsToBeSentAgain() {
    final Write before = submit(write().put(KEY, A));
    partition.endWrites();
    final Write after = submit(write().put(OTHER, B));
    assertEquals(Write.UNAVAILABLE, after.outcome());
    final List<Write> earlier = new ArrayList<>();
    final OwnerTask barrier = OwnerTask.barrier(task -> earlier.addAll(answers));
    assertEquals(0, partition.submit(barrier)); // as walks, it goes on
    log.commitAll();
    assertEquals(List.of(after, before), earlier);
    assertEquals(Write.DONE, before.outcome());
    assertEquals(101, barrier.lsn());
    assertNull(store.read(OTHER));
  }

  @Test
  void aWalkOverOutcomesIsAnsweredWhenTheirRecordsAreCommitted() {
    final NumberedClient client = new NumberedClient(7, 1);
    submit(write().put(KEY, A).numbered(client, 1));
    log.commitAll();
    submit(write().put(KEY, B).numbered(client, 2));
    final OutcomeWalk walk = new OutcomeWalk();
    final AtomicBoolean answered = new AtomicBoolean();
    assertEquals(0, partition.submit(OwnerTask.walk(walk, task -> answered.set(true))));
    submit(write().put(OTHER, B).numbered(client, 3));
    assertFalse(answered.get());
    log.commit(1);
    assertTrue(answered.get());
    assertTrue(walk.isDone());
    assertEquals(
        List.of(101L, 102L), walk.outcomes().stream().map(KeptOutcome::lsn).sorted().toList());
  }

  @Test
  void answersTellOfUncommittedRecords() {
    final Write put = submit(write().put(KEY, A));
    final Write applied = submit(write().compareAndSet(KEY, 101, B));
    final Write lost = submit(write().compareAndSet(KEY, 101, A));
    final Write delete = submit(write().delete(KEY));
    final Write again = submit(write().delete(KEY));
    final Write lostToNone = submit(write().compareAndSet(KEY, 102, A));
    final Write created = submit(write().put(KEY, B));
    log.commitAll();
    assertEquals(List.of(put, applied, lost, delete, again, lostToNone, created), answers);
    assertTrue(applied.applied());
    assertEquals(entry(KEY, B, 102), applied.entry());
    assertFalse(lost.applied());
    assertEquals(entry(KEY, B, 102), lost.entry());
    assertTrue(delete.existed());
    assertFalse(again.existed());
    assertFalse(lostToNone.applied());
    assertNull(lostToNone.entry());
    assertTrue(created.created());
    assertEquals(entry(KEY, B, 104), store.read(KEY));
  }

  @Test
  void answerWithoutRecordWaitsForTheRecordThatItTellsOf() {
    submit(write().put(KEY, A));
    log.commitAll();
    submit(write().put(KEY, B));
    final Write lost = submit(write().compareAndSet(KEY, 101, A));
    submit(write().put(OTHER, A));
    assertEquals(1, answers.size());
    log.commit(1);
    assertTrue(answers.contains(lost));
    assertEquals(3, answers.size());
  }

  @Test
  void answerThatTellsOfCommittedStateComesAtOnce() {
    submit(write().put(KEY, A));
    log.commitAll();
    submit(write().put(OTHER, A));
    final Write lost = submit(write().compareAndSet(KEY, 7, B));
    final Write absent = submit(write().delete(A));
    assertEquals(entry(KEY, A, 101), lost.entry());
    assertEquals(List.of(lost, absent), answers.subList(1, answers.size()));
  }

  @Test
  void queueFillsWhileTooManyWaitForTheirCommit() {
    for (int i = 0; i < 2 * CAPACITY; i++) {
      submit(write().put(KEY, A));
    }
    assertEquals(CAPACITY, log.records().size());
    // The queue was taken once as a whole: nothing before there was room for.
    final Write refused = write().put(KEY, B);
    assertEquals(Write.QUEUE_FULL, partition.submit(refused));
    log.commit(1);
    assertEquals(CAPACITY + 1, log.records().size());
    assertEquals(0, partition.submit(refused));
    log.commitAll();
    log.commitAll();
    log.commitAll();
    assertEquals(2 * CAPACITY + 1, answers.size());
    assertSame(refused, answers.get(2 * CAPACITY));
  }

  @Test
  void fullMemoryRefusesPutsAndLeavesNothing() {
    final BookStore small = new BookStore(8);
    final Partition full = new Partition(small, log, CAPACITY, errors::add, Handover.never());
    full.submit(write().put(KEY, A));
    final Write refused = write().put(OTHER, A);
    full.submit(refused);
    assertEquals(List.of(refused), answers);
    assertEquals(Write.MEMORY_FULL, refused.outcome());
    log.commitAll();
    full.submit(write().delete(KEY));
    log.commitAll();
    full.submit(refused.put(OTHER, A));
    log.commitAll();
    assertEquals(entry(OTHER, A, 103), small.read(OTHER));
    assertEquals(0, small.reserved());
  }

  @Test
  void writesWaitForRoomInTheLogInTheirOrder() {
    log.scarce(true);
    final Write put = submit(write().put(KEY, A));
    final Write read = submit(write().read(KEY));
    final Write delete = submit(write().delete(KEY));
    assertEquals(List.of(), log.records());
    assertEquals(1, log.postponed());
    log.scarce(false);
    assertEquals(List.of(put, delete), log.records());
    log.commitAll();
    assertEquals(List.of(put, read, delete), answers);
    assertEquals(entry(KEY, A, 101), read.entry());
    assertTrue(put.created());
    assertTrue(delete.existed());
    assertEquals(0, store.reserved());
  }

  @Test
  void restOfABatchWaitsForRoomInTheLog() {
    final List<PutBatch> batches = new ArrayList<>();
    final PutBatch batch = new PutBatch(batches::add);
    batch.add(partition, KEY, A);
    batch.add(partition, OTHER, A);
    log.scarce(true);
    batch.submit();
    final Write last = submit(write().put(KEY, B));
    log.scarce(false);
    log.commitAll();
    assertEquals(List.of(batch), batches);
    assertEquals(101, batch.write(0).version());
    assertEquals(102, batch.write(1).version());
    assertEquals(103, last.version());
  }

  @Test
  void failedLogEndsTheWaitForRoom() {
    log.scarce(true);
    final Write put = submit(write().put(KEY, A));
    final Write delete = submit(write().delete(KEY));
    log.fail();
    assertEquals(List.of(put, delete), answers);
    assertEquals(Write.UNAVAILABLE, put.outcome());
    assertEquals(Write.UNAVAILABLE, delete.outcome());
    assertEquals(0, store.reserved());
  }

  @Test
  void failedLogEndsWhatWaitsAndRefusesTheRest() {
    final Write put = submit(write().put(KEY, A));
    final Write lost = submit(write().compareAndSet(KEY, 7, B));
    log.fail();
    final Write later = submit(write().delete(OTHER));
    assertEquals(List.of(put, lost, later), answers);
    assertEquals(Write.UNKNOWN, put.outcome());
    assertEquals(0, put.version());
    assertEquals(Write.UNKNOWN, lost.outcome());
    assertNull(lost.entry());
    assertEquals(Write.UNAVAILABLE, later.outcome());
    assertEquals(0, store.reserved());
    assertNull(store.read(KEY));
  }

  @Test
  void closeEndsWhatWaitsAndTellsThatTheStoreIsFree() {
    final Write put = submit(write().put(KEY, A));
    final boolean[] closed = new boolean[1];
    partition.close(() -> closed[0] = true);
    assertTrue(closed[0]);
    assertEquals(Write.UNKNOWN, put.outcome());
    store.hook(() -> errors.add(new AssertionError("used")));
    log.commitAll();
    assertEquals(Write.UNAVAILABLE, submit(write().put(KEY, A)).outcome());
    assertEquals(List.of(), errors);
    assertThrows(IllegalStateException.class, () -> partition.close(() -> {}));
  }

  @Test
  void closeAfterTheLogFailedIsToldToo() {
    log.fail();
    final boolean[] closed = new boolean[1];
    partition.close(() -> closed[0] = true);
    assertTrue(closed[0]);
  }

  @Test
  void whatComesWhileTheOwnerWorksIsNotForgotten() {
    final Partition at =
        new Partition(store, new ImmediateLog(0), CAPACITY, errors::add, Handover.never());
    final boolean[] closed = new boolean[1];
    final int[] calls = new int[1];
    store.hook(
        () -> {
          calls[0]++;
          if (calls[0] == CALLS_OF_A_PUT) {
            submitTo(at, write().put(OTHER, B));
          } else if (calls[0] == 2 * CALLS_OF_A_PUT) {
            at.close(() -> closed[0] = true);
          }
        });
    submitTo(at, write().put(KEY, A));
    assertEquals(2, answers.size());
    assertEquals(entry(OTHER, B, 2), store.read(OTHER));
    assertTrue(closed[0]);
    assertEquals(2 * CALLS_OF_A_PUT, calls[0]); // each time it was the last one
  }

  @Test
  void brokenStoreEndsWritingAndNoCall() {
    final Write put = submit(write().put(KEY, A));
    final Write second = submit(write().put(OTHER, A));
    final RuntimeException broken = new RuntimeException("broken");
    store.onApply(
        () -> {
          throw broken;
        });
    log.commitAll();
    assertEquals(List.of(put, second), answers);
    assertEquals(Write.UNKNOWN, put.outcome());
    assertEquals(Write.UNKNOWN, second.outcome());
    assertEquals(List.of(broken), errors);
    assertEquals(Write.UNAVAILABLE, submit(write().put(KEY, A)).outcome());
  }

  @Test
  void brokenListenerHindersNoOther() {
    final RuntimeException broken = new RuntimeException("broken");
    final Write bad =
        new Write(
            write -> {
              throw broken;
            });
    partition.submit(bad.put(KEY, A));
    final Write good = submit(write().put(KEY, A));
    log.commitAll();
    assertEquals(List.of(good), answers);
    assertEquals(List.of(broken), errors);
  }

  @Test
  void listenerThatSubmitsAgainIsNotCalledWithinItself() {
    final int[] left = {20_000};
    final Partition at =
        new Partition(store, new ImmediateLog(0), CAPACITY, errors::add, Handover.never());
    final Write write =
        new Write(
            answered -> {
              if (--left[0] > 0) {
                assertEquals(0, at.submit(answered.put(KEY, A)));
              }
            });
    at.submit(write.put(KEY, A));
    assertEquals(0, left[0]);
    assertEquals(20_000, store.read(KEY).getVersion());
    assertEquals(List.of(), errors);
  }

  @Test
  void threadThatServesOthersLeavesTheRestToATask() {
    final Deque<Runnable> tasks = new ArrayDeque<>();
    final int most = 4;
    final Partition at =
        new Partition(
            store, new ImmediateLog(0), CAPACITY, errors::add, new Handover(tasks::add, most));
    submitWithoutEnd(at, 1_000);
    submitTo(at, write().put(KEY, A));
    assertTrue(answers.size() <= most, "answers=" + answers.size());
    int handovers = 0;
    while (!tasks.isEmpty()) {
      assertEquals(1, tasks.size());
      final int before = answers.size();
      tasks.remove().run();
      handovers++;
      assertTrue(answers.size() - before <= most, "answers=" + answers.size());
    }
    assertEquals(1_001, answers.size());
    assertTrue(handovers >= 1_000 / most, "handovers=" + handovers);
    assertEquals(List.of(), errors);
  }

  @Test
  void restStaysWithTheThreadIfNoTaskIsTaken() {
    final Partition at =
        new Partition(
            store,
            new ImmediateLog(0),
            CAPACITY,
            errors::add,
            new Handover(
                task -> {
                  throw new RejectedExecutionException();
                },
                4));
    submitWithoutEnd(at, 1_000);
    submitTo(at, write().put(KEY, A));
    assertEquals(1_001, answers.size());
  }

  /** Another thread that submits a write within each cycle. */
  private void submitWithoutEnd(Partition at, int count) {
    final int[] calls = new int[1];
    store.hook(
        () -> {
          if (++calls[0] % CALLS_OF_A_PUT == 0 && calls[0] <= count * CALLS_OF_A_PUT) {
            submitTo(at, write().put(OTHER, A));
          }
        });
  }

  /** An answer that was computed from memory that was taken away says nothing. */
  @Test
  void damageEndsTheAnswersOfItsCycleAndAllLaterOnes() {
    final boolean[] lost = new boolean[1];
    final List<Throwable> refused = new ArrayList<>();
    final DamagedStore damaged = new DamagedStore(store, lost, refused);
    final Partition at = new Partition(damaged, log, CAPACITY, errors::add, Handover.never());
    submitTo(at, write().put(KEY, A));
    log.commitAll();
    answers.clear();
    final Write waits = write().put(OTHER, A);
    submitTo(at, waits);
    lost[0] = true;
    final Write wrong = write().compareAndSet(KEY, 7, B);
    submitTo(at, wrong);
    assertEquals(List.of(wrong, waits), answers);
    assertEquals(Write.DAMAGED, wrong.outcome());
    assertNull(wrong.entry());
    assertEquals(Write.DAMAGED, waits.outcome());
    assertEquals(1, refused.size());
    assertEquals(1, errors.size());
    assertEquals(Write.DAMAGED, submitOutcome(at, write().read(KEY)));
    assertEquals(Write.DAMAGED, submitOutcome(at, write().put(KEY, A)));
  }

  @Test
  void damageThatAnotherOwnerFoundEndsAllWrites() {
    final List<Throwable> refused = new ArrayList<>();
    final DamagedStore damaged = new DamagedStore(store, new boolean[1], refused);
    final Partition at = new Partition(damaged, log, CAPACITY, errors::add, Handover.never());
    final Write waits = write().put(OTHER, A);
    submitTo(at, waits);
    refused.add(new InternalError());
    assertEquals(Write.DAMAGED, submitOutcome(at, write().put(KEY, A)));
    assertEquals(Write.DAMAGED, waits.outcome());
  }

  private static int submitOutcome(Partition at, Write write) {
    submitTo(at, write);
    return write.outcome();
  }

  @Test
  void readTellsOfUncommittedRecordsOnceTheyAreCommitted() {
    submit(write().put(KEY, A));
    final Write read = submit(write().read(KEY));
    final Write absent = submit(write().read(OTHER));
    assertEquals(List.of(absent), answers);
    assertNull(absent.entry());
    log.commitAll();
    assertEquals(entry(KEY, A, 101), read.entry());
    assertEquals(entry(KEY, A, 101), submit(write().read(KEY)).entry());
  }

  @Test
  void cycleIsBounded() {
    final PutBatch batch = new PutBatch(answered -> {});
    for (int i = 0; i < 3 * WriteCycle.CYCLE_LIMIT; i++) {
      batch.add(partition, KEY, A);
    }
    batch.submit();
    assertEquals(WriteCycle.CYCLE_LIMIT, log.mostAppendedBetweenLooks());
    assertEquals(CAPACITY, log.records().size());
  }

  @Test
  void ownerGrowsTheStoreUntilItHasGrown() {
    for (int i = 0; i < 10; i++) {
      submit(write().put(KEY, A));
    }
    log.commitAll();
    assertEquals(10, store.growthSteps());
  }

  @Test
  void versionsBeginAboveTheCeilingAndEnd() {
    final ImmediateLog last = new ImmediateLog(CommitLog.MAX_LSN - 1);
    final Partition at = new Partition(store, last, CAPACITY, errors::add, Handover.never());
    at.submit(write().put(KEY, A));
    at.submit(write().put(KEY, B));
    assertEquals(CommitLog.MAX_LSN, answers.get(0).version());
    assertEquals(Write.VERSIONS_EXHAUSTED, answers.get(1).outcome());
    assertEquals(entry(KEY, A, CommitLog.MAX_LSN), store.read(KEY));
    assertEquals(0, store.reserved());
    assertThrows(IllegalArgumentException.class, () -> new ImmediateLog(-1));
    assertThrows(IllegalArgumentException.class, () -> new ImmediateLog(CommitLog.MAX_LSN + 1));
  }

  @Test
  void submittedWriteIsNotPreparedAgain() {
    final Write put = write();
    assertThrows(IllegalStateException.class, () -> partition.submit(put));
    submit(put.put(KEY, A));
    assertThrows(IllegalStateException.class, () -> put.delete(KEY));
    assertThrows(IllegalStateException.class, () -> partition.submit(put));
    log.commitAll();
    new Partition(store, new ImmediateLog(200), CAPACITY, errors::add, Handover.never())
        .submit(put.delete(KEY));
    assertTrue(put.existed());
  }

  private Write write() {
    return new Write(answers::add);
  }

  private Write submit(Write write) {
    submitTo(partition, write);
    return write;
  }

  private static void submitTo(Partition partition, Write write) {
    assertEquals(0, partition.submit(write));
  }

  private static Entry entry(ByteString key, ByteString value, long version) {
    return Entry.newBuilder().setKey(key).setValue(value).setVersion(version).build();
  }
}
