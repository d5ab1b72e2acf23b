package dev.ringfetch.memory;

/**
 * A receiver of a broadcast's messages.
 *
 * @param <T> type of the messages.
 */
@FunctionalInterface
public interface BroadcastHandler<T> {
  /** The next message. */
  void onMessage(T message);

  /**
   * The reader was lapped: the owner has overwritten messages before the reader came to them.
   * Called before the message that follows them. Does nothing unless implemented.
   *
   * @param messages how many.
   */
  default void onLapped(long messages) {}
}
