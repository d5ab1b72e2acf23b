package dev.ringfetch.session.carrier;

import dev.ringfetch.session.owner.OwnedBy;

/**
 * The times at which a side of a session may send, where its peer shares a card's time out among
 * many clients. The default methods are those of a side that may send at any time.
 */
@OwnedBy("session")
public interface SendingTurn {
  /** The turn of a side that may send at any time. */
  SendingTurn ALWAYS = new SendingTurn() {};

  /** True when output is to wait for this side's turn; called in every round. */
  default boolean holds(boolean empty) {
    return false;
  }

  /** True while there is output that waits for this side's turn. */
  default boolean isHolding() {
    return false;
  }

  /** The time until which output waits, as of the last {@link #holds}. */
  default long heldUntilNs() {
    return 0;
  }

  /** True when the poller stays until the waiting output was sent. */
  default boolean isWatched() {
    return false;
  }

  /** Called when the poller has come, or has gone. */
  default void watched(boolean stays) {}
}
