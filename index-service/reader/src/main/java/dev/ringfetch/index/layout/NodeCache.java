package dev.ringfetch.index.layout;

/**
 * Copies of inner nodes that a reader remembers, the newer one of two with the same place. Used by
 * one thread at a time.
 */
final class NodeCache {
  private final byte[][] copies;
  private final long[] addresses;
  private final byte[] scratch = new byte[NodeDescriptor.COPY_LENGTH];

  /** Creates an empty cache of so many nodes, 0 or a power of two. */
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

  /** The copy of the node at an address, or null if it is not remembered. */
  byte[] get(long address) {
    if (isEmpty()) {
      return null;
    }
    final int place = place(address);
    return addresses[place] == address ? copies[place] : null;
  }

  /** An array for a copy, which is not remembered until {@link #remember}. */
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

  /** Remembers what stands in the array of an address. */
  void remember(long address) {
    if (!isEmpty()) {
      addresses[place(address)] = address;
    }
  }
}
