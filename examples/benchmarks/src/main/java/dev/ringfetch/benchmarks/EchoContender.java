package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.bulk.EchoPair;
import dev.ringfetch.benchmarks.verbs.VerbsContender;
import dev.ringfetch.benchmarks.verbs.VerbsRound;

/** Memory alone, as a peer. */
record EchoContender(EchoPair pair) implements VerbsContender {
  @Override
  public VerbsRound round(int millis) {
    return VerbsRound.without(pair.round(millis));
  }

  @Override
  public void close() {
    pair.close();
  }
}
