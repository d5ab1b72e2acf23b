package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.ReportedErrors;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.RecordLog;
import dev.ringfetch.index.onesided.OneSidedPath;
import dev.ringfetch.index.onesided.PeerMemory;
import dev.ringfetch.index.peers.FabricMemory;
import dev.ringfetch.index.v1.LogOffer;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A leader and a member over shared memory, in one process: each step by itself. */
final class OneSidedPathTest {
  private static final long GROUP = 3;
  private static final long EPOCH = 7;
  private static final int LENGTH = 8 << 10;

  @TempDir private Path directory;
  private FabricMemory memory;
  private PlacedRecords placed;
  private OneSidedPath path;
  private final RecordLog sent = new RecordLog(64 << 10);
  private final RecordLog.Cursor cursor = sent.new Cursor();
  private final RecordLog taken = new RecordLog(64 << 10);

  /** A member whose leader has the same memory. */
  private final class Member implements UnconnectedPeers {
    @Override
    public PeerMemory memory() {
      return memory;
    }
  }

  @BeforeEach
  void connect() throws IOException {
    memory = FabricMemory.open(List.of("shm"), directory, Runnable::run);
    placed =
        new PlacedRecords(
            new ReplicaContext(
                GROUP,
                Node.getDefaultInstance(),
                1,
                new Member(),
                null,
                () -> 0,
                () -> 1,
                new ReplicaContext.Limits(64 << 10, 64 << 10, LENGTH),
                failure -> {
                  throw new AssertionError(failure);
                }));
    path = offered(EPOCH, 0);
  }

  private OneSidedPath offered(long epoch, long begin) throws IOException {
    final LogOffer offer = placed.offer(memory.hints(), epoch);
    assertNotNull(offer);
    return new OneSidedPath(memory.connect(offer).join(), epoch, begin);
  }

  @AfterEach
  void close() {
    path.close();
    placed.close();
    memory.close();
  }

  private void append(int count, int valueLength) {
    append(count, valueLength, RecordDescriptor.PUT, 1);
  }

  private void append(int count, int valueLength, int type, long epoch) {
    for (int i = 0; i < count; i++) {
      final ByteString value = ByteString.copyFrom(new byte[valueLength]);
      final byte[] record = new byte[JournalRecord.aligned(ByteString.EMPTY, value, 0)];
      new JournalRecord()
          .begin(record, 0, type, ByteString.EMPTY, value)
          .partition(GROUP, 0)
          .place(epoch, sent.end() + 1)
          .end();
      sent.add(record, 0, record.length);
    }
  }

  private boolean work(long commit, long question) {
    return path.work(cursor, commit, question, 0);
  }

  private void takeAll() {
    while (placed.take(taken)) {}
  }

  private void expectSame() {
    assertEquals(sent.end(), taken.end());
    final RecordLog.Cursor one = sent.new Cursor();
    final RecordLog.Cursor other = taken.new Cursor();
    while (one.hasNext()) {
      assertTrue(other.hasNext());
      final long lsn = one.next().lsn();
      assertEquals(lsn, other.next().lsn());
    }
  }

  @Test
  void whatWasPlacedAndSeenIsReceivedBeforeTheMemberDoesAnything() {
    append(10, 20);
    assertTrue(work(0, 0));
    assertEquals(10, path.received());
    assertEquals(0, taken.end());
    takeAll();
    expectSame();
    assertEquals(0, placed.commit());
    append(1, 0);
    assertTrue(work(10, 4));
    assertEquals(4, path.confirmed());
    takeAll();
    assertEquals(10, placed.commit());
    expectSame();
  }

  @Test
  void longRecordAsksForRoomInARingThatIsNearlyEmpty() {
    append(1, LENGTH / 3);
    assertTrue(work(0, 0));
    takeAll();
    append(1, 3 * (LENGTH / 4));
    assertTrue(work(0, 0));
    assertTrue(work(0, 0));
    assertEquals(2, path.received());
    takeAll();
    expectSame();
  }

