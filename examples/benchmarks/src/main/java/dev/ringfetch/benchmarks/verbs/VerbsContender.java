package dev.ringfetch.benchmarks.verbs;

/**
 * A peer: a server process and a client process, which are there from the start and rest between
 * their rounds. Made by starting both; not for several threads at once.
 */
public interface VerbsContender extends AutoCloseable {
  /** Connects the two and has them make a call. */
  void connect();

  /** Has the client make calls, one after the other, for some time. */
  VerbsRound round(int millis);

  /** Ends both processes. */
  @Override
  void close();
}
