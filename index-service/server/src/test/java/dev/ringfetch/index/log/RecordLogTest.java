package dev.ringfetch.index.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import java.io.ByteArrayOutputStream;
import org.junit.jupiter.api.Test;

/** Positions, cuts and garbage in the log of a group. */
final class RecordLogTest {
  private static final long GROUP = 3;

  private final RecordLog log = new RecordLog(1_000);

  private static ByteString records(int from, int to) {
    return records(from, to, RecordDescriptor.PUT, 1);
  }

  private static ByteString records(int from, int to, int type, long epoch) {
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int lsn = from; lsn <= to; lsn++) {
      final ByteString value = ByteString.copyFrom(new byte[lsn % 40]);
      final byte[] record = new byte[JournalRecord.aligned(ByteString.EMPTY, value, 0)];
      new JournalRecord()
          .begin(record, 0, type, ByteString.EMPTY, value)
          .partition(GROUP, 0)
          .place(epoch, lsn)
          .end();
      bytes.writeBytes(record);
    }
    return ByteString.copyFrom(bytes.toByteArray());
  }

  private void expect(RecordLog.Cursor cursor, int from, int to) {
    for (int lsn = from; lsn <= to; lsn++) {
      assertTrue(cursor.hasNext());
      assertEquals(lsn, cursor.next().lsn());
      assertEquals(lsn, cursor.position());
    }
    assertFalse(cursor.hasNext());
  }

  @Test
  void recordsHaveTheirPositions() {
    assertTrue(log.addAll(GROUP, records(1, 3), 3, 0));
    assertTrue(log.addAll(GROUP, records(2, 30), 29, 2));
    assertEquals(30, log.end());
    final RecordLog.Cursor cursor = log.new Cursor();
    expect(cursor, 1, 30);
    assertTrue(cursor.seek(7));
    expect(cursor, 8, 30);
    assertFalse(cursor.seek(31));
  }

  @Test
  void whatIsNoRecordOfTheGroupIsRefused() {
    final ByteString good = records(1, 4);
    for (int i = 0; i < good.size(); i += 3) {
      final byte[] bad = good.toByteArray();
      bad[i] ^= 4;
      // Zeros behind a record count for nothing; all else is checked.
      final boolean taken = new RecordLog(1_000).addAll(GROUP, ByteString.copyFrom(bad), 4, 0);
      assertFalse(taken && i < RecordDescriptor.KEY_OFFSET, "offset=" + i);
    }
    assertFalse(log.addAll(GROUP, good, 3, 0));
    assertFalse(log.addAll(GROUP, good, 5, 0));
    assertFalse(log.addAll(GROUP, good, 7, 6));
    assertFalse(log.addAll(GROUP + 1, good, 4, 0));
    assertEquals(0, log.end());
    assertTrue(log.addAll(GROUP, good, 4, 0));
    expect(log.new Cursor(), 1, 4);
  }

  @Test
  void whatOnlyAJournalHasIsRefused() {
    // The types beside them no record has.
    for (int type = RecordDescriptor.GROUP_BEGIN - 1;
        type <= RecordDescriptor.GROUP_STOP + 1;
        type++) {
      assertFalse(log.addAll(GROUP, records(1, 3, type, 1), 3, 0), "type=" + type);
    }
    assertFalse(log.addAll(GROUP, records(1, 3, RecordDescriptor.PUT, 0), 3, 0));
    assertEquals(0, log.end());
    assertTrue(log.addAll(GROUP, records(1, 1, RecordDescriptor.TICK, 1), 1, 0));
    assertTrue(log.addAll(GROUP, records(1, 1, RecordDescriptor.OPEN_CLIENT, 1), 1, 0));
  }

  @Test
  void cutChangesNoBytesThatMessagesReferTo() {
    assertTrue(log.addAll(GROUP, records(1, 2), 2, 0));
    final RecordLog.Cursor cursor = log.new Cursor();
    final ByteString underWay = cursor.take();
    log.cut(1);
    assertEquals(1, log.end());
    assertTrue(log.addAll(GROUP, records(20, 21), 2, 0));
    assertEquals(records(1, 2), underWay);
    final RecordLog.Cursor all = log.new Cursor();
    assertEquals(1, all.next().lsn());
    assertTrue(all.hasNext());
    assertEquals(20, all.next().lsn());
    assertEquals(3, log.end());
  }

  @Test
  void releasedRecordsAreForgottenAndCounted() {
    for (int i = 1; i <= 100; i++) {
      assertTrue(log.addAll(GROUP, records(i, i), 1, 0));
    }
    final long all = log.bytes();
    log.release(90);
    assertTrue(log.bytes() < all / 5, "bytes=" + log.bytes());
    assertTrue(log.base() <= 90);
    final RecordLog.Cursor cursor = log.new Cursor();
    assertFalse(cursor.seek(1));
    assertTrue(cursor.seek(95));
    expect(cursor, 96, 100);
    log.cut(log.base());
    assertEquals(0, log.bytes());
  }
}
