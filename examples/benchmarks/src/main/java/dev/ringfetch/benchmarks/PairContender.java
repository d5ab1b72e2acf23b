package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.verbs.VerbsContender;
import dev.ringfetch.benchmarks.verbs.VerbsRound;
import dev.ringfetch.examples.load.Figures;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** Index.Get by blocking stub with direct executors, as a peer of its own. */
final class PairContender implements VerbsContender {
  private static final int LENGTH = 32;

  private final String host;
  private final Contender contender;
  private final List<String> flags;
  private Pair pair;

  /** Takes the address of this host that the client is to use. */
  PairContender(String host, Contender contender, List<String> flags) {
    this.host = host;
    this.contender = contender;
    this.flags = flags;
  }

  /** Starts both processes, too: they connect at once, and have a deadline for it. */
  @Override
  public void connect() {
    try {
      pair = Pair.start(host, true, List.of(contender), flags);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public VerbsRound round(int millis) {
    return VerbsRound.without(Figures.parse(pair.ask(contender, "round", LENGTH, millis)));
  }

  @Override
  public void close() {
    if (pair != null) {
      pair.close();
    }
  }
}
