package dev.ringfetch.index.journal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.disk.SimulatedDisk.Fault;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A journal: what is committed when, what the next server finds, and what it refuses. */
class JournalTest {
  private final SimulatedDisk disk = new SimulatedDisk();

  private static Write put(int number, int length) {
    return new Write(write -> {})
        .put(ByteString.copyFromUtf8("key" + number), ByteString.copyFrom(new byte[length]));
  }

  private PartitionLog log(JournalLife life, Durability durability, List<Long> commits) {
    final PartitionLog log = new PartitionLog(life.journal, 7, 3, durability, 0);
    log.onCommit(() -> commits.add(log.committed()));
    return log;
  }

  @Test
  void aRecordIsCommittedWhenItIsSynced() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    final List<Long> commits = new ArrayList<>();
    final PartitionLog log = log(life, Durability.DISK, commits);
    assertEquals(1, log.append(put(1, 10)));
    assertEquals(2, log.append(put(2, 10)));
    assertEquals(0, log.committed());
    life.work();
    assertEquals(2, log.committed());
    assertEquals(List.of(2L), commits);

    disk.powerCut(new Random(1));
    final JournalLife next = new JournalLife(disk, 2);
    assertEquals(2, next.recovered(7).size());
    assertEquals(ByteString.copyFromUtf8("key2"), next.recovered(7).get(1).key());
    assertEquals(1, next.recovered(7).get(1).epoch());
  }

  @Test
  void withAnIntervalItIsCommittedAtOnceAndSyncedLater() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    life.work();
    final PartitionLog log = log(life, Durability.INTERVAL, new ArrayList<>());
    assertEquals(1, log.append(put(1, 10)));
    assertEquals(1, log.committed());
    final int syncs = disk.syncs();
    assertEquals(JournalLife.INTERVAL_NS, life.journal.work(life.nowNs));
    assertEquals(syncs, disk.syncs());
    life.nowNs += JournalLife.INTERVAL_NS;
    life.work();
    assertEquals(syncs + 1, disk.syncs());

    disk.powerCut(new Random(1));
    assertEquals(1, new JournalLife(disk, 2).recovered(7).size());
  }

  @Test
  void syncsAndWaitingRecordsAreCounted() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    life.work();
    final PartitionLog log = log(life, Durability.INTERVAL, new ArrayList<>());
    final JournalCounts counts = life.journal.counts();
    assertEquals(0, counts.syncs());
    assertEquals(0, counts.waitingNs(life.nowNs));
    log.append(put(1, 10));
    log.append(put(2, 10));
    life.work();
    assertEquals(7, counts.waitingNs(life.nowNs + 7));
    life.nowNs += JournalLife.INTERVAL_NS;
    life.work();
    assertEquals(1, counts.syncs());
    assertEquals(2, counts.records());
    assertEquals(0, counts.waitingNs(life.nowNs + 7));
    final int record = RecordDescriptor.aligned(JournalRecord.length("key1".length(), 10));
    assertEquals(BatchDescriptor.RECORD_OFFSET + 2 * record, counts.bytes());
  }

  @Test
  void anUrgentRecordTakesTheOthersAlong() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    life.work();
    final PartitionLog lazy = log(life, Durability.INTERVAL, new ArrayList<>());
    final PartitionLog urgent = new PartitionLog(life.journal, 8, 0, Durability.DISK, 0);
    urgent.onCommit(() -> {});
    lazy.append(put(1, 10));
    life.work();
    urgent.append(put(2, 10));
    final int syncs = disk.syncs();
    life.work();
    assertEquals(syncs + 1, disk.syncs());
    disk.powerCut(new Random(1));
    final JournalLife next = new JournalLife(disk, 2);
    assertEquals(1, next.recovered(7).size());
    assertEquals(1, next.recovered(8).size());
  }

  @Test
  void aSequenceWaitsForTheIntervalUntilOneOfItsRecordsIsUrgent() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    life.work();
    final ByteString key = ByteString.copyFromUtf8("key");
    final AtomicInteger alarms = new AtomicInteger();
    life.journal.onWork(alarms::incrementAndGet);
    final CopiedLog log = life.journal.copies(() -> {});
    final byte[] record = new byte[JournalRecord.aligned(key, key, 0)];
    new JournalRecord()
        .begin(record, 0, RecordDescriptor.PUT, key, key)
        .partition(7, 0)
        .place(1, 1)
        .end();
    final int syncs = disk.syncs();
    assertTrue(log.append(record, 0, record.length, false));
    assertEquals(JournalLife.INTERVAL_NS, life.journal.work(life.nowNs));
    assertTrue(log.append(record, 0, record.length, false));
    assertEquals(JournalLife.INTERVAL_NS, life.journal.work(life.nowNs));
    assertEquals(1, alarms.get());
    assertTrue(log.append(record, 0, record.length, true));
    assertEquals(2, alarms.get()); // the journal's thread sleeps
    life.work();
    assertEquals(syncs + 1, disk.syncs());
    assertEquals(3, log.durable());

    assertTrue(log.append(record, 0, record.length, false));
    assertEquals(JournalLife.INTERVAL_NS, life.journal.work(life.nowNs));
    assertEquals(3, log.durable());
    life.nowNs += JournalLife.INTERVAL_NS;
    life.work();
    assertEquals(4, log.durable());
  }

  @Test
  void aKilledServerLosesNoRecordThatWasWritten() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    final PartitionLog log = log(life, Durability.DISK, new ArrayList<>());
    for (int i = 1; i <= 100; i++) {
      log.append(put(i, i));
      life.work();
    }
    disk.kill();
    final JournalLife next = new JournalLife(disk, 2);
    assertEquals(100, next.recovered(7).size());
    assertEquals(100, next.recovered(7).get(99).value().size());
  }

  /** The answer does not wait for the checkpoint, so that may not know of it. */
  @Test
  void aRecordThatWasAnsweredBeforeTheCheckpointIsThere() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    life.work();
    final List<Long> commits = new ArrayList<>();
    final PartitionLog log = log(life, Durability.DISK, commits);
    log.append(put(1, 10));
    disk.failAfter(2, Fault.IO_ERROR); // behind write and sync, the checkpoint
    life.work();
    assertEquals(List.of(1L, CommitLog.FAILED), commits);
    assertTrue(life.journal.isFailed());
    disk.powerCut(new Random(1));
    final JournalLife next = new JournalLife(disk, 2);
    assertEquals(1, next.recovered(7).size());
    disk.powerCut(new Random(2));
    assertEquals(1, new JournalLife(disk, 3).recovered(7).size());
  }

  @Test
  void aLastRecordThatEndsWithZerosIsWhole() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    final PartitionLog log = log(life, Durability.DISK, new ArrayList<>());
    log.append(put(1, 1 << 20)); // zeros, of which the segment's next MiB has nothing else
    life.work();
    disk.kill();
    final JournalLife next = new JournalLife(disk, 2);
    assertEquals(1, next.recovered(7).size());
    assertEquals(1 << 20, next.recovered(7).get(0).value().size());
  }

  @Test
  void theNextServerGoesOnBehind() throws IOException {
    long lsn = 0;
    for (int epoch = 1; epoch <= 5; epoch++) {
      final JournalLife life = new JournalLife(disk, epoch);
      assertEquals(lsn, life.recovered(7).size());
      final PartitionLog log = new PartitionLog(life.journal, 7, 3, Durability.DISK, lsn);
      log.onCommit(() -> {});
      lsn = log.append(put(epoch, 10));
      life.work();
      assertEquals(lsn, log.committed());
      life.journal.close();
      disk.kill();
    }
  }

  @Test
  void recordsGoOnInTheNextSegment() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    final PartitionLog log = log(life, Durability.DISK, new ArrayList<>());
    int records = 0;
    while (!disk.list().contains(SegmentDescriptor.name(5))) {
      assertEquals(records + 1, log.append(put(records, 300_000 + records)));
      records++;
      life.work();
      assertEquals(records, log.committed());
    }
    disk.powerCut(new Random(1));
    final JournalLife next = new JournalLife(disk, 2);
    assertEquals(records, next.recovered(7).size());
    assertEquals(300_000 + records - 1, next.recovered(7).get(records - 1).value().size());
  }

  @Test
  void theLongestRecordsAreTakenOneByOne() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    life.work();
    final PartitionLog log = log(life, Durability.DISK, new ArrayList<>());
    final ByteString key = ByteString.copyFrom(new byte[RecordDescriptor.KEY_LIMIT]);
    final ByteString value = ByteString.copyFrom(new byte[1 << 20]);
    for (int i = 1; i <= 10; i++) {
      assertEquals(i, log.append(new Write(write -> {}).put(key, value)));
      life.work();
      assertEquals(i, log.committed());
    }
    disk.kill();
    assertEquals(10, new JournalLife(disk, 2).recovered(7).size());
  }

  @Test
  void aFullDiskRefusesPutsThenDeletesAndTakesThemAgain() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    life.work();
    disk.full(true);
    final PartitionLog log = log(life, Durability.DISK, new ArrayList<>());
    long last = 0;
    long lsn;
    while ((lsn = log.append(put(1, 100_000))) > 0) {
      last = lsn;
      life.work();
      assertEquals(last, log.committed());
    }
    assertEquals(CommitLog.FULL, lsn);
    assertNotNull(life.journal.obstacle());
    final Write delete = new Write(write -> {}).delete(ByteString.copyFromUtf8("key1"));
    final long lastPut = last;
    while ((lsn = log.append(delete)) > 0) {
      last = lsn;
      life.work();
    }
    assertEquals(CommitLog.FULL, lsn);
    assertTrue(last - lastPut > 1000, "deletes=" + (last - lastPut));
    assertEquals(last, log.committed());
    assertFalse(life.journal.isFailed());

    disk.full(false);
    life.nowNs += 2_000_000_000L;
    life.work();
    assertNull(life.journal.obstacle());
    assertEquals(last + 1, log.append(put(1, 100_000)));
    life.work();
    assertEquals(last + 1, log.committed());
    disk.powerCut(new Random(1));
    assertEquals(last + 1, new JournalLife(disk, 2).recovered(7).size());
  }

  @Test
  void aFullDiskIsToldOnceWhenItBeginsAndOnceWhenItEnds() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    disk.full(true);
    life.nowNs = 5_000_000_000L;
    for (int i = 0; i < 4; i++) { // each of which tries again
      life.work();
      life.nowNs += 2_000_000_000L;
    }
    assertEquals(1, life.obstacles.size());
    assertEquals(life.obstacles.get(0).getMessage(), life.journal.obstacle().getMessage());
    assertEquals(8_000_000_000L, life.journal.obstacleNs());
    disk.full(false);
    life.work();
    assertEquals(2, life.obstacles.size());
    assertNull(life.obstacles.get(1));
    assertEquals(0, life.journal.obstacleNs());
    life.nowNs += 2_000_000_000L;
    life.work();
    assertEquals(2, life.obstacles.size());
  }

  /** The disk takes what it is given, and the next segment is not ready yet. */
  @Test
  void recordsWaitForTheNextSegment() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    final List<Boolean> told = new ArrayList<>();
    final PartitionLog log = new PartitionLog(life.journal, 7, 3, Durability.INTERVAL, 0);
    log.onCommit(() -> told.add(log.hasRoom()));
    assertTrue(log.hasRoom());
    long last = 0;
    long lsn;
    while ((lsn = log.append(put(1, 100_000))) > 0) {
      last = lsn;
    }
    assertEquals(CommitLog.LATER, lsn);
    assertNull(life.journal.obstacle());
    assertFalse(log.hasRoom());
    life.journal.work(life.nowNs);
    assertEquals(List.of(false, false), told, "of the sync, and that there may be room");
    life.work();
    assertEquals(List.of(false, false, true), told);
    assertEquals(last + 1, log.append(put(1, 100_000)));
    assertEquals(last + 1, log.committed());
  }

  /** Both segments are full of records that are not due for long. */
  @Test
  void recordsThatTakeTheRoomAreDueAtOnce() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    life.work();
    final List<Long> commits = new ArrayList<>();
    final PartitionLog log = log(life, Durability.INTERVAL, commits);
    final int[] alarms = {0};
    life.journal.onWork(() -> alarms[0]++);
    int before;
    long lsn;
    do {
      before = alarms[0];
      lsn = log.append(put(1, 500_000));
    } while (lsn > 0);
    assertEquals(CommitLog.LATER, lsn);
    assertEquals(before + 1, alarms[0]);
    assertFalse(log.hasRoom());
    assertEquals(before + 1, alarms[0]);
    life.work();
    assertTrue(log.hasRoom());
    assertFalse(commits.isEmpty());
    assertTrue(log.append(put(1, 500_000)) > 0);
  }

  @Test
  void aDiskThatTurnsOutToBeFullEndsTheWaitForRoom() throws IOException {
    final JournalLife first = new JournalLife(disk, 1);
    disk.full(true);
    final PartitionLog log = log(first, Durability.DISK, new ArrayList<>());
    long last = 0;
    for (long lsn = 0; lsn >= 0; lsn = log.append(put(1, 100_000))) {
      last = lsn;
      first.work();
    }
    disk.kill();

    final JournalLife life = new JournalLife(disk, 2);
    final int[] told = {0};
    final PartitionLog next = new PartitionLog(life.journal, 7, 3, Durability.DISK, last);
    next.onCommit(() -> told[0]++);
    assertEquals(CommitLog.LATER, next.append(put(1, 100_000)));
    assertFalse(next.hasRoom());
    disk.full(true);
    life.work();
    assertNotNull(life.journal.obstacle());
    assertEquals(1, told[0]);
    assertTrue(next.hasRoom());
    assertEquals(CommitLog.FULL, next.append(put(1, 100_000)));
    assertTrue(next.append(new Write(write -> {}).delete(ByteString.copyFromUtf8("key1"))) > 0);
    assertTrue(next.hasRoom());
  }

  @Test
  void aFailureEndsTheWaitForRoom() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    final PartitionLog log = log(life, Durability.INTERVAL, new ArrayList<>());
    while (log.append(put(1, 100_000)) > 0) {
      // until there is no room
    }
    assertFalse(log.hasRoom());
    disk.failAfter(0, Fault.IO_ERROR);
    life.work();
    assertTrue(log.hasRoom());
    assertEquals(CommitLog.FAILED, log.append(put(1, 100_000)));
  }

  @Test
  void aFullDiskIsRecovered() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    life.work();
    final PartitionLog log = log(life, Durability.DISK, new ArrayList<>());
    log.append(put(1, 10));
    life.work();
    disk.kill();
    disk.full(true);
    final JournalLife next = new JournalLife(disk, 2);
    final PartitionLog nextLog = new PartitionLog(next.journal, 7, 3, Durability.DISK, 1);
    nextLog.onCommit(() -> {});
    assertEquals(2, nextLog.append(put(2, 10)));
    next.work();
    assertEquals(2, nextLog.committed());
  }

  @Test
  void theFirstFailedSyncEndsIt() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    life.work();
    final List<Long> commits = new ArrayList<>();
    final PartitionLog log = log(life, Durability.DISK, commits);
    final PartitionLog lazy = new PartitionLog(life.journal, 8, 0, Durability.INTERVAL, 0);
    lazy.onCommit(() -> {});
    log.append(put(1, 10));
    disk.failAfter(1, Fault.IO_ERROR); // the write, then the sync
    life.work();
    assertTrue(life.journal.isFailed());
    assertEquals(List.of(CommitLog.FAILED), commits);
    assertEquals(1, life.errors.size());
    assertEquals(CommitLog.FAILED, log.append(put(2, 10)));
    assertEquals(CommitLog.FAILED, lazy.append(put(2, 10)));
    assertEquals(CommitLog.FAILED, lazy.committed());
  }

  /** The directory is lost before a record is written, and before it is answered. */
  @Test
  void aDirectoryThatIsAnotherServersIsNotWrittenAndNothingIsAnswered() throws IOException {
    for (int checks = 0; checks < 2; checks++) {
      final SimulatedDisk lost = new SimulatedDisk();
      final JournalLife life = new JournalLife(lost, 1);
      life.work();
      final List<Long> commits = new ArrayList<>();
      final PartitionLog log = log(life, Durability.DISK, commits);
      log.append(put(1, 10));
      life.ownerChecks = checks;
      life.work();
      assertTrue(life.journal.isFailed());
      assertEquals(List.of(CommitLog.FAILED), commits);
      assertEquals("another server's", life.errors.get(0).getMessage());
      lost.powerCut(new Random(1));
      assertEquals(checks, new JournalLife(lost, 2).recovered(7).size());
    }
  }

  /** The successor has the same name for its next segment. */
  @Test
  void theSegmentOfALaterOwnerStays() throws IOException {
    final String next = SegmentDescriptor.name(2);
    final byte[] theirs = {1, 2, 3};
    for (int checks = 0; checks < 2; checks++) {
      final SimulatedDisk lost = new SimulatedDisk();
      final JournalLife life = new JournalLife(lost, 1);
      assertFalse(lost.names().contains(next));
      life.ownerChecks = checks;
      if (checks > 0) { // it takes the directory as this one finds no room
        lost.onNextWrite(
            () -> {
              lost.content(next, theirs);
              lost.full(true);
            });
      } else {
        lost.content(next, theirs);
      }
      life.work();
      lost.full(false);
      life.nowNs += 60_000_000_000L;
      life.work();
      assertTrue(life.journal.isFailed());
      assertEquals("another server's", life.errors.get(0).getMessage());
      assertArrayEquals(theirs, lost.content(next));
    }
  }

  @Test
  void moreThanACycleTakesIsDueAtOnce() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    life.work();
    final PartitionLog log = log(life, Durability.INTERVAL, new ArrayList<>());
    final PartitionLog other = new PartitionLog(life.journal, 8, 0, Durability.INTERVAL, 0);
    other.onCommit(() -> {});
    for (int i = 0; i < 6; i++) {
      assertTrue(log.append(put(i, 500_000)) > 0);
      assertTrue(other.append(put(i, 500_000)) > 0);
    }
    life.work();
    life.nowNs += JournalLife.INTERVAL_NS;
    life.work();
    disk.powerCut(new Random(1));
    final JournalLife next = new JournalLife(disk, 2);
    assertEquals(12, next.recovered(7).size() + next.recovered(8).size());
  }

  @Test
  void theNextSegmentIsReadyBeforeThisOneIsFull() throws IOException {
    final JournalLife life = new JournalLife(disk, 1);
    final PartitionLog log = log(life, Durability.DISK, new ArrayList<>());
    for (int i = 1; i <= 60; i++) { // a cycle takes them at once
      assertEquals(3L * i - 2, log.append(put(i, 400_000)));
      assertEquals(3L * i - 1, log.append(put(i, 400_000)));
      assertEquals(3L * i, log.append(put(i, 400_000)));
      life.journal.work(life.nowNs);
    }
  }

  @Test
  void aJournalOfAnotherDirectoryIsRefused() throws IOException {
    new JournalLife(disk, 1).work();
    disk.kill();
    final IOException refused =
        assertThrows(
            JournalDamagedException.class,
            () -> Journal.open(disk, new JournalContext().owner(99, 2), (record, place) -> {}));
    assertTrue(refused.getMessage().contains("of another directory"), refused.getMessage());
  }
}
