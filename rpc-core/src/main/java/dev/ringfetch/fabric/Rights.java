package dev.ringfetch.fabric;

/** The rights that a domain grants to its peers; each includes those before it. */
public enum Rights {
  /** Peers read. */
  READ,
  /** Peers read and write. */
  WRITE,
  /** Peers read, write, compare and swap, and fetch and add. */
  ATOMIC;

  /** Returns whether these rights include others. */
  public boolean include(Rights others) {
    return compareTo(others) >= 0;
  }
}
