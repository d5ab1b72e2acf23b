package dev.ringfetch.index.service;

import dev.ringfetch.index.outcome.ClientRegistry;

/**
 * What the leader of a replicated index has besides its entries: how reads find out that it leads
 * still, and which clients have numbers.
 *
 * @param barrier confirms reads
 * @param clients those of this index
 */
record Leadership(Barrier barrier, ClientRegistry clients) {
  /** Confirms that this node leads the index. */
  @FunctionalInterface
  interface Barrier {
    /**
     * Asks all members whether they still obey this leader. A read that begins after a yes gives
     * what was current at some moment since the question.
     */
    void confirm(Told told);
  }

  /** Takes the answer. */
  @FunctionalInterface
  interface Told {
    /** On any thread, once: whether this node led after it was asked. */
    void onConfirmed(boolean leads);
  }
}
