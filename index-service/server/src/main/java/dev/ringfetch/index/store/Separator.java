package dev.ringfetch.index.store;

/**
 * A key at which one node of an ordered index ends and the next begins: its bytes, and the
 * reference to it in nodes. Used by the partition's owner alone.
 */
final class Separator {
  final byte[] key;
  final long head;
  final long slot;

  /** The lower half of its block's version; 0 without a block. */
  final int version;

  /** Number of nodes that begin at it. */
  int uses;

  Separator(byte[] key, long head, long slot, int version) {
    this.key = key;
    this.head = head;
    this.slot = slot;
    this.version = version;
  }
}
