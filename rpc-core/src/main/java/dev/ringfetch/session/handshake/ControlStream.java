package dev.ringfetch.session.handshake;

/**
 * This side's end of the stream over which a session is opened; the owner of the stream passes
 * inbound steps to the handshake. Thread-safe.
 *
 * @param <T> type of this side's steps.
 */
public interface ControlStream<T> {
  /** Sends a step. Without effect when the stream has ended. */
  void send(T step);

  /** Ends the stream in good order. Idempotent. */
  void close();

  /** Ends the stream because this side has no room for another session. Idempotent. */
  void exhausted(String reason);

  /** Ends the stream because the peer has taken no step in time. Idempotent. */
  void expired(String reason);
}
