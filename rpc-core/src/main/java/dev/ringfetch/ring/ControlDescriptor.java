package dev.ringfetch.ring;

/**
 * The layout of a control line: the words that one side publishes outside the rings, so that they
 * get through when the rings are full. One line a direction, 64 bytes, a single writer.
 * Little-endian.
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
 *  |                          Turn Stamp                           |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                          Turn Begin                           |
 *  +---------------------------------------------------------------+
 *  |                          Turn Length                          |
 *  +---------------------------------------------------------------+
 *  |                          Turn Period                          |
 *  +---------------------------------------------------------------+
 *  |                          Turn Check                           |
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
 *   <li><b>Turn Stamp</b>, <b>Turn Begin</b>, <b>Turn Length</b>, <b>Turn Period</b>: of the
 *       server's line, where it is published: when the client should send, by the server's clock at
 *       the stamp; in nanoseconds. The next turn begins so long after the stamp and lasts so long,
 *       and others follow, a period from begin to begin. Period 0: at any time.
 *   <li><b>Turn Check</b>: {@link ControlFlyweight#turnCheck} of those four, which are not placed
 *       at once.
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

  /** Offset of the time at which a turn was told, 64 bits. */
  public static final int TURN_STAMP_OFFSET = FETCHING_OFFSET + Integer.BYTES;

  /** Offset of the time until the next turn, 32 bits. */
  public static final int TURN_BEGIN_OFFSET = TURN_STAMP_OFFSET + Long.BYTES;

  /** Offset of the length of a turn, 32 bits. */
  public static final int TURN_LENGTH_OFFSET = TURN_BEGIN_OFFSET + Integer.BYTES;

  /** Offset of the time from turn to turn, 32 bits. */
  public static final int TURN_PERIOD_OFFSET = TURN_LENGTH_OFFSET + Integer.BYTES;

  /** Offset of the check of what is told of turns, 32 bits. */
  public static final int TURN_CHECK_OFFSET = TURN_PERIOD_OFFSET + Integer.BYTES;

  /** Length of a control line. */
  public static final int CONTROL_LENGTH = 64;

  private ControlDescriptor() {}
}
