package dev.ringfetch.benchmarks;

import java.util.Locale;

/**
 * The counter of a benchmark's rounds. It marks the rounds with doubtful figures: other processes
 * had too much of the machine, or processes that ought to rest had too much of a processor. A run
 * with marked rounds is to be repeated.
 */
final class Marks {
  private static final double MAX_FOREIGN = 0.1;
  private static final double MAX_RESTING_CORES = 0.2;

  private long rounds;
  private long marked;

  /** Whether a round is to be marked, see {@link Costed}. */
  static boolean isMarked(double foreign, double restingCores) {
    return foreign > MAX_FOREIGN || restingCores > MAX_RESTING_CORES;
  }

  /** Counts a round, and returns it. */
  <T> Costed<T> count(Costed<T> round) {
    rounds++;
    if (isMarked(round.foreign(), round.restingCores())) {
      marked++;
    }
    return round;
  }

  /** Counts a round, and returns its result. */
  <T> T counted(Costed<T> round) {
    return count(round).value();
  }

  /** A line for people. */
  static String line(long marked, long rounds) {
    return String.format(
        Locale.ROOT,
        "marked, as others had more than a tenth of the machine, or peers at rest more than a fifth"
            + " of a processor: %d of %d rounds",
        marked,
        rounds);
  }

  /** The line of what was counted. */
  String line() {
    return line(marked, rounds);
  }
}
