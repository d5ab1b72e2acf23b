package dev.ringfetch.index.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.AppendDescriptor;
import dev.ringfetch.index.outcome.OutcomeBudget;
import dev.ringfetch.index.outcome.OutcomeTable;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.v1.Appends;
import dev.ringfetch.index.v1.Entry;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The offsets, times and removals of the owner of an index for appends, step by step. */
final class AppendCycleTest {
  private static final long NOW = 1_000_000;
  private static final ByteString RECORD = ByteString.copyFrom(new byte[1_000]);

  private final List<Throwable> errors = new ArrayList<>();
  private final ManualTime time = new ManualTime(NOW);
  private final LateLog late = new LateLog(0, 1);
  private EntryStore store = ProcessIndexes.create(true).partition(0);
  private Partition partition;

  private void open(CommitLog log, long ageMs, long bytes) {
    final Appends limits =
        Appends.newBuilder().setRetentionMs(ageMs).setRetentionBytes(bytes).build();
    partition =
        new Partition(
            store,
            log,
            new PartitionContext(
                256,
                new OwnerContext(errors::add, Handover.never(), time),
                new OutcomeTable(new OutcomeBudget(OutcomeBudget.SLOTS_DEFAULT)),
                limits));
  }

  @AfterEach
  void noErrors() {
    assertEquals(List.of(), errors);
  }

  private List<Write> append(int count) {
    final PutBatch batch = new PutBatch(answered -> {});
    for (int i = 0; i < count; i++) {
      batch.append(partition, RECORD);
    }
    batch.submit();
    return LongStream.range(0, count).mapToObj(i -> batch.write((int) i)).toList();
  }

  private static long timeOf(Write append) {
    return AppendDescriptor.time(append.value());
  }

  private List<Long> offsets() {
    return LongStream.rangeClosed(0, late.records().size() + 100)
        .filter(offset -> store.version(AppendDescriptor.key(offset)) != 0)
        .boxed()
        .toList();
  }

  private long removals() {
    return late.records().stream().filter(Write::isExpired).count();
  }

  private static long bytesOfOne() {
    final EntryStore other = ProcessIndexes.create(true).partition(0);
    final ByteString key = AppendDescriptor.key(1);
    final ByteString value = AppendDescriptor.value(NOW, RECORD);
    other.reserve(key.size(), value.size());
    other.put(key, value, 1);
    return other.bytes();
  }

  @Test
  void timesNeverGoBack() {
    final ImmediateLog log = new ImmediateLog(0);
    open(log, 0, 0);
    assertEquals(NOW, timeOf(append(1).get(0)));
    time.pass(5);
    assertEquals(NOW + 5, timeOf(append(1).get(0)));
    time.set(-1_000);
    assertEquals(NOW + 5, timeOf(append(1).get(0)), "the clock was set back");
    time.pass(7);
    assertEquals(NOW + 12, timeOf(append(1).get(0)));
    time.set(-500_000);
    open(new ImmediateLog(log.committed()), 0, 0); // another leader, whose clock is behind
    assertEquals(NOW + 12, timeOf(append(1).get(0)));
    time.pass(3);
    assertEquals(NOW + 15, timeOf(append(1).get(0)), "it goes on");
    final Entry last = store.last();
    assertEquals(NOW + 15, AppendDescriptor.time(last.getValue()));
    assertEquals(last.getVersion(), AppendDescriptor.offset(last.getKey()));
  }

  @Test
  void anAppendThatHasToWaitGetsThePlaceThatThereIsThen() {
    open(late, 0, 0);
    late.scarce(true);
    final Write first = append(1).get(0);
    time.pass(9);
    final List<Write> others = append(2);
    late.scarce(false);
    late.commitAll();
    assertEquals(List.of(1L, 2L, 3L), offsets());
    assertEquals(1, first.version());
    assertEquals(List.of(2L, 3L), others.stream().map(Write::version).toList());
    assertTrue(late.postponed() > 0);
  }

  @Test
  void recordsEndByAge() {
    open(late, 100, 0);
    append(3);
    late.commitAll();
    time.passSlowly(50);
    append(2);
    late.commitAll();
    time.passSlowly(49);
    assertEquals(0, removals());
    time.passSlowly(12);
    assertEquals(3, removals());
    assertEquals(List.of(1L, 2L, 3L, 4L, 5L), offsets(), "nothing is removed before its commit");
    late.commitAll();
    assertEquals(List.of(4L, 5L), offsets());
    time.passSlowly(1_000);
    late.commitAll();
    assertEquals(List.of(5L), offsets(), "the newest record stays");
    append(1);
    late.commitAll();
    time.passSlowly(20);
    late.commitAll();
    assertEquals(1, offsets().size());
    assertEquals(5, removals());
  }

  @Test
  void recordsOfALeaderWhoseClockWasAheadEndByAge() {
    final ImmediateLog log = new ImmediateLog(0);
    open(log, 100, 0);
    append(3);
    partition.close(() -> {});
    time.set(-500_000);
    open(new ImmediateLog(log.committed()), 100, 0);
    partition.submit(new Write(write -> {}).read(AppendDescriptor.key(1)));
    time.passSlowly(90);
    assertEquals(List.of(1L, 2L, 3L), offsets());
    time.passSlowly(30);
    assertEquals(List.of(3L), offsets());
  }

