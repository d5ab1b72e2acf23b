package dev.ringfetch.index.journal;

import static dev.ringfetch.index.journal.RecordDescriptor.getInt;
import static dev.ringfetch.index.journal.RecordDescriptor.getLong;

import java.util.zip.CRC32C;

/**
 * Layout of a batch: records that are written together, and count all or none. Little-endian.
 * Batches begin at multiples of {@value RecordDescriptor#ALIGNMENT}, and follow one another without
 * a gap, except at the end of a segment.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Crc32c                             |
 *  +---------------------------------------------------------------+
 *  |                            Length                             |
 *  +---------------------------------------------------------------+
 *  |                             Magic                             |
 *  +---------------------------------------------------------------+
 *  |                            Records                            |
 *  +---------------------------------------------------------------+
 *  |                            Origin                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                           Position                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                           Previous                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Durable                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                         The records                          ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Crc32c</b>: of all that follows.
 *   <li><b>Length</b>: of the batch in bytes, a multiple of {@value RecordDescriptor#ALIGNMENT}.
 *   <li><b>Magic</b>: {@link #MAGIC}.
 *   <li><b>Records</b>: their number, at least 1.
 *   <li><b>Origin</b>: of the directory, see {@link SegmentDescriptor}.
 *   <li><b>Position</b>: of the batch in the journal: so bytes that were written elsewhere, or for
 *       another directory, are no batch here.
 *   <li><b>Previous</b>: where the batch before ends; 0 if there is none.
 *   <li><b>Durable</b>: up to where the journal was synced when the batch was written. Damage
 *       before that position happened on the disk, not by a loss of power.
 * </ul>
 */
public final class BatchDescriptor {
  /** Offset of the checksum, 32 bits. */
  public static final int CRC_OFFSET = 0;

  /** Offset of the length, 32 bits. */
  public static final int LENGTH_OFFSET = CRC_OFFSET + Integer.BYTES;

  /** Offset of the magic number, 32 bits. */
  public static final int MAGIC_OFFSET = LENGTH_OFFSET + Integer.BYTES;

  /** Offset of the number of records, 32 bits. */
  public static final int RECORDS_OFFSET = MAGIC_OFFSET + Integer.BYTES;

  /** Offset of the origin, 64 bits. */
  public static final int ORIGIN_OFFSET = RECORDS_OFFSET + Integer.BYTES;

  /** Offset of the position, 64 bits. */
  public static final int POSITION_OFFSET = ORIGIN_OFFSET + Long.BYTES;

  /** Offset of the end of the batch before, 64 bits. */
  public static final int PREVIOUS_OFFSET = POSITION_OFFSET + Long.BYTES;

  /** Offset of the durable position, 64 bits. */
  public static final int DURABLE_OFFSET = PREVIOUS_OFFSET + Long.BYTES;

  /** Offset of the first record; the length of the header. */
  public static final int RECORD_OFFSET = DURABLE_OFFSET + Long.BYTES;

  /** The magic number, "RFJB". */
  public static final int MAGIC = 0x424A_4652;

  /** Length of a batch after which it accepts no more records. */
  static final int LENGTH_SOFT_LIMIT = 1 << 20;

  /** The longest batch: its last record is one of the longest. */
  public static final int LENGTH_LIMIT =
      LENGTH_SOFT_LIMIT + RecordDescriptor.aligned(RecordDescriptor.LENGTH_LIMIT);

  private BatchDescriptor() {}

  /**
   * Length of the whole batch at an offset of an array; 0 if none begins there.
   *
   * @param limit end of the bytes that may belong to the batch
   * @param origin that the batch must have
   * @param position that the batch must have
   */
  static int length(CRC32C crc, byte[] bytes, int offset, int limit, long origin, long position) {
    if (limit - offset < RECORD_OFFSET || getInt(bytes, offset + MAGIC_OFFSET) != MAGIC) {
      return 0;
    }
    final int length = getInt(bytes, offset + LENGTH_OFFSET);
    final boolean isWhole =
        length > RECORD_OFFSET
            && length <= LENGTH_LIMIT
            && length <= limit - offset
            && length % RecordDescriptor.ALIGNMENT == 0
            && getLong(bytes, offset + ORIGIN_OFFSET) == origin
            && getLong(bytes, offset + POSITION_OFFSET) == position
            && getInt(bytes, offset + CRC_OFFSET)
                == RecordDescriptor.crc(crc, bytes, offset, length);
    return isWhole ? length : 0;
  }
}
