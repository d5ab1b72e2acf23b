package dev.ringfetch.index.client;

/** The way that a view's reads take. */
public enum Access {
  /** By calls, which the server answers. */
  RPC,
  /**
   * Out of the memory of the index, without the server's processor, where the server grants that;
   * by calls where not, and where memory alone cannot decide. Both ways answer the same.
   */
  DIRECT
}
