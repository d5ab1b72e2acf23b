package dev.ringfetch.fabric;

/** The rights that a domain grants to its peers; each includes those before it. */
public enum Rights {
  /** Peers read. */
  READ(1),
  /** Peers read and write. */
  WRITE(3),
  /** Peers read, write, compare and swap, and fetch and add. */
  ATOMIC(7);

  private final int bits;

  Rights(int bits) {
    this.bits = bits;
  }

  /** One bit for each of READ, WRITE and atomics, from the lowest. */
  public int bits() {
    return bits;
  }

  /** Returns whether these rights include others. */
  public boolean include(Rights others) {
    return (bits & others.bits) == others.bits;
  }
}