  @Test
  void appendsAreAnsweredWhereverMemoryIsFoundDamaged() {
    for (int steps = 0; steps < 8; steps++) {
      final int[] left = {steps};
      final EntryStore whole = ProcessIndexes.create(true).partition(0);
      store =
          (EntryStore)
              Proxy.newProxyInstance(
                  EntryStore.class.getClassLoader(),
                  new Class<?>[] {EntryStore.class},
                  (proxy, method, arguments) -> {
                    if (method.getName().equals("step") && left[0]-- == 0) {
                      throw new InternalError("taken away");
                    }
                    return method.invoke(whole, arguments);
                  });
      open(new ImmediateLog(0), 100, 0);
      final int[] answers = new int[1];
      for (int i = 0; i < 2; i++) {
        final PutBatch batch = new PutBatch(answered -> answers[0]++);
        batch.append(partition, RECORD);
        batch.submit();
      }
      assertEquals(2, answers[0], "steps=" + steps);
      assertEquals(left[0] < 0 ? 1 : 0, errors.size(), () -> "errors=" + errors);
      errors.clear();
    }
  }

  @Test
  void theOldestRecordsMakeRoom() {
    final long one = bytesOfOne();
    open(late, 0, 10 * one);
    append(10);
    late.commitAll();
    assertEquals(0, removals(), "there is just room for all");
    append(5);
    late.commitAll();
    assertEquals(5, removals());
    append(2);
    assertEquals(5, removals(), "removals are under way");
    late.commitAll();
    late.commitAll();
    late.commitAll();
    assertEquals(10 * one, store.bytes());
    assertEquals(10, offsets().size());
    assertEquals(7, removals());
  }

  @Test
  void aRecordThatAClientIsDeletingMakesRoom() {
    open(late, 0, 10 * bytesOfOne());
    append(10);
    late.commitAll();
    append(1);
    partition.submit(new Write(write -> {}).delete(AppendDescriptor.key(1)));
    late.commit(1);
    for (int i = 0; i < 3; i++) { // each looks at the size again
      partition.submit(new Write(write -> {}).read(AppendDescriptor.key(5)));
    }
    late.commitAll();
    assertEquals(0, removals());
    assertEquals(LongStream.rangeClosed(2, 11).boxed().toList(), offsets());
    append(2);
    late.commitAll();
    late.commitAll();
    assertEquals(2, removals());
  }

  @Test
  void theNewestRecordStaysThoughAClientDeletesTheOneBehindIt() {
    open(late, 100, 0);
    append(2);
    late.commitAll();
    time.passSlowly(50); // both are looked at
    partition.submit(new Write(write -> {}).delete(AppendDescriptor.key(2)));
    time.passSlowly(200); // the first one is due before the deletion is committed
    assertEquals(0, removals());
    late.commitAll();
    time.passSlowly(200);
    late.commitAll();
    assertEquals(List.of(1L), offsets());
    append(2);
    late.commitAll();
    time.passSlowly(200);
    late.commitAll();
    assertEquals(1, offsets().size());
    assertEquals(2, removals());
  }

  @Test
  void aCycleReadsFewBytes() {
    open(late, 100, 0);
    final ByteString large = ByteString.copyFrom(new byte[400_000]);
    final PutBatch batch = new PutBatch(answered -> {});
    for (int i = 0; i < 20; i++) {
      batch.append(partition, large);
    }
    batch.submit();
    late.commitAll();
    time.pass(500);
    late.commitAll();
    partition.submit(new Write(write -> {}).read(AppendDescriptor.key(1)));
    while (late.committedRecords() < late.records().size()) {
      late.commitAll();
    }
    assertEquals(19, removals());
    assertEquals(1, offsets().size());
  }

  @Test
  void aCycleRemovesFew() {
    open(late, 100, 0);
    append(200);
    for (int i = 0; i < 10; i++) {
      late.commit(20);
    }
    time.pass(500);
    while (late.committedRecords() < late.records().size()) {
      late.commit(10);
    }
    assertEquals(199, removals());
    assertEquals(1, offsets().size());
    assertTrue(
        late.mostAppendedBetweenLooks() <= ExpiryCycle.LIMIT + WriteCycle.CYCLE_LIMIT,
        () -> "most=" + late.mostAppendedBetweenLooks());
  }

  @Test
  void aLogWithoutRoomDelaysRemovals() {
    open(late, 100, 0);
    append(3);
    late.commitAll();
    late.scarce(Write::isExpired);
    time.passSlowly(200);
    assertEquals(0, removals());
    late.scarce(false);
    time.passSlowly(ExpiryCycle.TICK_MS);
    assertEquals(2, removals());
    late.commitAll();
    assertEquals(List.of(3L), offsets());
  }

  @Test
  void recordsThatAClientRemovesArePassedBy() {
    open(late, 100, 0);
    append(6);
    late.commitAll();
    final Write applied = new Write(write -> {}).delete(AppendDescriptor.key(1));
    partition.submit(applied);
    late.commitAll();
    final Write underWay = new Write(write -> {}).delete(AppendDescriptor.key(2));
    partition.submit(underWay);
    time.passSlowly(120);
    late.commitAll();
    assertTrue(applied.existed() && underWay.existed());
    assertEquals(List.of(6L), offsets());
    assertEquals(3, removals());
  }
}
