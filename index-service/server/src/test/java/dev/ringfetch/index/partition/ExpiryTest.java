package dev.ringfetch.index.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.StoredIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a partition does at deadlines, step by step. */
class ExpiryTest {
  private static final long NOW = 1_000_000;
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString OTHER = ByteString.copyFromUtf8("other");
  private static final ByteString VALUE = ByteString.copyFromUtf8("value");

  private final List<Throwable> errors = new ArrayList<>();
  private final ManualTime time = new ManualTime(NOW);
  private final LateLog late = new LateLog(0, 1);
  private StoredIndex index;
  private EntryStore store;
  private Partition partition;

  private void open(boolean ordered, CommitLog log) {
    index = ProcessIndexes.create(ordered);
    store = index.partition(0);
    partition = open(store, log);
  }

  private Partition open(EntryStore of, CommitLog log) {
    return new Partition(of, log, 64, new OwnerContext(errors::add, Handover.never(), time));
  }

  @AfterEach
  void noErrors() {
    assertEquals(List.of(), errors);
  }

  private Write submit(Write write) {
    assertEquals(0, partition.submit(write));
    return write;
  }

  private static Write write(List<Write> answers) {
    return new Write(answers::add);
  }

  private Write done(Write write) {
    submit(write);
    assertEquals(Write.DONE, write.outcome());
    return write;
  }

  private static Write write() {
    return new Write(answer -> {});
  }

  private ReadResult read() {
    return index.newReader().get(KEY, new Found());
  }

