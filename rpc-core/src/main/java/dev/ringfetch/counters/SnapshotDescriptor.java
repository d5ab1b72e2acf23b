package dev.ringfetch.counters;

/**
 * Layout of an area: all counters of a process at one moment. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                           Sequence                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Crc32c                             |
 *  +---------------------------------------------------------------+
 *  |                             Count                             |
 *  +---------------------------------------------------------------+
 *  |                           Unlisted                            |
 *  +---------------------------------------------------------------+
 *  |                           Reserved                            |
 *  +---------------------------------------------------------------+
 *  |                            Records                           ...
 * ...                                                              |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Sequence</b>: grows by one a snapshot.
 *   <li><b>Crc32c</b>: of the sequence number, then of everything from the count to the end of the
 *       last record. A snapshot that was read while it was written does not match.
 *   <li><b>Count</b>: records ({@link RecordDescriptor}) that follow.
 *   <li><b>Unlisted</b>: subjects for which there was no room. They count in the totals.
 * </ul>
 *
 * <p>The first records are the totals of the process, one for each {@link Kind} in their order,
 * with the serial number 0: what has ended is in them for good.
 */
public final class SnapshotDescriptor {
  /** Offset of the sequence number, 64 bits. */
  public static final int SEQUENCE_OFFSET = 0;

  /** Offset of the checksum, 32 bits. */
  public static final int CRC32C_OFFSET = SEQUENCE_OFFSET + Long.BYTES;

  /** Offset of the number of records, 32 bits. */
  public static final int COUNT_OFFSET = CRC32C_OFFSET + Integer.BYTES;

  /** Offset of the number of subjects without a record, 32 bits. */
  public static final int UNLISTED_OFFSET = COUNT_OFFSET + Integer.BYTES;

  /** Offset of what is reserved, 32 bits. */
  public static final int RESERVED_OFFSET = UNLISTED_OFFSET + Integer.BYTES;

  /** Offset of the first record. */
  public static final int RECORDS_OFFSET = RESERVED_OFFSET + Integer.BYTES;

  private SnapshotDescriptor() {}
}
