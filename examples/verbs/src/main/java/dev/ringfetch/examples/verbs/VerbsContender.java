package dev.ringfetch.examples.verbs;

import dev.ringfetch.examples.process.ChildProcess;

/**
 * A peer: a server process and a client process, connected, which rest between their rounds. Not
 * for several threads at once.
 */
public interface VerbsContender extends AutoCloseable {
  /** Makes the client issue calls, one after the other, for some time. */
  VerbsRound round(int millis);

  /** The client's process. */
  ChildProcess client();

  /** The server's process. */
  ChildProcess server();

  /** Ends both processes. */
  @Override
  void close();
}
