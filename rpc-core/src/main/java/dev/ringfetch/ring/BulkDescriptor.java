package dev.ringfetch.ring;

/**
 * Layout of the payload of a frame with {@link FrameDescriptor#BULK}: where bytes of a unit are, in
 * memory that the frame's writer has registered and its reader has attached. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Region                             |
 *  +---------------------------------------------------------------+
 *  |                            Length                             |
 *  +---------------------------------------------------------------+
 *  |                            Offset                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Region</b>: which of the writer's registered memory, counted from 0 in the order of its
 *       offers that were taken.
 *   <li><b>Length</b>: of the bytes that stand here in the unit.
 *   <li><b>Offset</b>: of the first of them in the region.
 * </ul>
 */
public final class BulkDescriptor {
  /** Offset of the region's number, 32 bits. */
  public static final int REGION_OFFSET = 0;

  /** Offset of the length in bytes, 32 bits. */
  public static final int LENGTH_OFFSET = REGION_OFFSET + Integer.BYTES;

  /** Offset of the offset in the region, 64 bits. */
  public static final int OFFSET_OFFSET = LENGTH_OFFSET + Integer.BYTES;

  /** Length of the whole. */
  public static final int DESCRIPTOR_LENGTH = OFFSET_OFFSET + Long.BYTES;

  private BulkDescriptor() {}
}
