package dev.ringfetch.index.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.ReportedErrors;
import dev.ringfetch.index.call.Outcomes;
import dev.ringfetch.index.disk.SimulatedDisk;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a quota refuses, when it stops to, and the snapshots that it asks for. */
final class DiskQuotaTest {
  private static final long SECOND_NS = 1_000_000_000;

  private final List<IOException> reasons = new ArrayList<>();
  private long bytes;
  private IOException unmeasured;
  private int looks;
  private long nowNs;
  private final SimulatedDisk disk = new SimulatedDisk();
  private final DiskQuota quota =
      new DiskQuota(
          () -> {
            looks++;
            if (unmeasured != null) {
              throw unmeasured;
            }
            return bytes;
          },
          8_000,
          () -> nowNs,
          reasons::add);

  private void look(long present) {
    bytes = present;
    nowNs += SECOND_NS;
    quota.look(nowNs, 0);
  }

  @Test
  void refusesFromTheQuotaOnUntilItIsBelowSevenEighths() {
    look(6_999);
    assertFalse(quota.isNear());
    look(7_999);
    assertTrue(quota.isNear());
    assertFalse(quota.isExceeded());
    look(8_000);
    assertTrue(quota.isNear());
    assertTrue(quota.isExceeded());
    look(7_000);
    assertTrue(quota.isExceeded());
    look(6_999);
    assertFalse(quota.isNear());
    assertFalse(quota.isExceeded());
    look(7_000);
    assertFalse(quota.isExceeded());
  }

  @Test
  void saysOnceThatItRefusesWithTheNumbersAndOnceThatThisHasEnded() {
    look(8_000);
    look(9_000);
    assertEquals(1, reasons.size());
    assertEquals(SECOND_NS, quota.obstacle().ageNs());
    assertEquals(
        "the data directory exceeds its quota: bytes=9000 --disk-quota=8000; delete entries or drop"
            + " indexes, or raise the quota; puts go on below bytes=7000",
        quota.reason().getMessage());
    look(0);
    assertEquals(2, reasons.size());
    assertNull(reasons.get(1));
    assertNull(quota.reason());
    assertEquals(0, quota.obstacle().ageNs());
  }

  @Test
  void looksOnceASecond() {
    for (nowNs = 5; nowNs < 2 * SECOND_NS; nowNs += SECOND_NS / 10) {
      quota.look(nowNs, 0);
    }
    assertEquals(2, looks);
  }

  @Test
  void withoutAQuotaNothingIsMeasured() {
    final DiskQuota none =
        new DiskQuota(
            () -> {
              throw new IOException("measured");
            },
            0,
            () -> nowNs,
            reasons::add);
    none.look(0, 0);
    assertFalse(none.isNear());
  }

  @Test
  void aLookThatFailsChangesNothingAndIsReportedOnce() throws Throwable {
    look(8_000);
    final IOException first = new IOException("listing");
    unmeasured = first;
    assertEquals(
        List.of(first),
        ReportedErrors.of(
            DiskQuota.class,
            () -> {
              look(0);
              quota.look(nowNs + 1, 0); // not due
              look(0);
            }));
    assertTrue(quota.isExceeded());
    unmeasured = null;
    look(0);
    assertFalse(quota.isExceeded());
    unmeasured = new IOException("again");
    assertEquals(List.of(unmeasured), ReportedErrors.of(DiskQuota.class, () -> look(0)));
  }

  /** Works on snapshots once in each of some seconds, until nothing is due then. */
  private static void work(SnapshotLife life, int seconds) {
    for (int i = 0; i < seconds; i++) {
      life.life.nowNs += SECOND_NS;
      life.work();
    }
  }

  /** Works for three seconds, of which a snapshot that is due takes two. */
  private static void workSlowly(SnapshotLife life) {
    life.waiting = true;
    work(life, 2);
    life.waiting = false;
    work(life, 1);
  }

