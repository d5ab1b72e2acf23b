package dev.ringfetch.index.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a partition tells the listener of its changes, and when. */
final class ChangeListenerTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString OTHER = ByteString.copyFromUtf8("other");

  private final LateLog log = new LateLog(100, 1);
  private final BookStore store = new BookStore(1_000_000);
  private final Partition partition =
      new Partition(
          store,
          log,
          64,
          failure -> {
            throw new AssertionError(failure);
          },
          Handover.never());

  /** Notes what it is told. */
  private final class Notes implements ChangeListener {
    final List<String> told = new ArrayList<>();
    int cycles;

    @Override
    public void begin(long lsn) {
      told.add("begin " + lsn);
    }

    @Override
    public void onChange(Write change) {
      final boolean isThere = store.read(change.key()) != null;
      told.add(
          change.kind()
              + " "
              + change.version()
              + (change.creates() ? " new" : "")
              + " "
              + isThere);
    }

    @Override
    public void onCycleEnd() {
      cycles++;
    }
  }

  private void submit(Write write) {
    assertEquals(0, partition.submit(write));
  }

  private static Write write() {
    return new Write(answer -> {});
  }

  @Test
  void changesAreToldAfterTheirCommitAndApplication() {
    final Notes notes = new Notes();
    partition.submit(OwnerTask.watch(notes, task -> {}));
    submit(write().put(KEY, KEY));
    submit(write().put(KEY, OTHER));
    submit(write().compareAndSet(OTHER, 0, KEY));
    submit(write().compareAndSet(OTHER, 0, KEY)); // lost
    submit(write().read(KEY));
    submit(write().delete(KEY));
    submit(write().delete(KEY)); // absent
    assertEquals(List.of("begin 100"), notes.told);
    log.commit(1);
    assertEquals(List.of("begin 100", "PUT 101 new true"), notes.told);
    log.commitAll();
    assertEquals(
        List.of(
            "begin 100",
            "PUT 101 new true",
            "PUT 102 true",
            "COMPARE_AND_SET 103 new true",
            "DELETE 104 false"),
        notes.told);
  }

  @Test
  void aListenerBeginsBehindWhatIsApplied() {
    submit(write().put(KEY, KEY));
    log.commitAll();
    submit(write().put(KEY, OTHER));
    submit(write().put(OTHER, OTHER));
    final Notes notes = new Notes();
    partition.submit(OwnerTask.watch(notes, task -> {}));
    assertEquals(List.of("begin 101"), notes.told);
    log.commitAll();
    assertEquals(List.of("begin 101", "PUT 102 true", "PUT 103 new true"), notes.told);
    partition.submit(OwnerTask.watch(notes, task -> {})); // it is the one already
    assertEquals(3, notes.told.size());
  }

  @Test
  void anEndThatComesLateEndsNoOtherListener() {
    final Notes first = new Notes();
    final Notes second = new Notes();
    partition.submit(OwnerTask.watch(first, task -> {}));
    partition.submit(OwnerTask.watch(second, task -> {}));
    partition.submit(OwnerTask.unwatch(first, task -> {}));
    submit(write().put(KEY, KEY));
    log.commitAll();
    assertEquals(List.of("begin 100"), first.told);
    assertEquals(List.of("begin 100", "PUT 101 new true"), second.told);
    partition.submit(OwnerTask.unwatch(second, task -> {}));
    final int cycles = second.cycles;
    submit(write().put(KEY, OTHER));
    log.commitAll();
    assertEquals(2, second.told.size());
    assertEquals(cycles, second.cycles);
  }
}
