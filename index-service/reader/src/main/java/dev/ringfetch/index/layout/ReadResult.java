package dev.ringfetch.index.layout;

/** What a reader found out about a key. */
public enum ReadResult {
  /** The key has a value: the one in {@link Found}. */
  FOUND,

  /** The key had no value at some moment of the read. */
  ABSENT,

  /** Memory kept changing, or its order is not known. The caller asks by RPC. */
  UNDECIDED,

  /**
   * More keys hash as this one does, or longer blocks of them, than a reader looks at. The caller
   * asks by RPC at once.
   */
  LIMIT,

  /** The gate names another incarnation, or the index was dropped. The caller asks by RPC. */
  CLOSED,

  /** Memory is gone, for good. */
  LOST
}
