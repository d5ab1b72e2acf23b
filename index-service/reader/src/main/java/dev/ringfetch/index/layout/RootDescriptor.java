package dev.ringfetch.index.layout;

/**
 * Layout of the root of a hash index: an open word, then the heads of two tables for each
 * partition, and the clock of each. The memory of a root is only ever used for roots, so an open
 * word is never anything else. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                             Open                              |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                             Seed                              |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                          Partitions                           |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       40 bytes of padding                    ...
 *  +---------------------------------------------------------------+
 *  |          Table heads, 2 of 256 bytes for each partition      ...
 *  +---------------------------------------------------------------+
 *  |          Clocks, one of 64 bytes for each partition          ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Open</b>: incarnation of the index while it is open; any other value is closed.
 *   <li><b>Seed</b>, <b>Partitions</b>: as in the {@link HashLocation}; for tools that inspect
 *       memory.
 *   <li><b>Clock</b>: as {@link ClockDescriptor} says, with 56 bytes of padding: a line that the
 *       owner of the partition alone writes.
 * </ul>
 */
public final class RootDescriptor {
  /** Offset of the open word, 64 bits. */
  public static final int OPEN_OFFSET = 0;

  /** Offset of the seed, 64 bits. */
  public static final int SEED_OFFSET = OPEN_OFFSET + Long.BYTES;

  /** Offset of the number of partitions, 64 bits. */
  public static final int PARTITIONS_OFFSET = SEED_OFFSET + Long.BYTES;

  /** Offset of the first table head. */
  public static final int TABLES_OFFSET = 64;

  /** The most partitions that an index can have. */
  public static final int MAX_PARTITIONS = 256;

  private RootDescriptor() {}

  /** Length of the clock of a partition in bytes: a line of its own. */
  public static final int CLOCK_LENGTH = 64;

  /** Length of a root in bytes. */
  public static int length(int partitions) {
    return clock(partitions, partitions);
  }

  /** Offset of the clock of a partition, 64 bits. */
  public static int clock(int partition, int partitions) {
    return TABLES_OFFSET + 2 * partitions * TableDescriptor.HEAD_LENGTH + partition * CLOCK_LENGTH;
  }

  /** Address of the head of a partition's table 0 or 1. */
  public static long table(long root, int partition, int table) {
    return root + TABLES_OFFSET + (2L * partition + table) * TableDescriptor.HEAD_LENGTH;
  }
}
