package dev.ringfetch.examples.verbs;

import dev.ringfetch.examples.process.ChildProcess;

/**
 * A peer: a server process and a client process, connected, which rest between their rounds. Not
 * for several threads at once.
 */
public interface VerbsContender extends AutoCloseable {
  /** Has the client make calls, one after the other, for some time. */
  VerbsRound round(int millis);

  /** The process that makes the calls. */
  ChildProcess client();

  /** The process that answers. */
  ChildProcess server();

  /** Ends both processes. */
  @Override
  void close();
}
