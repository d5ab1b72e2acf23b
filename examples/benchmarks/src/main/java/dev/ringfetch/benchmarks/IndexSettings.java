package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.Rings;
import java.util.List;
import java.util.Set;

/**
 * The settings of a run of {@link IndexBench}.
 *
 * @param entries of each store.
 * @param growth entries to which an index grows.
 * @param seed of what is drawn.
 * @param timing of the rounds; its warm-up is that of a side's first row.
 * @param sides that may take part.
 * @param flags of the JVMs.
 */
record IndexSettings(
    int entries,
    int growth,
    long seed,
    Timing timing,
    Set<StoreSide> sides,
    Rings rings,
    List<String> flags) {
  int rounds() {
    return timing.rounds();
  }

  int warmUp() {
    return timing.warmUp();
  }

  /** What all contenders have in common. */
  StoreContender.Settings contender() {
    return contender(entries);
  }

  /** Same, with other entries. */
  StoreContender.Settings contender(int ofEntries) {
    return new StoreContender.Settings(ofEntries, seed, rings, flags);
  }
}
