package dev.ringfetch.fabric;

/**
 * Layout of the page of a gate. Words are little-endian.
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
 *  |                             Word                              |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                      4024 bytes of zeros                     ...
 * ...                                                              |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>The word is the epoch that may be used, a positive number. Zero is a gate that was never
 * opened; minus the last epoch is a gate that its owner has closed. A reader need not know: every
 * value but its own epoch is closed.
 */
public final class GateDescriptor {
  /** Length of the page, and of its file. */
  public static final int LENGTH = 4096;

  /** Offset of the magic number. */
  public static final int MAGIC_OFFSET = 0;

  /** Offset of the word: a line of its own. */
  public static final int WORD_OFFSET = 64;

  /** Value of the magic number: "rfgate1" and a zero byte. */
  public static final long MAGIC = 0x0031_6574_6167_6672L;

  private GateDescriptor() {}
}
