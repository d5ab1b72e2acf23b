package dev.ringfetch.counters;

/**
 * The layout of the file with a process's counters. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                             Magic                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Version                            |
 *  +---------------------------------------------------------------+
 *  |                           Reserved                            |
 *  +---------------------------------------------------------------+
 *  |                              Pid                              |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Started                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Newest                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Unused                            ...
 * ...                                                              |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Pid</b>, <b>Started</b>: the process, and when it began in milliseconds since 1970,
 *       which distinguishes it from another one with the same id; 0 where the system does not tell.
 *   <li><b>Newest</b>: sequence number of the newest snapshot ({@link SnapshotDescriptor}), 0
 *       before the first. An even one is in the first area, an odd one in the second; the other
 *       area is being written. So there is a whole snapshot at every moment, also when the process
 *       is killed at that moment.
 * </ul>
 *
 * <p>On the page after this one the two areas begin, of {@link #AREA_LENGTH} bytes each. They take
 * as many pages as they have records.
 *
 * <p>The file is written and read by system calls, and never mapped: on a file that was truncated,
 * or a file system that is full, those return an error, where a store to mapped memory would be a
 * fault in the midst of a call.
 */
public final class CounterFileDescriptor {
  /** Offset of the magic number, 64 bits. */
  public static final int MAGIC_OFFSET = 0;

  /** Offset of the version of the layout, 32 bits. */
  public static final int VERSION_OFFSET = MAGIC_OFFSET + Long.BYTES;

  /** Offset of what is reserved, 32 bits. */
  public static final int RESERVED_OFFSET = VERSION_OFFSET + Integer.BYTES;

  /** Offset of the process id, 64 bits. */
  public static final int PID_OFFSET = RESERVED_OFFSET + Integer.BYTES;

  /** Offset of the time at which the process began, 64 bits. */
  public static final int STARTED_OFFSET = PID_OFFSET + Long.BYTES;

  /** Offset of the newest sequence number, 64 bits. */
  public static final int NEWEST_OFFSET = STARTED_OFFSET + Long.BYTES;

  /** Offset of what is unused, to the end of the page. */
  public static final int UNUSED_OFFSET = NEWEST_OFFSET + Long.BYTES;

  /** Where the first area begins: on a page of its own. */
  public static final int AREAS_START = 4096;

  /** Length of an area: {@link #MAX_RECORDS} and the header of a snapshot. */
  public static final int AREA_LENGTH = 640 * 1024;

  /** Records that an area has room for. */
  public static final int MAX_RECORDS =
      (AREA_LENGTH - SnapshotDescriptor.RECORDS_OFFSET) / RecordDescriptor.RECORD_LENGTH;

  /** What a file of counters begins with: "rfcounts". */
  public static final long MAGIC = 0x7374_6e75_6f63_6672L;

  /** This layout, and the counters of {@link Counter} in their order. */
  public static final int VERSION = 10;

  private CounterFileDescriptor() {}

  /** Where the area of a snapshot begins. */
  public static int areaOffset(long sequence) {
    return AREAS_START + (int) (sequence & 1) * AREA_LENGTH;
  }
}
