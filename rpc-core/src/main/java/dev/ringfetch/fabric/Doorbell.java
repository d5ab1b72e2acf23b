package dev.ringfetch.fabric;

import java.io.IOException;

/**
 * The event source that a poller sleeps on: rings of the peers of all its queue pairs, arrivals of
 * peers, and ends of connections.
 *
 * <p>{@link #await} and {@link #poll} belong to one owner thread and call the listeners on it;
 * {@link #wakeup} and {@link #close} may be called from any thread. A listener may be called while
 * an outer call of the owner to {@link #await} or {@link #poll} has not returned (a callback that
 * polls).
 */
public interface Doorbell extends AutoCloseable {
  /** No timeout: sleeps until something happens. */
  long FOREVER = Long.MAX_VALUE;

  /**
   * Sleeps until a ring, an arrival, an end, {@link #wakeup} or the timeout, and tells the
   * listeners. May return early without an event. Does not sleep on a thread that is interrupted.
   *
   * @param timeoutNs how long at the most, in nanoseconds, rounded up to what the system can;
   *     {@link #FOREVER} without limit.
   * @return how many events were delivered.
   */
  int await(long timeoutNs) throws IOException;

  /** As {@link #await}, without sleeping. */
  int poll() throws IOException;

  /** Lets the current or the next {@link #await} return at once. */
  void wakeup();

  @Override
  void close();
}