  private List<String> log() {
    return late.records().stream()
        .map(
            record ->
                switch (record.kind()) {
                  case TICK -> "tick " + (record.deadline() - NOW);
                  case DELETE -> record.isExpired() ? "expired" : "delete";
                  default -> "put " + (record.deadline() == 0 ? "" : record.deadline() - NOW);
                })
        .toList();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void touchGivesAnEntryAnotherDeadline(boolean ordered) {
    open(ordered, new ImmediateLog(0));
    assertFalse(done(write().touch(KEY, 0, 0).ttl(50)).applied());
    final long version = done(write().put(KEY, VALUE).ttl(25)).version();
    assertTrue(done(write().touch(KEY, version, 0).ttl(50)).applied());
    assertFalse(done(write().touch(KEY, version, 0)).applied(), "it has another version");
    assertEquals(NOW + 50, done(write().read(KEY)).entry().getDeadlineMs());
    assertEquals(VALUE, done(write().read(KEY)).entry().getValue());
    time.passSlowly(40);
    assertTrue(done(write().touch(KEY, 0, NOW + 60)).applied());
    time.passSlowly(19);
    assertEquals(ReadResult.FOUND, read());
    assertTrue(done(write().touch(KEY, 0, 0)).applied());
    time.passSlowly(100);
    assertEquals(0, done(write().read(KEY)).entry().getDeadlineMs(), "nothing ends it");
    assertTrue(done(write().touch(KEY, 0, NOW)).applied(), "a time that has passed");
    assertTrue(done(write().read(KEY)).entry().getDeadlineMs() > NOW + 159, "never in the past");
    time.passSlowly(10);
    assertEquals(ReadResult.ABSENT, read());
    assertFalse(done(write().touch(KEY, 0, 0)).applied(), "what has ended does not come back");
    assertEquals(0, store.count());
  }

  @Test
  void recordsOfASpatialIndexHaveTheBoxThatTheyReplace() {
    index = ProcessIndexes.spatial();
    store = index.partition(0);
    partition = open(store, late);
    final ByteString here = BoxDescriptor.bytes(1, 1, 1, 1);
    final ByteString there = BoxDescriptor.bytes(2, 2, 2, 2);
    final Write first = submit(write().put(KEY, here.concat(VALUE)));
    final Write second = submit(write().put(KEY, there));
    final Write third = submit(write().delete(KEY));
    final Write fourth = submit(write().put(KEY, here));
    late.commitAll();
    assertEquals(
        List.of(ByteString.EMPTY, here, there, ByteString.EMPTY),
        Stream.of(first, second, third, fourth).map(Write::former).toList());
    for (int i = 0; i < 40; i++) {
      submit(write().put(ByteString.copyFromUtf8("ends " + i), here).ttl(25));
    }
    late.commitAll();
    time.passSlowly(30); // appends the removals of some: no more may wait for their commit
    final List<Write> removals = late.records().stream().filter(Write::isExpired).toList();
    assertTrue(removals.size() > 10 && removals.size() < 40, () -> "removed=" + removals.size());
    final Set<ByteString> removed = removals.stream().map(Write::key).collect(Collectors.toSet());
    for (int i = 0; i < 40; i++) {
      final ByteString key = ByteString.copyFromUtf8("ends " + i);
      if (!removed.contains(key)) {
        final Write moved = submit(write().put(key, there));
        assertTrue(moved.creates(), "it has ended");
        assertEquals(here, moved.former(), "and is there");
      }
    }
    final Write anew = submit(write().put(removals.get(0).key(), there));
    assertEquals(ByteString.EMPTY, anew.former());
    assertEquals(Set.of(here), removals.stream().map(Write::former).collect(Collectors.toSet()));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void counterKeepsTheDeadlineOfItsBegin(boolean ordered) {
    open(ordered, new ImmediateLog(0));
    assertTrue(done(write().increment(KEY, 3).ttl(25)).created());
    time.passSlowly(10);
    assertEquals(5, done(write().increment(KEY, 2).ttl(25)).detail());
    assertEquals(6, done(write().increment(KEY, 1)).detail());
    assertEquals(NOW + 25, done(write().read(KEY)).entry().getDeadlineMs());
    time.passSlowly(15);
    assertEquals(ReadResult.ABSENT, read());
    assertEquals(1, done(write().increment(KEY, 1)).detail(), "it begins anew");
    assertEquals(0, done(write().read(KEY)).entry().getDeadlineMs());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void entryEndsAtItsDeadlineAndIsRemoved(boolean ordered) {
    open(ordered, new ImmediateLog(0));
    done(write().put(KEY, VALUE).ttl(25));
    assertEquals(NOW + 25, done(write().read(KEY)).entry().getDeadlineMs());
    time.passSlowly(24);
    assertEquals(ReadResult.FOUND, read());
    time.passSlowly(1);
    assertEquals(ReadResult.ABSENT, read());
    assertEquals(0, store.count());
    assertNull(done(write().read(KEY)).entry());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void putWithoutATimeTakesTheDeadlineAway(boolean ordered) {
    open(ordered, new ImmediateLog(0));
    done(write().put(KEY, VALUE).ttl(25));
    done(write().put(KEY, VALUE));
    time.passSlowly(2_000);
    assertEquals(ReadResult.FOUND, read());
    assertEquals(0, done(write().read(KEY)).entry().getDeadlineMs());
  }

  /** The old deadline does not end the new entry. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void laterDeadlineCounts(boolean ordered) {
    open(ordered, new ImmediateLog(0));
    done(write().put(KEY, VALUE).ttl(25));
    time.passSlowly(10);
    done(write().put(KEY, VALUE).ttl(50));
    time.passSlowly(49);
    assertEquals(ReadResult.FOUND, read());
    assertEquals(1, store.count());
    time.passSlowly(1);
    assertEquals(ReadResult.ABSENT, read());
    assertEquals(0, store.count());
  }

  /** The deadline of the entry that is replaced, also while that is not committed. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void comparisonKeepsTheDeadlineThatItIsToldToKeep(boolean ordered) {
    open(ordered, late);
    final Write put = submit(write().put(KEY, VALUE).ttl(25));
    final Write early = submit(write().compareAndSet(KEY, put.version(), VALUE).keepDeadline());
    late.commitAll();
    assertTrue(early.applied());
    assertEquals(NOW + 25, early.entry().getDeadlineMs());
    time.pass(5);
    final Write kept = submit(write().compareAndSet(KEY, early.version(), VALUE).keepDeadline());
    late.commitAll();
    assertEquals(NOW + 25, kept.entry().getDeadlineMs());
    final Write lost = submit(write().compareAndSet(KEY, early.version(), VALUE).keepDeadline());
    late.commitAll();
    assertFalse(lost.applied());
    assertEquals(NOW + 25, lost.entry().getDeadlineMs());
    time.pass(20);
    late.commitAll();
    assertEquals(ReadResult.ABSENT, read());
    final Write created = submit(write().compareAndSet(KEY, 0, VALUE).keepDeadline());
    late.commitAll();
    assertEquals(0, created.entry().getDeadlineMs());
    final Write told = submit(write().compareAndSet(KEY, created.version(), VALUE).ttl(7));
    final Write plain = submit(write().compareAndSet(KEY, told.version(), VALUE));
    late.commitAll();
    assertEquals(0, plain.entry().getDeadlineMs());
    assertThrows(
        IllegalStateException.class,
        () -> write().compareAndSet(KEY, 0, VALUE).ttl(1).keepDeadline());
    assertThrows(IllegalStateException.class, () -> write().put(KEY, VALUE).keepDeadline());
  }

  /** Readers see a tick after its commit; an answer that rests on it waits for that, too. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void tickIsSeenAfterItsCommit(boolean ordered) {
    open(ordered, late);
    final List<Write> answers = new ArrayList<>();
    submit(write(answers).put(KEY, VALUE).ttl(25));
    late.commitAll();
    assertEquals(1, answers.size());
    time.pass(25);
    assertEquals(List.of("tick 0", "put 25", "tick 25", "expired"), log());
    assertEquals(ReadResult.FOUND, read());
    final Write seen = submit(write(answers).read(KEY));
    final Write deleted = submit(write(answers).delete(KEY));
    assertEquals(1, answers.size(), "answers wait for the tick");
    late.commit(1);
    assertEquals(ReadResult.ABSENT, read());
    late.commitAll();
    assertEquals(List.of(seen, deleted), answers.subList(1, 3));
    assertNull(seen.entry());
    assertFalse(deleted.existed());
    assertEquals(0, store.count());
  }

  /** As above, where the removal has no room yet: the answers tell of the tick alone. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void answersThatTellOfATickAloneWaitForIt(boolean ordered) {
    final CommitLog withoutRemovals =
        new CommitLog() {
          @Override
          public long append(Write write) {
            return write.isExpired() ? FULL : late.append(write);
          }

          @Override
          public long committed() {
            return late.committed();
          }

          @Override
          public void onCommit(Runnable listener) {
            late.onCommit(listener);
          }
        };
    open(ordered, withoutRemovals);
    final List<Write> answers = new ArrayList<>();
    submit(write(answers).put(KEY, VALUE).ttl(25));
    late.commitAll();
    answers.clear();
    time.pass(25);
    assertEquals(List.of("tick 0", "put 25", "tick 25"), log());
    final Write lost = submit(write(answers).compareAndSet(KEY, 2, VALUE));
    final Write seen = submit(write(answers).read(KEY));
    final Write deleted = submit(write(answers).delete(KEY));
    assertEquals(List.of(), answers, "answers wait for the tick");
    late.commitAll();
    assertEquals(List.of(lost, seen, deleted), answers);
    assertFalse(lost.applied());
    assertNull(lost.entry());
    assertNull(seen.entry());
    assertFalse(deleted.existed());
    final Write put = submit(write(answers).put(KEY, VALUE));
    late.commitAll();
    assertTrue(put.created());
    assertTrue(put.version() > 3);
    assertEquals(ReadResult.FOUND, read());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void writesTakeWhatHasEndedForAbsent(boolean ordered) {
    open(ordered, new ImmediateLog(0));
    final long version = done(write().put(KEY, VALUE).ttl(5)).version();
    store.expiry().removeFirst(); // so that the owner does not remove the entry
    done(write().put(OTHER, VALUE).ttl(5));
    time.pass(10);
    assertEquals(1, store.count());
    assertFalse(done(write().compareAndSet(KEY, version, VALUE)).applied());
    assertFalse(done(write().delete(KEY)).existed());
    assertNull(done(write().read(KEY)).entry());
    final Write won = done(write().compareAndSet(KEY, 0, VALUE).ttl(100));
    assertTrue(won.applied());
    assertTrue(won.version() > version);
    assertEquals(NOW + 110, won.entry().getDeadlineMs());
    store.expiry().removeFirst();
    done(write().put(OTHER, VALUE).ttl(100));
    time.pass(100);
    final Write put = done(write().put(KEY, VALUE));
    assertTrue(put.created());
    assertTrue(put.version() > won.version());
  }

  /** Also an entry whose record is not committed when its deadline comes. */
  @Test
  void entryThatEndsBeforeItIsThere() {
    open(true, late);
    final List<Write> answers = new ArrayList<>();
    submit(write(answers).put(OTHER, VALUE).ttl(25));
    late.commitAll();
    submit(write(answers).put(KEY, VALUE).ttl(23));
    time.pass(26);
    final Write seen = submit(write(answers).read(KEY));
    assertEquals(1, answers.size());
    late.commit(1); // the put
    assertEquals(ReadResult.FOUND, read());
    assertEquals(2, answers.size());
    assertFalse(answers.contains(seen));
    late.commit(1); // the tick
    assertEquals(ReadResult.ABSENT, read());
    assertTrue(answers.contains(seen));
    assertNull(seen.entry());
    late.commitAll();
    assertEquals(0, store.count());
  }

  /** What is left of those that have ended does not keep others. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void entriesThatWaitForTheirRemovalKeepNoOther(boolean ordered) {
    open(ordered, late);
    for (int i = 0; i < 200; i++) { // more than may wait for their commit
      submit(write().put(ByteString.copyFromUtf8("key" + i), VALUE).ttl(25));
      late.commitAll();
    }
    submit(write().put(KEY, VALUE).ttl(40));
    late.commitAll();
    time.pass(30);
    late.commit(1); // the tick
    time.pass(20);
    late.commit(log().indexOf("tick 50") - late.committedRecords());
    assertEquals(ReadResult.FOUND, read());
    late.commit(1);
    assertEquals(ReadResult.ABSENT, read());
    assertTrue(store.count() > 100, "count=" + store.count());
    late.commitAll();
    for (int i = 0; i < 10; i++) {
      late.commitAll();
    }
    assertEquals(0, store.count());
  }

  /** However many end at once, a cycle removes a few: a write waits for no more. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void cycleRemovesFew(boolean ordered) {
    index = ProcessIndexes.create(ordered);
    store = index.partition(0);
    partition =
        new Partition(store, late, 4096, new OwnerContext(errors::add, Handover.never(), time));
    final int entries = 1_000;
    for (int i = 0; i < entries; i++) {
      submit(write().put(ByteString.copyFromUtf8("key" + i), VALUE).ttl(25));
    }
    late.commitAll();
    time.pass(25);
    assertEquals(1 + entries + 1 + entries, late.records().size());
    assertTrue(
        late.mostAppendedBetweenLooks() <= ExpiryCycle.LIMIT + 1,
        "appended=" + late.mostAppendedBetweenLooks());
    late.commitAll();
    assertEquals(0, store.count());
  }

  /** A wake-up that comes while the owner is past its look at the time is not lost. */
  @Test
  void wakeUpDuringACycle() {
    open(true, late);
    submit(write().put(KEY, VALUE).ttl(25));
    late.commitAll();
    final boolean[] passed = {false};
    late.hook(
        () -> {
          if (!passed[0]) { // the owner looks for commits, behind its look at the time
            passed[0] = true;
            time.pass(25);
          }
        });
    submit(write().read(KEY));
    assertTrue(passed[0]);
    assertEquals(List.of("tick 0", "put 25", "tick 25", "expired"), log());
  }

  /** Ticks come only where deadlines do, and at most every 10 ms. */
  @Test
  void ticksAreFew() {
    open(false, late);
    late.commitAll();
    for (int i = 0; i < 50; i++) {
      submit(write().put(ByteString.copyFromUtf8("key" + i), VALUE).ttl(1_000 + i));
    }
    late.commitAll();
    for (int i = 0; i < 999; i++) {
      time.pass(1);
      late.commitAll();
    }
    assertEquals(51, late.records().size());
    for (int i = 0; i < 100; i++) {
      time.pass(1);
      late.commitAll();
    }
    assertEquals(6 + 1, log().stream().filter(record -> record.startsWith("tick")).count());
    assertEquals(50, log().stream().filter(record -> record.equals("expired")).count());
    time.passSlowly(10_000);
    assertEquals(51 + 6 + 50, late.records().size());
    assertEquals(0, store.count());
  }

  /** The clock of before is never undercut, and time goes on all the same. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void clockThatIsAheadOfTheTimeGoesOn(boolean ordered) {
    index = ProcessIndexes.create(ordered);
    store = index.partition(0);
    store.expiry().advance(NOW + 1_000_000); // by a log of before
    partition = open(store, new ImmediateLog(0));
    done(write().put(KEY, VALUE).ttl(20));
    assertEquals(NOW + 1_000_020, done(write().read(KEY)).entry().getDeadlineMs());
    time.passSlowly(19);
    assertEquals(ReadResult.FOUND, read());
    time.passSlowly(11);
    assertEquals(ReadResult.ABSENT, read());
    assertTrue(store.expiry().clock() >= NOW + 1_000_020);
  }

  /** A wall clock that has caught up with the log's clock is followed at once. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void wallClockThatIsSetRightAfterTheStart(boolean ordered) {
    index = ProcessIndexes.create(ordered);
    store = index.partition(0);
    store.expiry().advance(NOW + 7_200_000); // by a log of before: the wall clock is behind
    partition = open(store, new ImmediateLog(0));
    done(write().put(KEY, VALUE).ttl(3_600_000));
    time.passSlowly(60_000);
    time.set(7_200_000 + 15); // right
    assertEquals(NOW + 7_260_115, done(write().put(OTHER, VALUE).ttl(100)).deadline());
    time.passSlowly(100);
    assertNull(done(write().read(OTHER)).entry());
    time.pass(3_600_000 - 60_000 - 100 - 15 - 1);
    assertEquals(ReadResult.FOUND, read());
    time.pass(1);
    assertEquals(ReadResult.ABSENT, read());
  }

  /** Where the wall clock is set back, deadlines that were given out come after their time. */
  @Test
  void wallClockThatIsSetBack() {
    open(false, new ImmediateLog(0));
    done(write().put(KEY, VALUE).ttl(20));
    time.set(-500_000);
    time.passSlowly(5);
    assertEquals(NOW + 5 + 50, done(write().put(OTHER, VALUE).ttl(50)).deadline());
    time.passSlowly(14);
    assertEquals(ReadResult.FOUND, read());
    time.passSlowly(1);
    assertEquals(ReadResult.ABSENT, read());
    time.set(400_000); // still behind
    time.passSlowly(34);
    assertNotNull(done(write().read(OTHER)).entry());
    time.passSlowly(1);
    assertNull(done(write().read(OTHER)).entry());
  }

  /** The same where the clock of the log is older than the deadline's begin. */
  @Test
  void wallClockThatIsSetBackBehindAPutWithoutATick() {
    open(false, late);
    submit(write().put(OTHER, VALUE).ttl(5_000));
    time.set(900);
    submit(write().put(KEY, VALUE).ttl(20));
    late.commitAll();
    assertEquals(List.of("tick 0", "put 5000", "put 920"), log());
    time.set(-900);
    time.passSlowly(19);
    late.commitAll();
    assertEquals(ReadResult.FOUND, read());
    time.passSlowly(1);
    late.commitAll();
    assertEquals(ReadResult.ABSENT, read());
  }

  /** A wall clock that is wrong for a moment ends no entry that is put later. */
  @Test
  void momentWithoutRecordsLeavesNoTrace() {
    open(false, late);
    submit(write().put(OTHER, VALUE));
    late.commitAll();
    time.set(1L << 40);
    submit(write().put(OTHER, VALUE));
    submit(write().tick());
    late.commitAll();
    time.set(-(1L << 40));
    submit(write().put(KEY, VALUE).ttl(20));
    assertEquals(List.of("put ", "put ", "tick 0", "put 20"), log());
  }

  /** Nor where its tick finds no room: later ones come as often as before. */
  @Test
  void momentWithAFullLogLeavesNoTrace() {
    open(false, late);
    submit(write().put(KEY, VALUE).ttl(20));
    late.commitAll();
    late.scarce(true);
    time.set(1L << 40);
    time.pass(5);
    time.set(-(1L << 40));
    late.scarce(false);
    time.pass(14);
    late.commitAll();
    assertEquals(ReadResult.FOUND, read());
    time.passSlowly(1);
    late.commitAll();
    assertEquals(ReadResult.ABSENT, read());
    assertEquals(List.of("tick 0", "put 20", "tick 20", "expired"), log());
  }

  /** Beyond what clocks can show, time goes on: a century is left. */
  @Test
  void wallClockBeyondTheLast() {
    open(false, new ImmediateLog(0));
    time.set(Long.MAX_VALUE / 2);
    assertEquals(ExpiryCycle.WALL_MAX_MS + 20, done(write().put(KEY, VALUE).ttl(20)).deadline());
    time.passSlowly(19);
    assertEquals(ReadResult.FOUND, read());
    time.passSlowly(1);
    assertEquals(ReadResult.ABSENT, read());
  }

  /** A host that does not know the time at all begins before 1970. */
  @Test
  void wallClockBeforeTheFirst() {
    open(false, new ImmediateLog(0));
    time.set(-2 * NOW);
    done(write().put(KEY, VALUE).ttl(20));
    time.passSlowly(19);
    assertEquals(ReadResult.FOUND, read());
    time.passSlowly(1);
    assertEquals(ReadResult.ABSENT, read());
  }

  /** A millisecond begins on one clock while it is half over on the other. */
  @Test
  void timeIsNeverAheadOfAWallClockThatGoesOn() {
    final long[] ns = {0};
    final TimeSource fine =
        new TimeSource() {
          @Override
          public long wallMs() {
            return NOW + ns[0] / 1_000_000;
          }

          @Override
          public long runningNs() {
            return ns[0] - 3_000_400_700L;
          }

          @Override
          public WakeUp wakeUp(Runnable task) {
            return delayMs -> {};
          }
        };
    store = ProcessIndexes.create(false).partition(0);
    partition =
        new Partition(
            store, new ImmediateLog(0), 64, new OwnerContext(errors::add, Handover.never(), fine));
    for (int i = 0; i < 10_000; i++) {
      ns[0] += 99_991;
      assertEquals(fine.wallMs() + 5, done(write().put(KEY, VALUE).ttl(5)).deadline());
    }
  }

  /** The log keeps the clock within a second, even if no deadline comes. */
  @Test
  void deadlinesThatAreGivenOutKeepTheClockNew() {
    open(false, late);
    for (int i = 0; i < 10; i++) {
      submit(write().put(KEY, VALUE).ttl(1_000_000));
      time.pass(501);
    }
    assertEquals(5, log().stream().filter(record -> record.startsWith("tick")).count());
  }

  /** A full log delays the end of entries, and does not lose it. */
  @Test
  void fullLogDelays() {
    final boolean[] full = {false};
    final CommitLog log =
        new CommitLog() {
          private long last;

          @Override
          public long append(Write write) {
            return full[0] ? FULL : ++last;
          }

          @Override
          public long committed() {
            return last;
          }

          @Override
          public boolean isImmediate() {
            return true;
          }

          @Override
          public void onCommit(Runnable listener) {}
        };
    open(true, log);
    done(write().put(KEY, VALUE).ttl(5));
    full[0] = true;
    time.passSlowly(100);
    assertEquals(ReadResult.FOUND, read());
    assertEquals(Write.LOG_FULL, submit(write().tick()).outcome());
    full[0] = false;
    time.passSlowly(10);
    assertEquals(ReadResult.ABSENT, read());
    assertEquals(0, store.count());
  }

  /** A tick that is asked for waits for room in the log. */
  @Test
  void tickWaitsForRoom() {
    open(true, late);
    submit(write().put(KEY, VALUE).ttl(5));
    late.commitAll();
    time.passSlowly(1);
    late.scarce(true);
    time.passSlowly(100);
    final List<Write> answers = new ArrayList<>();
    final Write tick = submit(write(answers).tick());
    assertEquals(List.of(), answers);
    late.scarce(false);
    late.commitAll();
    assertEquals(List.of(tick), answers);
    assertEquals(Write.DONE, tick.outcome());
    assertEquals(ReadResult.ABSENT, read());
  }

  /** A comparison that waits for room is decided again, with what it finds then. */
  @Test
  void entryEndsWhileAComparisonWaitsForRoom() {
    open(true, late);
    final Write put = submit(write().put(KEY, VALUE).ttl(5));
    late.commitAll();
    late.scarce(write -> write.kind() != WriteKind.TICK);
    final Write comparison = submit(write().compareAndSet(KEY, put.version(), VALUE).ttl(50));
    time.passSlowly(100);
    late.scarce(false);
    late.commitAll();
    assertEquals(Write.DONE, comparison.outcome());
    assertFalse(comparison.applied());
    assertNull(comparison.entry());
    assertEquals(ReadResult.ABSENT, read());
  }

  /** A tick that is asked for is answered when readers see what has ended as absent. */
  @Test
  void tickThatIsAskedFor() {
    open(true, late);
    final List<Write> answers = new ArrayList<>();
    final Write nothing = submit(write(answers).tick());
    assertEquals(List.of(nothing), answers);
    submit(write(answers).put(KEY, VALUE).ttl(25));
    late.commitAll();
    answers.clear();
    assertEquals(List.of(submit(write(answers).tick())), answers);
    // As after a start: nothing has looked at the time since.
    final ManualTime later = new ManualTime(NOW + 25);
    partition =
        new Partition(store, late, 64, new OwnerContext(errors::add, Handover.never(), later));
    answers.clear();
    final Write tick = submit(write(answers).tick());
    assertEquals(List.of(), answers);
    assertEquals(ReadResult.FOUND, read());
    late.commitAll();
    assertEquals(List.of(tick), answers);
    assertEquals(ReadResult.ABSENT, read());
  }

  @Test
  void timeIsForEntriesThatAreWritten() {
    assertThrows(IllegalStateException.class, () -> write().delete(KEY).ttl(1));
    assertThrows(IllegalStateException.class, () -> write().ttl(1));
    assertThrows(IllegalStateException.class, () -> write().put(KEY, VALUE).ttl(-1));
    assertEquals(5, write().put(KEY, VALUE).ttl(5).ttlMs());
    assertEquals(0, write().put(KEY, VALUE).ttlMs());
    assertNotNull(write().put(KEY, VALUE).ttl(0));
  }
}
