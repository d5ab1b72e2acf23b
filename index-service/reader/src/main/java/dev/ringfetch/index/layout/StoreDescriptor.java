package dev.ringfetch.index.layout;

/**
 * Layout of the first bytes of index memory, in segment 0. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Format                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                          Incarnation                          |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Serving                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Format</b>: {@link #FORMAT}, which names every layout and the hash function.
 *   <li><b>Incarnation</b>: of the server, which the gate names while this memory may be read.
 *   <li><b>Serving</b>: equal to the incarnation once the server serves. A reader checks it before
 *       its first load; any other value is closed.
 * </ul>
 *
 * <p>An address in index memory is {@code segment << shift | offset}. No object has address 0.
 */
public final class StoreDescriptor {
  /** Value of the format word: "RINGIDX" and a number. */
  public static final long FORMAT = 0x0358_4449_474E_4952L;

  /** Offset of the format, 64 bits. */
  public static final int FORMAT_OFFSET = 0;

  /** Offset of the server's incarnation, 64 bits. */
  public static final int INCARNATION_OFFSET = FORMAT_OFFSET + Long.BYTES;

  /** Offset of the serving word, 64 bits. */
  public static final int SERVING_OFFSET = INCARNATION_OFFSET + Long.BYTES;

  /** Bytes of index memory that no object uses. */
  public static final int LENGTH = 1024;

  /** Version of the layouts of this package, which a grant names. */
  public static final int LAYOUT_VERSION = 3;

  private StoreDescriptor() {}
}
