package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;

/**
 * The peer that calls Index.Get by generated stubs.
 *
 * @param client that has {@link StubCalls}.
 * @param server the same where there is one process.
 * @param end ends the processes.
 */
record StubPeer(ChildProcess client, ChildProcess server, Runnable end) implements PeerContender {
  static StubPeer of(PairContender stubs) {
    return new StubPeer(
        stubs.pair().client(stubs.contender()), stubs.pair().server(), stubs::close);
  }

  @Override
  public Figures run(Load load, int millis) {
    return Figures.parse(
        switch (load.mode()) {
          case blocking -> oneByOne(load, millis);
          case future -> inFlight("future", load, millis);
          case async -> inFlight("async", load, millis);
          case lean -> inFlight("lean", load, millis);
          case standard ->
              load.inFlight() == 1 ? oneByOne(load, millis) : inFlight("pooled", load, millis);
          case ring, direct -> throw new IllegalArgumentException("nothing but stubs: " + load);
        });
  }

  private Answer oneByOne(Load load, int millis) {
    if (load.inFlight() != 1) {
      throw new IllegalArgumentException("one call blocks: " + load);
    }
    if (load.hasRate()) {
      return client.ask("due", load.payload(), load.rate(), millis);
    }
    return client.ask("round", load.payload(), millis);
  }

  private Answer inFlight(String command, Load load, int millis) {
    return client.ask(command, load.payload(), load.inFlight(), millis);
  }

  @Override
  public void close() {
    end.run();
  }
}
