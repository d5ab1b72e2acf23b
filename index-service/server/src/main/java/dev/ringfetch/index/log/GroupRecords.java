package dev.ringfetch.index.log;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;

/** The encoder of a group's records on disk that are not part of its log. */
public final class GroupRecords {
  private GroupRecords() {}

  /** A record about the group itself. */
  public static byte[] control(long group, int type, long epoch, ByteString value) {
    final byte[] bytes = new byte[JournalRecord.aligned(ByteString.EMPTY, value, 0)];
    new JournalRecord()
        .begin(bytes, 0, type, ByteString.EMPTY, value)
        .partition(group, 0)
        .place(epoch, 0)
        .end();
    return bytes;
  }

  /** Says in a record of a store whose it is: those of clients belong to no index there. */
  static void own(long group, JournalRecord record) {
    if (record.index() != group) {
      record.partition(group, record.partition()).end();
    }
  }

  /** Says so in all records of a piece; returns it. */
  public static byte[] owned(long group, byte[] piece) {
    final JournalRecord record = new JournalRecord();
    for (int offset = 0; offset < piece.length; ) {
      own(group, record.at(piece, offset));
      offset += RecordDescriptor.aligned(record.length());
    }
    return piece;
  }
}
