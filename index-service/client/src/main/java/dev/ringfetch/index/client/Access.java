package dev.ringfetch.index.client;

/** The way that a view's reads take. */
public enum Access {
  /** By calls, which the server answers. */
  RPC,
  /**
   * Out of the memory of the index, without the server's processor, where the server grants that;
   * by calls where not, and where memory alone cannot decide. Both ways answer the same.
   *
   * <p>A view's first reads open readers, one for each thread that reads at the same time, up to 8.
   * That waits for the server's grant, for up to half of a call's deadline, and is no part of it: a
   * read that gets no grant in that time goes by a call, with the whole deadline.
   */
  DIRECT
}
