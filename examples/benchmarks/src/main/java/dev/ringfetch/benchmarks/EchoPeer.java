package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.bulk.EchoPair;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.verbs.VerbsContender;
import dev.ringfetch.examples.verbs.VerbsRound;

/** The peer that sends bytes there and back. */
record EchoPeer(EchoPair pair) implements PeerContender, VerbsContender {
  private static final int PAYLOAD = 32; // of rounds beside verbs

  @Override
  public Figures run(Load load, int millis) {
    if (load.mode() != Mode.direct || load.hasRate()) {
      throw new IllegalArgumentException("not without a stub: " + load);
    }
    return pair.round(load.payload(), load.inFlight(), millis);
  }

  @Override
  public VerbsRound round(int millis) {
    return VerbsRound.without(pair.round(PAYLOAD, millis));
  }

  @Override
  public ChildProcess client() {
    return pair.client();
  }

  @Override
  public ChildProcess server() {
    return pair.server();
  }

  @Override
  public void close() {
    pair.close();
  }
}
