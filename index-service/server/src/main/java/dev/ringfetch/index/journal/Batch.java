package dev.ringfetch.index.journal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The batch that the journal's thread fills for its next write. Used by the journal's thread alone.
 */
final class Batch implements PendingRecords.Taker {
  private final ByteBuffer buffer =
      ByteBuffer.allocateDirect(BatchDescriptor.LENGTH_LIMIT).order(ByteOrder.LITTLE_ENDIAN);
  private final CRC32C crc = new CRC32C();
  private int limit;
  private int records;

  /** Begins a batch of this length at most. */
  void begin(int most) {
    limit = Math.min(most, BatchDescriptor.LENGTH_LIMIT);
    records = 0;
    buffer.clear().position(BatchDescriptor.RECORD_OFFSET);
  }

  boolean isEmpty() {
    return records == 0;
  }

  /** Whether a record of this aligned length can be added. */
  @Override
  public boolean hasRoom(int length) {
    return buffer.position() + length <= limit
        && buffer.position() < BatchDescriptor.LENGTH_SOFT_LIMIT;
  }

  /** Adds a record with its padding. */
  @Override
  public void add(byte[] bytes, int offset, int length) {
    buffer.put(bytes, offset, length);
    records++;
  }

  /** Number of records. */
  int records() {
    return records;
  }

  /** Ends the batch, once; returns the bytes to write. */
  ByteBuffer end(long origin, long position, long previous, long durable) {
    buffer
        .flip()
        .putInt(BatchDescriptor.LENGTH_OFFSET, buffer.limit())
        .putInt(BatchDescriptor.MAGIC_OFFSET, BatchDescriptor.MAGIC)
        .putInt(BatchDescriptor.RECORDS_OFFSET, records)
        .putLong(BatchDescriptor.ORIGIN_OFFSET, origin)
        .putLong(BatchDescriptor.POSITION_OFFSET, position)
        .putLong(BatchDescriptor.PREVIOUS_OFFSET, previous)
        .putLong(BatchDescriptor.DURABLE_OFFSET, durable);
    salt(origin, position);
    crc.reset();
    crc.update(buffer.position(BatchDescriptor.LENGTH_OFFSET));
    return buffer.putInt(BatchDescriptor.CRC_OFFSET, (int) crc.getValue()).position(0);
  }

  /** Salts the checksums of the records with the places at which they are written. */
  private void salt(long origin, long position) {
    int at = BatchDescriptor.RECORD_OFFSET;
    while (at < buffer.limit()) {
      final int stored = buffer.getInt(at + RecordDescriptor.CRC_OFFSET);
      buffer.putInt(
          at + RecordDescriptor.CRC_OFFSET, stored ^ RecordDescriptor.salt(origin, position + at));
      at += RecordDescriptor.aligned(buffer.getInt(at + RecordDescriptor.LENGTH_OFFSET));
    }
  }
}
