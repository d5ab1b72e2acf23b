package dev.ringfetch.index.layout;

/** The result of a read of a key. */
public enum ReadResult {
  /** The key has a value: the one in {@link Found}. */
  FOUND,

  /** The key had no value at some moment of the read. */
  ABSENT,

  /** Memory kept changing, or its order is not known. The caller makes an RPC. */
  UNDECIDED,

  /**
   * More keys have the hash of this one, or their blocks are longer, than a reader's limits allow.
   * The caller makes an RPC at once.
   */
  LIMIT,

  /** The gate names another incarnation, or the index was dropped. The caller makes an RPC. */
  CLOSED,

  /** Memory is gone, for good. */
  LOST
}
