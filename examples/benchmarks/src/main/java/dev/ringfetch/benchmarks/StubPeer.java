package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.ChildProcess;

/** Index.Get by generated stubs with direct executors, as a peer. */
record StubPeer(PairContender stubs) implements PeerContender {
  @Override
  public Figures run(Load load, int millis) {
    return Figures.parse(
        switch (load.mode()) {
          case blocking -> {
            if (load.inFlight() != 1) {
              throw new IllegalArgumentException("one call blocks: " + load);
            }
            yield stubs.pair().ask(stubs.contender(), "round", load.payload(), millis);
          }
          case async ->
              stubs.pair().ask(stubs.contender(), "async", load.payload(), load.inFlight(), millis);
          case direct -> throw new IllegalArgumentException("nothing but stubs: " + load);
        });
  }

  @Override
  public ChildProcess client() {
    return stubs.pair().client(stubs.contender());
  }

  @Override
  public ChildProcess server() {
    return stubs.pair().server();
  }

  @Override
  public void close() {
    stubs.close();
  }
}
