package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Latencies;
import dev.ringfetch.examples.process.ChildProcess;
import org.HdrHistogram.Histogram;

/**
 * A peer whose processes run: a server and a client, connected, which rest between their rounds.
 * Both answer {@code allocated}, the client {@code latencies}. Not for several threads at once.
 */
interface PeerContender extends AutoCloseable {
  /** Makes the client issue calls of a load for some time. */
  Figures run(Load load, int millis);

  /** The latencies of the last run's calls, in nanoseconds, one by one. */
  default Histogram latencies() {
    return Latencies.parse(client().ask("latencies"));
  }

  /** The client's process. */
  ChildProcess client();

  /** The server's process. */
  ChildProcess server();

  /** Whether one process does both. */
  default boolean isOneProcess() {
    return client() == server();
  }

  /** Ends both processes. */
  @Override
  void close();
}
