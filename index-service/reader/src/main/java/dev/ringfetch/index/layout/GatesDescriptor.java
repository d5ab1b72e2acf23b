package dev.ringfetch.index.layout;

/**
 * Layout of the gates of a node's groups, in a segment of its own that peers may only read. Words
 * are little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                             Magic                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       56 bytes of zeros                      ...
 * ...                                                              |
 *  +---------------------------------------------------------------+
 *  |                             Word                              |  place 1, and 56 bytes of zeros
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       56 bytes of zeros                      ...
 * ...                                                              |
 *  +---------------------------------------------------------------+
 *  |                 the lines of further places                  ...
 * ...                                                              |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>The word is the epoch of the group that the node's replica obeys, a positive number. Any other
 * value is closed: 0 if no replica has had the place, minus the last epoch if the replica has
 * ended. The place of an ended group is reused by another group, whose epochs differ.
 */
public final class GatesDescriptor {
  /** Length of a place in bytes: a line of its own. */
  public static final int LINE = 64;

  /** Number of places, from 1 on: more than a cluster has groups at a time. */
  public static final int PLACES = 2047;

  /** Length of the segment in bytes. */
  public static final int LENGTH = (1 + PLACES) * LINE;

  /** Offset of the magic number. */
  public static final int MAGIC_OFFSET = 0;

  /** Value of the magic number: "rfgates" and a zero byte. */
  public static final long MAGIC = 0x0073_6574_6167_6672L;

  private GatesDescriptor() {}

  /** Offset of the word of a place. */
  public static int word(int place) {
    return place * LINE;
  }
}
