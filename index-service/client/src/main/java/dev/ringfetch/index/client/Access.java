package dev.ringfetch.index.client;

import dev.ringfetch.rpc.Experimental;

/** The route of a view's reads: by calls, or out of the index's memory. */
public enum Access {
  /** By calls, which the server answers. */
  RPC,
  /**
   * Out of the memory of the index, without the server's processor, if the server grants that.
   * Reads go by calls if the server does not, or if memory alone cannot decide. Both routes give
   * the same answers.
   *
   * <p>A view's first reads open readers, one for each thread that reads at the same time, up to 8.
   * Opening waits for the server's grant for up to half of a call's deadline; the wait does not
   * count against the deadline. A read without a grant after that time goes by a call, with the
   * whole deadline. Futures have up to 8 readers of their own, which never wait.
   */
  DIRECT,
  /**
   * One of both, whichever has been faster lately for this client and for {@linkplain ReadKind
   * reads of the kind}; both by turns where that serves more. Reads go directly at first. It needs
   * many reads to learn: some hundred of each kind. Reads as futures go by calls.
   */
  @Experimental
  ADAPTIVE
}
