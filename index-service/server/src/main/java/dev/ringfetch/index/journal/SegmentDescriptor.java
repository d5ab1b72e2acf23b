package dev.ringfetch.index.journal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Layout of a segment: a file with a part of the journal, filled with zeros before it is used. Its
 * name is {@code journal-} and its number, 10 digits. Little-endian.
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
 *  |                             Base                              |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Length                             |
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
 *   <li><b>Format</b>: of the journal, {@link #FORMAT}.
 *   <li><b>Magic</b>: {@link #MAGIC}.
 *   <li><b>Origin</b>: the first 64 bits of the directory's id.
 *   <li><b>Number</b>: of the segment; the next one has the next number.
 *   <li><b>Base</b>: position of the segment's begin in the journal. The next segment begins where
 *       this one ends.
 *   <li><b>Length</b>: of the file.
 * </ul>
 */
public final class SegmentDescriptor {
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

  /** Offset of the base, 64 bits. */
  public static final int BASE_OFFSET = NUMBER_OFFSET + Long.BYTES;

  /** Offset of the length, 64 bits. */
  public static final int LENGTH_OFFSET = BASE_OFFSET + Long.BYTES;

  /** Offset of the first batch. */
  public static final int BATCH_OFFSET = 512;

  /** The format that this version writes, and the only one that it reads. */
  public static final int FORMAT = 4;

  /** The magic number, "RFJOURNL". */
  public static final long MAGIC = 0x4C4E_5255_4F4A_4652L;

  private static final String PREFIX = "journal-";
  private static final int DIGITS = 10;

  private SegmentDescriptor() {}

  /** Name of the file of the segment with this number. */
  static String name(long number) {
    return name(number, PREFIX);
  }

  /** A file name of a prefix and a number. */
  static String name(long number, String prefix) {
    return prefix + String.format("%0" + DIGITS + "d", number);
  }

  /** Number of the segment in a file name; -1 if the name is not a segment's. */
  static long number(String name) {
    return number(name, PREFIX);
  }

  /** Number after the prefix; -1 if the name does not have this form. */
  static long number(String name, String prefix) {
    if (name.length() != prefix.length() + DIGITS || !name.startsWith(prefix)) {
      return -1;
    }
    long number = 0;
    for (int i = prefix.length(); i < name.length(); i++) {
      final int digit = name.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = 10 * number + digit;
    }
    return number;
  }

  /** A header, up to the batches. */
  static ByteBuffer header(long origin, long number, long base, long length) {
    final ByteBuffer header =
        ByteBuffer.allocateDirect(BATCH_OFFSET).order(ByteOrder.LITTLE_ENDIAN);
    header
        .putInt(FORMAT_OFFSET, FORMAT)
        .putLong(MAGIC_OFFSET, MAGIC)
        .putLong(ORIGIN_OFFSET, origin)
        .putLong(NUMBER_OFFSET, number)
        .putLong(BASE_OFFSET, base)
        .putLong(LENGTH_OFFSET, length);
    return header.putInt(CRC_OFFSET, crc(header));
  }

  /** Checksum of the header of a segment, or of another file with a header of this length. */
  static int crc(ByteBuffer header) {
    final CRC32C crc = new CRC32C();
    crc.update(header.slice(FORMAT_OFFSET, BATCH_OFFSET - FORMAT_OFFSET));
    return (int) crc.getValue();
  }
}
