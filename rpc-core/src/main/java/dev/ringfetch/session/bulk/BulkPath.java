package dev.ringfetch.session.bulk;

import dev.ringfetch.fabric.CompletionRouter;
import dev.ringfetch.fabric.QueuePair;

/**
 * The way on which the two sides of a session reach each other's registered memory: by loads, or by
 * READs where both sides have said that they can.
 *
 * @param queuePair that leads to the peer.
 * @param window of this side's READs; without memory where the peer's is loaded from.
 * @param longReads whether both sides READ long messages.
 */
public record BulkPath(QueuePair queuePair, ReadWindow window, boolean longReads) {
  /** Creates the way, with a window. */
  public BulkPath(QueuePair queuePair, CompletionRouter completions, boolean longReads) {
    this(queuePair, new ReadWindow(queuePair, completions), longReads);
  }

  /** False when neither side reaches the other's memory. */
  public boolean isOpen() {
    return longReads || queuePair.capabilities().loadStore();
  }
}
