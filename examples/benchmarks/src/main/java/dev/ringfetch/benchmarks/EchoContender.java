package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.bulk.EchoPair;
import dev.ringfetch.benchmarks.verbs.VerbsContender;
import dev.ringfetch.benchmarks.verbs.VerbsRound;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Memory alone, as a peer. */
record EchoContender(EchoPair pair) implements VerbsContender {
  @Override
  public void connect() {
    try {
      pair.connect();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public VerbsRound round(int millis) {
    return VerbsRound.without(pair.round(millis));
  }

  @Override
  public void close() {
    pair.close();
  }
}
