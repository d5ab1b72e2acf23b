package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.verbs.VerbsContender;
import dev.ringfetch.benchmarks.verbs.VerbsRound;
import dev.ringfetch.examples.load.Figures;
import java.io.IOException;
import java.util.List;

/** Index.Get by blocking stub with direct executors, as a peer. */
record PairContender(Pair pair, Contender contender) implements VerbsContender {
  private static final int LENGTH = 32;

  /** Starts both processes; the client uses an address of this host. */
  static PairContender start(String host, Contender contender, List<String> flags)
      throws IOException {
    final Pair pair = Pair.start(host, true, List.of(contender), flags);
    final String transport = pair.ask(contender, "describe").text("transport");
    if (!transport.equals(contender == Contender.ring ? "shm" : "grpc")) {
      pair.close();
      throw new IllegalStateException(contender + " over " + transport);
    }
    return new PairContender(pair, contender);
  }

  @Override
  public VerbsRound round(int millis) {
    return VerbsRound.without(Figures.parse(pair.ask(contender, "round", LENGTH, millis)));
  }

  @Override
  public void close() {
    pair.close();
  }
}