  @Test
  void ringIsUsedAgainAsFarAsTheMemberHasTaken() {
    for (int round = 0; round < 40; round++) {
      append(round % 17, 8 * (round % 29));
      while (path.received() < sent.end()) {
        final long before = path.received();
        assertTrue(work(0, 0));
        if (path.received() == before) {
          placed.take(taken);
        }
      }
    }
    takeAll();
    expectSame();
    assertEquals(0, placed.damaged());
  }

  @Test
  void fullRingWaitsForTheMember() {
    append(200, 100);
    assertTrue(work(0, 0));
    final long first = path.received();
    assertTrue(first > 10 && first < 200, "received=" + first);
    assertTrue(work(0, 0));
    assertEquals(first, path.received());
    placed.take(taken);
    assertTrue(work(0, 0));
    assertTrue(path.received() > first);
  }

  @Test
  void recordThatNeverFitsGoesByMessages() {
    append(1, LENGTH);
    assertFalse(work(0, 0));
  }

  @Test
  void closedGateCountsForNothingAndTheMemberHasAllFromBefore() throws IOException {
    append(5, 8);
    assertTrue(work(0, 0));
    placed.closeGate();
    append(1, 8);
    assertFalse(work(0, 0));
    assertEquals(5, path.received());
    placed.scan(taken);
    assertTrue(taken.end() >= 5);
    assertFalse(path.work(cursor, 0, 9, 0), "memory that was given back takes no more");
    assertEquals(0, path.confirmed());
  }

  @Test
  void memoryOfAnotherEpochIsOtherMemory() throws IOException {
    append(3, 8);
    placed.closeGate();
    placed.scan(taken);
    try (OneSidedPath next = offered(EPOCH + 1, 0)) {
      assertFalse(work(0, 0), "of the old epoch");
      takeAll();
      assertEquals(0, taken.end());
      final RecordLog.Cursor all = sent.new Cursor();
      assertTrue(next.work(all, 0, 0, 0));
      assertEquals(3, next.received());
      takeAll();
      expectSame();
    }
  }

  @Test
  void whatCameByMessagesIsNotTakenAgain() {
    append(6, 8);
    final byte[] first = new byte[RecordDescriptor.aligned(RecordDescriptor.KEY_OFFSET + 8)];
    final RecordLog.Cursor copied = sent.new Cursor();
    for (int i = 0; i < 2; i++) {
      copied.next().copyTo(first, 0);
      taken.add(first, 0, first.length);
    }
    assertTrue(work(0, 0));
    takeAll();
    expectSame();
  }

  @Test
  void damagedRecordClosesTheGate() throws IOException {
    append(1, 8);
    final byte[] bad = new byte[RecordDescriptor.aligned(RecordDescriptor.KEY_OFFSET)];
    bad[RecordDescriptor.LENGTH_OFFSET] = (byte) bad.length;
    sent.add(bad, 0, bad.length);
    assertTrue(work(0, 0));
    takeAll();
    assertEquals(1, taken.end());
    assertEquals(1, placed.damaged());
    append(1, 8);
    assertFalse(work(0, 0));
    assertNull(placed.offer(List.of(), EPOCH));
  }

  @Test
  void whatOnlyAJournalHasClosesTheGate() {
    append(1, 8);
    append(1, 8, RecordDescriptor.GROUP_END, 1);
    assertTrue(work(0, 0));
    takeAll();
    assertEquals(1, taken.end());
    assertEquals(1, placed.damaged());
  }

  @Test
  void aRecordOfALaterVersionClosesTheGateAndIsLoggedOnce() throws Throwable {
    append(1, 8);
    append(1, 8, UnknownRecordsTest.LATER, 1);
    final List<String> lines =
        ReportedErrors.lines(
            UnknownRecords.class,
            () -> {
              assertTrue(work(0, 0));
              takeAll();
            });
    assertEquals(1, taken.end());
    assertEquals(1, placed.damaged());
    assertEquals(1, lines.size(), lines::toString);
    assertTrue(lines.get(0).endsWith("type=60 group=3"), lines::toString);
  }
}
