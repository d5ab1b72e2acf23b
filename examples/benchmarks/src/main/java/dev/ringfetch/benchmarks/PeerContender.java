package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.ChildProcess;

/**
 * A peer whose processes run: a server and a client, connected, which rest between their rounds.
 * Both answer {@code allocated}. Not for several threads at once.
 */
interface PeerContender extends AutoCloseable {
  /** Has the client make such calls for some time. */
  Figures run(Load load, int millis);

  /** The process that asks. */
  ChildProcess client();

  /** The process that answers. */
  ChildProcess server();

  /** Whether one process does both. */
  default boolean isOneProcess() {
    return client() == server();
  }

  /** Ends both processes. */
  @Override
  void close();
}
