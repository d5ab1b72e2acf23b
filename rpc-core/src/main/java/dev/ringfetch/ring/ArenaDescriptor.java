package dev.ringfetch.ring;

import static dev.ringfetch.ring.FrameDescriptor.SLOT_LENGTH;

/**
 * Layout of a session's memory: two control lines, each with a line of padding because hardware
 * prefetches lines in pairs, then the two rings.
 *
 * <pre>
 *  +---------------------------------------------------------------+
 *  |                Client Control (client writes)                 |
 *  +---------------------------------------------------------------+
 *  |                     64 bytes of padding                       |
 *  +---------------------------------------------------------------+
 *  |                Server Control (server writes)                 |
 *  +---------------------------------------------------------------+
 *  |                     64 bytes of padding                       |
 *  +---------------------------------------------------------------+
 *  |                 Request Ring (client writes)                 ...
 *  +---------------------------------------------------------------+
 *  |                Response Ring (server writes)                 ...
 *  +---------------------------------------------------------------+
 * </pre>
 */
public final class ArenaDescriptor {
  /** Offset of the control line that the client writes. */
  public static final int CLIENT_CONTROL_OFFSET = 0;

  /** Offset of the control line that the server writes. */
  public static final int SERVER_CONTROL_OFFSET =
      CLIENT_CONTROL_OFFSET + 2 * ControlDescriptor.CONTROL_LENGTH;

  /** Offset of the request ring. */
  public static final int REQUEST_RING_OFFSET =
      SERVER_CONTROL_OFFSET + 2 * ControlDescriptor.CONTROL_LENGTH;

  /** Smallest ring: two slots. */
  public static final int MIN_RING_LENGTH = 2 * SLOT_LENGTH;

  /** Largest ring: 1 GiB both together still fits one mapping. */
  public static final int MAX_RING_LENGTH = 1 << 29;

  private ArenaDescriptor() {}

  /** Offset of the response ring. */
  public static int responseRingOffset(int requestRingLength) {
    return REQUEST_RING_OFFSET + requestRingLength;
  }

  /** Length of the whole memory in bytes. */
  public static int length(int requestRingLength, int responseRingLength) {
    return REQUEST_RING_OFFSET + requestRingLength + responseRingLength;
  }

  /**
   * Checks the length of a ring.
   *
   * @throws IllegalArgumentException when it is no power of two or out of range.
   */
  public static void checkRingLength(String name, int length) {
    if (length < MIN_RING_LENGTH || length > MAX_RING_LENGTH || Integer.bitCount(length) != 1) {
      throw new IllegalArgumentException(
          "a power of two from "
              + MIN_RING_LENGTH
              + " to "
              + MAX_RING_LENGTH
              + " is needed: "
              + name
              + "="
              + length);
    }
  }
}
