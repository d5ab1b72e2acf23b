package dev.ringfetch.ring;

/**
 * Layout of a control line: what one side tells the other outside the rings, so that it gets
 * through when they are full. One line a direction, 64 bytes, a single writer. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                           Consumed                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                           Released                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                           Heartbeat                           |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                             Load                              |
 *  +---------------------------------------------------------------+
 *  |                             Sleep                             |
 *  +---------------------------------------------------------------+
 *  |                            Blocked                            |
 *  +---------------------------------------------------------------+
 *  |                           Fetching                            |
 *  +---------------------------------------------------------------+
 *  |                           Reserved                           ...
 * ...                                                              |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Consumed</b>: position up to which the writer of the line has consumed the opposite
 *       ring.
 *   <li><b>Released</b>: how many frames with {@link FrameDescriptor#BULK} the writer of the line
 *       has read the memory of, which is the opposite side's again.
 *   <li><b>Heartbeat</b>, <b>Load</b>: reserved for fabrics without another source of liveness; 0.
 *   <li><b>Sleep</b>: 1 while the writer of the line waits for its doorbell.
 *   <li><b>Blocked</b>: 1 while the writer of the line has output and no credit.
 *   <li><b>Fetching</b>: of the client's line: 1 while it fetches the response ring and the
 *       server's line from the server's memory, where nothing need be published then.
 * </ul>
 */
public final class ControlDescriptor {
  /** Offset of the consumed position, 64 bits. */
  public static final int CONSUMED_OFFSET = 0;

  /** Offset of the released count, 64 bits. */
  public static final int RELEASED_OFFSET = CONSUMED_OFFSET + Long.BYTES;

  /** Offset of the heartbeat, 64 bits. */
  public static final int HEARTBEAT_OFFSET = RELEASED_OFFSET + Long.BYTES;

  /** Offset of the load, 32 bits. */
  public static final int LOAD_OFFSET = HEARTBEAT_OFFSET + Long.BYTES;

  /** Offset of the sleep flag, 32 bits. */
  public static final int SLEEP_OFFSET = LOAD_OFFSET + Integer.BYTES;

  /** Offset of the blocked flag, 32 bits. */
  public static final int BLOCKED_OFFSET = SLEEP_OFFSET + Integer.BYTES;

  /** Offset of the fetching flag, 32 bits. */
  public static final int FETCHING_OFFSET = BLOCKED_OFFSET + Integer.BYTES;

  /** Offset of what is reserved. */
  public static final int RESERVED_OFFSET = FETCHING_OFFSET + Integer.BYTES;

  /** Length of a control line. */
  public static final int CONTROL_LENGTH = 64;

  private ControlDescriptor() {}
}
