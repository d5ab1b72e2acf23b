package dev.ringfetch.session.handshake;

import dev.ringfetch.session.SessionContext;
import java.security.SecureRandom;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The settings of a server that all its handshakes share. Immutable.
 *
 * @param fabrics that the server serves.
 * @param methods full names; the index is the id.
 * @param sessions the options of sessions.
 * @param timer ends waits for the client; its tasks write to the control stream.
 * @param random source of tokens, epochs and positions.
 */
public record HandshakeContext(
    List<PolledFabric> fabrics,
    List<String> methods,
    SessionContext sessions,
    Timer timer,
    RandomGenerator random) {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Creates the settings with a source of random numbers that no peer can guess. */
  public HandshakeContext(
      List<PolledFabric> fabrics, List<String> methods, SessionContext sessions, Timer timer) {
    this(fabrics, methods, sessions, timer, RANDOM);
  }

  /** Creates the settings; the list of fabrics is copied. */
  public HandshakeContext {
    fabrics = List.copyOf(fabrics);
  }

  /** The timer of handshakes. Costs nothing while there is no task. */
  @FunctionalInterface
  public interface Timer {
    /** Runs the task once after a delay, unless what is returned is run before. */
    Runnable schedule(Runnable task, long delayNs);
  }
}
