package dev.ringfetch.memory;

import dev.ringfetch.rpc.Experimental;

/** A lock that its holder has, until it closes this or loses it. Safe for use by many threads. */
@Experimental
public interface LockHold extends AutoCloseable {
  /**
   * The number of this hold, larger than that of each earlier one, also over restarts of the owner
   * unless the clock of its host is set back. What the lock guards refuses a number smaller than
   * one that it has seen: then a holder that was paused, and has lost the lock without knowing it,
   * does no harm.
   */
  long fence();

  /**
   * Whether the holder has the lock, as far as this process knows. A client loses it with its
   * connection to the owner.
   */
  boolean isHeld();

  /** Releases the lock. Idempotent. */
  @Override
  void close();
}
