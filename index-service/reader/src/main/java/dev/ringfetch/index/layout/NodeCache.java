package dev.ringfetch.index.layout;

/**
 * A reader's cache of inner nodes; of two with the same place it keeps the newer one. Used by one
 * thread at a time.
 */
final class NodeCache {
  private final byte[][] copies;
  private final long[] addresses;
  private final byte[] scratch = new byte[NodeDescriptor.COPY_LENGTH];

  /**
   * Creates an empty cache.
   *
   * @param nodes its capacity, 0 or a power of two
   */
  NodeCache(int nodes) {
    if (nodes < 0 || Integer.bitCount(nodes) > 1) {
      throw new IllegalArgumentException("neither 0 nor a power of two: nodes=" + nodes);
    }
    copies = new byte[nodes][];
    addresses = new long[nodes];
  }

  boolean isEmpty() {
    return copies.length == 0;
  }

  private int place(long address) {
    return (int) ((address / NodeDescriptor.LENGTH * 0x9E37_79B9_7F4A_7C15L) >>> 40)
        & (copies.length - 1);
  }

  /** The copy of the node at an address; null if it is not cached. */
  byte[] get(long address) {
    if (isEmpty()) {
      return null;
    }
    final int place = place(address);
    return addresses[place] == address ? copies[place] : null;
  }

  /** An array for a copy, which counts as cached after {@link #remember}. */
  byte[] array(long address) {
    if (isEmpty()) {
      return scratch;
    }
    final int place = place(address);
    addresses[place] = 0;
    if (copies[place] == null) {
      copies[place] = new byte[NodeDescriptor.COPY_LENGTH];
    }
    return copies[place];
  }

  /** Marks the copy in the array of an address as cached. */
  void remember(long address) {
    if (!isEmpty()) {
      addresses[place(address)] = address;
    }
  }
}
