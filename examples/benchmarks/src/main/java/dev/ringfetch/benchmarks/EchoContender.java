package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.bulk.EchoPair;
import dev.ringfetch.benchmarks.verbs.VerbsContender;
import dev.ringfetch.benchmarks.verbs.VerbsRound;
import dev.ringfetch.examples.process.ChildProcess;

/** Memory alone, as a peer. */
record EchoContender(EchoPair pair) implements VerbsContender {
  private static final int PAYLOAD = 32;

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
