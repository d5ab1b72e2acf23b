package dev.ringfetch.index.layout;

/**
 * Layout of the root of an ordered index: an open word at the same offset as in {@link
 * RootDescriptor}, the tree word, which leads to the highest node, and the clock. Each is in a
 * cache line of its own. The memory of a root is only ever used for roots. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                             Open                              |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       56 bytes of padding                    ...
 *  +---------------------------------------------------------------+
 *  |                             Tree                              |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       56 bytes of padding                    ...
 *  +---------------------------------------------------------------+
 *  |                             Clock                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Open</b>: incarnation of the index while it is open; any other value is closed.
 *   <li><b>Tree</b>: the number of changes of this word, modulo 2^16 (highest 16 bits), the level
 *       of the highest node (8 bits), and its address in units of a node's length (40 bits).
 *       Written in one store, after the node.
 *   <li><b>Clock</b>: as {@link ClockDescriptor} says.
 * </ul>
 */
public final class TreeDescriptor {
  /** Offset of the open word, 64 bits. */
  public static final int OPEN_OFFSET = RootDescriptor.OPEN_OFFSET;

  /** Offset of the tree word, 64 bits. */
  public static final int TREE_OFFSET = 64;

  /** Offset of the clock, 64 bits. */
  public static final int CLOCK_OFFSET = 128;

  /** Length of a root in bytes. */
  public static final int LENGTH = CLOCK_OFFSET + Long.BYTES;

  private static final int LEVEL_SHIFT = 40;
  private static final int CHANGES_SHIFT = 48;

  private TreeDescriptor() {}

  /** A tree word. */
  public static long tree(long changes, int level, long address) {
    return (changes << CHANGES_SHIFT)
        | ((long) level << LEVEL_SHIFT)
        | (address / NodeDescriptor.LENGTH);
  }

  /** Level of the highest node. */
  public static int level(long tree) {
    return (int) (tree >>> LEVEL_SHIFT) & 0xFF;
  }

  /** Address of the highest node. */
  public static long address(long tree) {
    return (tree & ((1L << LEVEL_SHIFT) - 1)) * NodeDescriptor.LENGTH;
  }
}
