package dev.ringfetch.index.journal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Layout of a snapshot: a file with the entries of all indexes of a journal; a start reads it and
 * then the journal from {@code Begin} on. Its name is {@code snapshot-} and its number, 10 digits;
 * with the suffix {@value #UNFINISHED_SUFFIX} it is unfinished and does not count. Little-endian.
 *
 * <p>An orderly end leaves such a file of each group in memory, which the journal does not have:
 * {@code stop-} and the number of the group, 16 hexadecimal digits. A start reads it after the
 * journal.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Crc32c                             |
 *  +---------------------------------------------------------------+
 *  |                            Format                             |
 *  +---------------------------------------------------------------+
 *  |                             Magic                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Origin                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Number                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Begin                              |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                 zeros up to offset 512: a sector             ...
 *  +---------------------------------------------------------------+
 *  |                          The batches                         ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Crc32c</b>: of all that follows, up to the batches.
 *   <li><b>Format</b>: of the snapshot, {@link #FORMAT}.
 *   <li><b>Magic</b>: {@link #MAGIC}.
 *   <li><b>Origin</b>: the first 64 bits of the directory's id.
 *   <li><b>Number</b>: of the snapshot; a later one has a larger number. After an orderly end that
 *       of the group.
 *   <li><b>Begin</b>: position in the journal, where a batch ends; from there on a start reads the
 *       journal.
 *   <li><b>Batches</b>: as {@link BatchDescriptor} says, without gaps. Position is the offset in
 *       the file, previous where the batch before ends, 0 in the first; durable is 0; origin is
 *       {@link #batchOrigin}, so that a batch of another file is not valid here.
 * </ul>
 *
 * <p>The records, as {@link RecordDescriptor} says, of one group after the other: {@code
 * GROUP_BEGIN}; for each partition {@code PARTITION}, {@code OUTCOME} of what it keeps, and {@code
 * PUT} of its entries, whose LSN is the version; {@code OPEN_CLIENT} of each client; the log behind
 * what is applied, and {@code GROUP_MARK}; after an orderly end {@code GROUP_STOP}, which says that
 * the process had no more of the group. The last batch has {@code SNAPSHOT_END} alone, whose value
 * is this:
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |   End: the snapshot counts if the journal is durable so far   |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                Records: number of those before                |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |          File crc: Crc32c of the file up to this batch        |
 *  +---------------------------------------------------------------+
 *  |                      4 bytes of padding                       |
 *  +---------------------------------------------------------------+
 * </pre>
 */
public final class SnapshotDescriptor {
  /** Offset of the checksum, 32 bits. */
  public static final int CRC_OFFSET = 0;

  /** Offset of the format, 32 bits. */
  public static final int FORMAT_OFFSET = CRC_OFFSET + Integer.BYTES;

  /** Offset of the magic number, 64 bits. */
  public static final int MAGIC_OFFSET = FORMAT_OFFSET + Integer.BYTES;

  /** Offset of the origin, 64 bits. */
  public static final int ORIGIN_OFFSET = MAGIC_OFFSET + Long.BYTES;

  /** Offset of the number, 64 bits. */
  public static final int NUMBER_OFFSET = ORIGIN_OFFSET + Long.BYTES;

  /** Offset of the begin, 64 bits. */
  public static final int BEGIN_OFFSET = NUMBER_OFFSET + Long.BYTES;

  /** Offset of the first batch. */
  public static final int BATCH_OFFSET = 512;

  /** The format that this version writes, and the only one that it reads. */
  public static final int FORMAT = 4;

  /** The magic number, "RFSNAPSH". */
  public static final long MAGIC = 0x4853_5041_4E53_4652L;

  /** In the value of the last record: offset of the end, 64 bits. */
  public static final int END_OFFSET = 0;

  /** In the value of the last record: offset of the number of records, 64 bits. */
  public static final int RECORDS_OFFSET = END_OFFSET + Long.BYTES;

  /** In the value of the last record: offset of the file's checksum, 32 bits. */
  public static final int FILE_CRC_OFFSET = RECORDS_OFFSET + Long.BYTES;

  /** Length of the value of the last record. */
  public static final int END_LENGTH = FILE_CRC_OFFSET + 2 * Integer.BYTES;

  /** Suffix of the name of an unfinished snapshot. */
  public static final String UNFINISHED_SUFFIX = ".tmp";

  private static final String PREFIX = "snapshot-";
  private static final String STOP_PREFIX = "stop-";

  private SnapshotDescriptor() {}

  /** Name of the file of the snapshot with this number. */
  public static String name(long number) {
    return SegmentDescriptor.name(number, PREFIX);
  }

  /** Number of the snapshot in a file name; -1 if the name is not a snapshot's. */
  static long number(String name) {
    return SegmentDescriptor.number(name, PREFIX);
  }

  /** Number of the unfinished snapshot in a file name; -1 if the name is not one's. */
  static long unfinishedNumber(String name) {
    return name.endsWith(UNFINISHED_SUFFIX)
        ? number(name.substring(0, name.length() - UNFINISHED_SUFFIX.length()))
        : -1;
  }

  /** Name of the file that an orderly end leaves of a group. */
  public static String stopName(long group) {
    return STOP_PREFIX + String.format("%016x", group);
  }

  /** Number of the group of which an orderly end has left a file of this name; -1: of none. */
  static long stoppedGroup(String name) {
    if (!name.startsWith(STOP_PREFIX)) {
      return -1;
    }
    try {
      final long group = Long.parseUnsignedLong(name.substring(STOP_PREFIX.length()), 16);
      return stopName(group).equals(name) ? group : -1;
    } catch (NumberFormatException e) { // unfinished, or of another kind
      return -1;
    }
  }

  /** Whether a file counts as a snapshot. */
  static boolean isSnapshot(String name) {
    return number(name) >= 0 || stoppedGroup(name) > 0;
  }

  /** Whether a file is a snapshot that was not finished. */
  static boolean isUnfinished(String name) {
    return name.endsWith(UNFINISHED_SUFFIX)
        && isSnapshot(name.substring(0, name.length() - UNFINISHED_SUFFIX.length()));
  }

  /** Origin in the batches of a snapshot: no segment and no other snapshot has the same. */
  static long batchOrigin(long origin, long number) {
    return origin ^ MAGIC ^ number;
  }

  /** A header, up to the batches. */
  static ByteBuffer header(long origin, long number, long begin) {
    final ByteBuffer header =
        ByteBuffer.allocateDirect(BATCH_OFFSET).order(ByteOrder.LITTLE_ENDIAN);
    header
        .putInt(FORMAT_OFFSET, FORMAT)
        .putLong(MAGIC_OFFSET, MAGIC)
        .putLong(ORIGIN_OFFSET, origin)
        .putLong(NUMBER_OFFSET, number)
        .putLong(BEGIN_OFFSET, begin);
    return header.putInt(CRC_OFFSET, SegmentDescriptor.crc(header));
  }

  /** The number of records before the last one, by that record. */
  static long records(JournalRecord end) {
    return end.value()
        .asReadOnlyByteBuffer()
        .order(ByteOrder.LITTLE_ENDIAN)
        .getLong(RECORDS_OFFSET);
  }
}
