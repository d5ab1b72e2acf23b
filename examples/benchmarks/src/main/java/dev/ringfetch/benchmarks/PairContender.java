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
    return new PairContender(Pair.start(host, true, List.of(contender), flags), contender);
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