  /** The older of two snapshots still has the entries that were deleted. */
  @Test
  void nearItsQuotaADirectoryGetsTwoSnapshotsAfterEachChange() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.put("a", 100);
    work(life, 5);
    assertEquals(0, life.snapshots.taken());
    life.life.fill(JournalLife.QUOTA / 8 * 7);
    work(life, 5);
    assertEquals(2, life.snapshots.taken());
    life.put("b", 100);
    work(life, 5);
    assertEquals(4, life.snapshots.taken());
    life.put("c", 100);
    life.life.fill(JournalLife.QUOTA / 8 * 7 - 1);
    work(life, 5);
    assertEquals(4, life.snapshots.taken());
  }

  /** The snapshot under way may have what is deleted meanwhile. */
  @Test
  void twoMoreSnapshotsFollowAChangeDuringTheFirst() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.put("a", 100);
    life.life.fill(JournalLife.QUOTA);
    life.waiting = true;
    work(life, 1);
    life.put("b", 100);
    life.waiting = false;
    work(life, 5);
    assertEquals(3, life.snapshots.taken());
  }

  @Test
  void snapshotsForAQuotaPauseAfterTwo() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.put("a", 100);
    life.life.fill(JournalLife.QUOTA);
    workSlowly(life);
    assertEquals(1, life.snapshots.taken());
    workSlowly(life);
    assertEquals(2, life.snapshots.taken());
    life.put("b", 100);
    work(life, 17);
    assertEquals(2, life.snapshots.taken());
    workSlowly(life);
    assertEquals(3, life.snapshots.taken());
    work(life, 1);
    assertEquals(4, life.snapshots.taken());
  }

  @Test
  void anExceededQuotaEndsNoSnapshot() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.flood(2);
    life.ask();
    life.snapshots.work(0);
    life.life.fill(2 * JournalLife.QUOTA);
    work(life, 1);
    assertTrue(life.journal.obstacle().getMessage().contains("--disk-quota="));
    assertEquals(1, life.taken.size());
    assertEquals(List.of(), life.failures);
  }

  @Test
  void aLookThatFailsEndsNoSnapshot() throws Throwable {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.flood(2);
    life.ask();
    life.snapshots.work(0);
    life.life.unmeasured = new IOException("listing");
    assertEquals(
        List.of(life.life.unmeasured), ReportedErrors.of(DiskQuota.class, () -> work(life, 1)));
    assertEquals(1, life.taken.size());
    assertEquals(List.of(), life.failures);
  }

  /** A snapshot has a quarter of the quota: two, and the journal behind them, are below it. */
  @Test
  void snapshotsEndNoPuts() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    for (int i = 0; i < 200; i++) {
      life.put("key" + i % 16, (1 << 20) - 100);
      for (int second = 0; second < 16; second++) {
        life.life.nowNs += SECOND_NS;
        life.snapshots.work(life.life.nowNs); // at most a megabyte
        assertFalse(
            life.journal.quota().isExceeded(),
            () -> life.journal.quota().reason() + " taken=" + life.snapshots.taken());
      }
    }
    assertTrue(life.snapshots.newest().length() >= JournalLife.QUOTA / 4 - 2_000);
    assertTrue(life.snapshots.taken() >= 6, "taken=" + life.snapshots.taken());
  }

  @Test
  void aJournalWithoutRoomDoesNotNameTheQuota() throws IOException {
    final SnapshotLife life = new SnapshotLife(disk, 1);
    life.flood(2);
    life.life.fill(JournalLife.QUOTA);
    life.snapshots.work(SECOND_NS);
    final Outcomes outcomes = new Outcomes(null, "", null, null, () -> life.journal);
    assertTrue(outcomes.overQuota("index=a").getDescription().contains("--disk-quota="));
    assertFalse(outcomes.journalFull().getDescription().contains("quota"));
    disk.full(true);
    life.flood(2); // turns to the next segment, and finds no room for another
    assertTrue(
        outcomes.journalFull().getDescription().contains(life.journal.shortage().getMessage()));
  }

  @Test
  void putsAreNotRefusedBeforeTheirReasonIsThere() {
    final List<Boolean> exceeded = new ArrayList<>();
    final DiskQuota[] read = new DiskQuota[1];
    read[0] =
        new DiskQuota(
            () -> 8_000,
            8_000,
            () -> { // is read before
              exceeded.add(read[0].isExceeded());
              return nowNs;
            },
            reason -> exceeded.add(read[0].isExceeded()));
    read[0].look(0, 0);
    assertEquals(List.of(false, true), exceeded);
  }
}
