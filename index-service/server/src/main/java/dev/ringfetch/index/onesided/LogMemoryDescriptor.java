package dev.ringfetch.index.onesided;

/**
 * Layout of log memory: what a member offers for one epoch, and its leader places records in. Words
 * are little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                             Magic                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                             Epoch                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       48 bytes of zeros                      ...
 * ...                                                              |
 *  +---------------------------------------------------------------+
 *  |                             Begin                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Commit                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                              End                              |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       40 bytes of zeros                      ...
 * ...                                                              |
 *  +---------------------------------------------------------------+
 *  |                            Consumed                           |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       56 bytes of zeros                      ...
 * ...                                                              |
 *  +---------------------------------------------------------------+
 *  |                        Ring of records                       ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Magic, Epoch</b>: the member's, before it offers the memory.
 *   <li><b>Begin</b>: the leader's, before all else: position before the first record in the ring.
 *   <li><b>Commit</b>: the leader's: position up to which the member may apply.
 *   <li><b>End</b>: the leader's: bytes that it has placed so far, whole records. It is written
 *       after they are: a record of an earlier lap of the ring is a whole record as well.
 *   <li><b>Consumed</b>: the member's: bytes that it has taken. The leader writes to their place
 *       again.
 *   <li><b>Ring</b>: the rest. Byte {@code n} of all that was placed stands at {@code n} modulo its
 *       length. Records are those of {@link dev.ringfetch.index.journal.RecordDescriptor}, aligned.
 * </ul>
 */
public final class LogMemoryDescriptor {
  /** Offset of the magic number. */
  public static final int MAGIC_OFFSET = 0;

  /** Offset of the epoch. */
  public static final int EPOCH_OFFSET = 8;

  /** Offset of the leader's line, and of the position before the first record. */
  public static final int BEGIN_OFFSET = 64;

  /** Offset of the position of the commit. */
  public static final int COMMIT_OFFSET = 72;

  /** Offset of the number of bytes that were placed. */
  public static final int END_OFFSET = 80;

  /** Offset of the member's line: bytes that were taken. */
  public static final int CONSUMED_OFFSET = 128;

  /** Offset of the ring. */
  public static final int RING_OFFSET = 192;

  /** The longest log memory of a replica, which its leader refuses to go beyond. */
  public static final int LENGTH_LIMIT = 64 << 20;

  /** Value of the magic number: "rflogm1" and a zero byte. */
  public static final long MAGIC = 0x0031_6d67_6f6c_6672L;

  private LogMemoryDescriptor() {}
}
