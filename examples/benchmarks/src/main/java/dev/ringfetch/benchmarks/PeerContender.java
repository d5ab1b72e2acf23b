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
  /** Has the client make such calls for some time. */
  Figures run(Load load, int millis);

  /** What the calls of the last run took, in nanoseconds, one by one. */
  default Histogram latencies() {
    return Latencies.parse(client().ask("latencies"));
  }

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
