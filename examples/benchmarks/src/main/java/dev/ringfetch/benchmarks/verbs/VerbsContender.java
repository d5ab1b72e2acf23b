package dev.ringfetch.benchmarks.verbs;

/**
 * A peer: a server process and a client process, connected, which rest between their rounds. Not
 * for several threads at once.
 */
public interface VerbsContender extends AutoCloseable {
  /** Has the client make calls, one after the other, for some time. */
  VerbsRound round(int millis);

  /** Ends both processes. */
  @Override
  void close();
}
