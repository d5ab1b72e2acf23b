package dev.ringfetch.index.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.ReportedErrors;
import dev.ringfetch.index.disk.CrashingDisk;
import dev.ringfetch.index.disk.SimulatedDisk;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Snapshots step by step: when they begin, what they leave, and what they do when they fail. */
class SnapshotCycleTest {
  private final SimulatedDisk disk = new SimulatedDisk();

  private List<String> snapshotFiles() {
    return disk.names().stream().filter(name -> name.startsWith("snapshot-")).toList();
  }

  private List<Long> segments() {
    return disk.names().stream()
        .map(SegmentDescriptor::number)
        .filter(number -> number > 0)
        .toList();
  }

  @Test
  void anAnsweredSnapshotSurvivesALossOfPower() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.put("a", 100);
    life.ask();
    while (life.taken.isEmpty()) {
      life.snapshots.work(0);
    }
    disk.powerCut(
        new Random() {
          @Override
          public int nextInt(int bound) {
            return 0; // nothing survives that need not
          }
        });
    assertEquals(1, new SnapshotLife(disk, 2).journal.recoveredSnapshot());
  }

  @Test
  void whatAsksWhileOneIsUnderWayGetsTheNext() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.put("a", 100);
    life.ask();
    life.waiting = true;
    life.snapshots.work(0);
    life.snapshots.work(0);
    life.put("b", 100);
    life.ask();
    life.waiting = false;
    life.work();
    assertEquals(2, life.taken.size());
    assertEquals(List.of(1L, 2L), life.taken.stream().map(SnapshotCycle.Taken::number).toList());
    assertTrue(life.taken.get(1).begin() > life.taken.get(0).begin());
  }

  @Test
  void aFullDiskFailsTheSnapshotAloneAndGetsItsRoomBack() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.flood(3);
    life.ask();
    life.snapshots.work(0); // begins
    life.snapshots.work(0); // writes a part
    assertEquals(1, snapshotFiles().size());
    disk.full(true);
    life.work();
    assertEquals(1, life.failures.size());
    assertEquals(List.of(), snapshotFiles());
    assertNotNull(life.snapshots.obstacle());
    assertFalse(life.journal.isFailed());
    disk.full(false);
    life.snapshot();
    assertNull(life.snapshots.obstacle());
    assertEquals(List.of(SnapshotDescriptor.name(1)), snapshotFiles());
  }

  @Test
  void aJournalWithoutRoomEndsASnapshot() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.flood(2);
    life.ask();
    life.snapshots.work(0);
    disk.full(true);
    life.flood(2); // turns to the next segment, and finds no room for another
    assertNotNull(life.journal.obstacle());
    life.work();
    assertEquals(List.of(), snapshotFiles());
    assertTrue(life.failures.get(0).getMessage().contains("room"));
  }

  /** A snapshot, and more than a segment behind it: the next one has something to remove. */
  private void writeBegin() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.flood(5);
    life.snapshot();
    disk.kill();
  }

  @Test
  void anErrorAtEachCallFailsTheSnapshotAlone() throws IOException {
    writeBegin();
    int failed = 0;
    for (int call = 0; call < 24; call++) {
      final SimulatedDisk own = disk.copy();
      final SnapshotLife life = new SnapshotLife(own, 2);
      life.flood(1);
      life.ask();
      own.failAfter(call, SimulatedDisk.Fault.IO_ERROR);
      life.work();
      own.failAfter(-1, SimulatedDisk.Fault.IO_ERROR);
      failed += life.failures.size();
      assertFalse(life.journal.isFailed());
      life.put("a", 100);
      assertEquals(life.versions(), new SnapshotLife(own.copy(), 3).versions());
      life.snapshot();
      assertEquals(life.versions(), new SnapshotLife(own, 3).versions());
    }
    assertTrue(failed >= 8, "failed=" + failed);
  }

  @Test
  void theEndAtEachCallLeavesWhatTheNextStartReads() throws IOException {
    final Random random = new Random(Long.getLong("ringfetch.seed", 20261127));
    writeBegin();
    int crashed = 0;
    for (int call = 0; call < 24; call++) {
      final SimulatedDisk own = disk.copy();
      final CrashingDisk crashing = new CrashingDisk(own);
      final SnapshotLife life = new SnapshotLife(own, crashing, 2);
      life.flood(1);
      life.ask();
      crashing.crashAfter(call);
      try {
        life.work();
      } catch (CrashingDisk.Crash crash) {
        crashed++;
      }
      if (random.nextBoolean()) {
        own.powerCut(random);
      } else {
        own.kill();
      }
      final SnapshotLife next = new SnapshotLife(own, 3);
      assertEquals(life.versions(), next.versions());
      next.snapshot();
      assertEquals(life.versions(), new SnapshotLife(own, 4).versions());
    }
    assertTrue(crashed >= 8, "crashed=" + crashed);
  }

  @Test
  void afterAFailureTheNextTryIsLater() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    final SnapshotCycle often = new SnapshotCycle(life.journal, disk, life, 1);
    life.put("a", 100);
    disk.full(true);
    while (often.obstacle() == null) {
      often.work(0);
    }
    disk.full(false);
    long nowNs = SnapshotCycle.RETRY_NS - 1;
    often.work(nowNs);
    assertEquals(List.of(), snapshotFiles());
    nowNs++;
    for (int i = 0; i < 10; i++) {
      often.work(nowNs);
    }
    assertEquals(1, often.taken());
  }

  @Test
  void enoughJournalBeginsASnapshot() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    final SnapshotCycle cycle = new SnapshotCycle(life.journal, disk, life, 2 << 20);
    life.flood(1);
    for (int i = 0; i < 10; i++) {
      cycle.work(0);
    }
    assertEquals(0, cycle.taken());
    life.flood(1);
    for (int i = 0; i < 20; i++) {
      cycle.work(0);
    }
    assertEquals(1, cycle.taken());
  }

  @Test
  void twoSnapshotsStayAndTheSegmentsFromTheOlderOnesBegin() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.flood(5);
    life.snapshot();
    assertEquals(1, segments().get(0)); // the journal is the second way to each entry
    for (int i = 0; i < 3; i++) {
      life.flood(5);
      life.snapshot();
    }
    assertEquals(List.of(SnapshotDescriptor.name(3), SnapshotDescriptor.name(4)), snapshotFiles());
    final SegmentFile first =
        SegmentFile.read(
            disk, SegmentDescriptor.name(segments().get(0)), segments().get(0), JournalLife.ORIGIN);
    final long begin = life.taken.get(2).begin();
    assertTrue(first.base() <= begin && begin < first.end(), first + " begin=" + begin);
    // At most what two intervals between snapshots write, and the segments around them.
    assertTrue(segments().size() <= 6, segments().toString());
  }

  /** Two snapshots, and a crash before the first removal of what they make needless. */
  private SnapshotLife crashBeforeRemovals() throws IOException {
    SnapshotLife life = new SnapshotLife(disk, 1);
    for (int i = 0; i < 2; i++) {
      life.flood(5);
      life.snapshot();
    }
    life.flood(5);
    life.ask();
    while (life.taken.size() < 3) {
      life.snapshots.work(0);
    }
    disk.kill();
    return life;
  }

  @Test
  void whatAServerThatEndedHasLeftIsRemovedAtTheStart() throws IOException {
    final SnapshotLife ended = crashBeforeRemovals();
    final long needless = segments().get(0);
    assertEquals(3, snapshotFiles().size());
    disk.full(true);
    final SnapshotLife life = new SnapshotLife(disk, 2);
    life.work();
    assertEquals(2, snapshotFiles().size());
    final SegmentFile first =
        SegmentFile.read(
            disk, SegmentDescriptor.name(segments().get(0)), segments().get(0), JournalLife.ORIGIN);
    final long begin = ended.taken.get(1).begin();
    assertTrue(first.number() > needless, "nothing was removed: " + first);
    assertTrue(first.base() <= begin && begin <= first.end(), first + " begin=" + begin);
    disk.kill();
    assertEquals(ended.versions(), new SnapshotLife(disk, 3).versions());
  }

  @Test
  void nothingIsRemovedAtTheStartWhereTheOlderSnapshotIsDamaged() throws IOException {
    crashBeforeRemovals();
    disk.content(SnapshotDescriptor.name(2))[SnapshotDescriptor.BATCH_OFFSET + 100] ^= 1;
    final List<String> before = disk.names();
    new SnapshotLife(disk, 2).work();
    assertEquals(before, disk.names());
  }

  @Test
  void nothingIsRemovedAtTheStartWhereTheNewestSnapshotIsDamaged() throws IOException {
    crashBeforeRemovals();
    disk.content(SnapshotDescriptor.name(3))[SnapshotDescriptor.BATCH_OFFSET + 100] ^= 1;
    final List<String> before = disk.names();
    new SnapshotLife(disk, 2).work();
    assertEquals(before, disk.names());
  }

  @Test
  void removalsAreAnnouncedBeforeTheFirstOne() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.flood(5);
    life.snapshot();
    assertEquals(0, life.segmentsBefore);
    life.flood(5);
    life.ask();
    while (life.taken.size() < 2) {
      life.snapshots.work(0);
    }
    final int before = segments().size();
    life.work();
    assertTrue(segments().size() < before, "nothing was removed");
    assertEquals(before, life.segmentsBefore);
  }

  @Test
  void theExceptionOfOneThatAskedIsReported() throws Throwable {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.put("a", 100);
    final RuntimeException thrown = new IllegalStateException("its client is gone");
    life.snapshots.ask(
        new SnapshotCycle.Listener() {
          @Override
          public void onSnapshot(SnapshotCycle.Taken snapshot) {
            throw thrown;
          }

          @Override
          public void onFailure(IOException failure) {}
        });
    // The other one that asks is told.
    assertEquals(List.of(thrown), ReportedErrors.of(SnapshotCycle.class, life::snapshot));
  }

  @Test
  void anEndGivesUpWhatIsUnderWay() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.put("a", 100);
    life.ask();
    life.waiting = true;
    life.work();
    life.snapshots.close();
    assertEquals(1, life.failures.size());
    assertEquals(List.of(), snapshotFiles());
    life.ask();
    assertEquals(2, life.failures.size());
  }

  /** The journal ends where its segment does: nothing of the next one is written yet. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aSegmentIsFullToItsLastByte(int snapshots) throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    int puts = 0;
    while (left(life) > (1 << 20)) {
      life.put("key" + puts++, 300_000);
    }
    final String last = "last key"; // 8 bytes: what is left is a multiple of them
    final int record = (int) left(life) - BatchDescriptor.RECORD_OFFSET;
    life.put(last, record - JournalRecord.length(last.length(), 0));
    assertEquals(0, left(life));
    for (int i = 0; i < snapshots; i++) {
      life.snapshot();
    }
    if (snapshots > 0) {
      final SimulatedDisk copy = new SimulatedDisk();
      JournalCopy.of(disk.copy(), copy, JournalLife.ORIGIN);
      final SnapshotLife restored = new SnapshotLife(copy, 2);
      assertTrue(restored.journal.isCopied());
      assertEquals(life.versions(), restored.versions());
    }
    final SimulatedDisk killed = disk.copy();
    killed.kill();
    assertEquals(life.versions(), new SnapshotLife(killed, 2).versions());
    life.journal.close();
    final SimulatedDisk ended = disk.copy();
    ended.kill();
    final SnapshotLife next = new SnapshotLife(ended, 2);
    assertEquals(life.versions(), next.versions());
    next.put("more", 10);
    ended.kill();
    assertEquals(next.versions(), new SnapshotLife(ended, 3).versions());
  }

  private static long left(SnapshotLife life) {
    return JournalLife.SEGMENT_LENGTH - life.journal.durable();
  }
}
