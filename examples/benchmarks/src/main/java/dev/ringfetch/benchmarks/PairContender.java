package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.verbs.VerbsContender;
import dev.ringfetch.benchmarks.verbs.VerbsRound;
import dev.ringfetch.examples.load.Figures;
import java.io.IOException;
import java.util.List;

/** Index.Get by blocking stub with direct executors, as a peer of its own. */
final class PairContender implements VerbsContender {
  private static final int LENGTH = 32;

  private final Pair pair;
  private final Contender contender;

  private PairContender(Pair pair, Contender contender) {
    this.pair = pair;
    this.contender = contender;
  }

  /** Starts both processes, and connects them. */
  static PairContender start(String host, Contender contender, List<String> flags)
      throws IOException {
    return new PairContender(Pair.start(host, true, List.of(contender), flags), contender);
  }

  @Override
  public void connect() {
    // A pair is connected from the start.
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
