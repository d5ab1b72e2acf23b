package dev.ringfetch.benchmarks;

import java.util.Locale;

/**
 * Counts the rounds of a benchmark, and marks those in which others had so much of the machine that
 * the figures are doubtful. A run with marked rounds is to be repeated.
 */
final class Marks {
  private static final double MAX_FOREIGN = 0.1;

  private long rounds;
  private long marked;

  /** Whether a round is to be marked in which others had such a part of the machine. */
  static boolean isMarked(double foreign) {
    return foreign > MAX_FOREIGN;
  }

  /** Counts a round, and returns it. */
  <T> Costed<T> count(Costed<T> round) {
    rounds++;
    if (isMarked(round.foreign())) {
      marked++;
    }
    return round;
  }

  /** Counts a round, and returns what it gave. */
  <T> T counted(Costed<T> round) {
    return count(round).value();
  }

  /** A line for people. */
  static String line(long marked, long rounds) {
    return String.format(
        Locale.ROOT,
        "marked, as others had more than a tenth of the machine: %d of %d rounds",
        marked,
        rounds);
  }

  /** The line of what was counted. */
  String line() {
    return line(marked, rounds);
  }
}
