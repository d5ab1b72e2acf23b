package dev.ringfetch.benchmarks;

import java.io.IOException;
import java.util.function.IntConsumer;

/**
 * Calls before the first that count, for as long as was asked for and then on until compilers rest:
 * what they still work on is slower than it will be, and they take processors from who is measured.
 */
final class WarmUp {
  /** Of a processor: less than this and compilers rest. */
  static final double RESTING = 0.05;

  private static final int SLICES = 9;
  private static final int MOST = 4; // times what was asked for

  /** How much of a processor compilers have had since this was asked last. */
  @FunctionalInterface
  interface Share {
    double taken() throws IOException;
  }

  private WarmUp() {}

  /**
   * Warms up.
   *
   * @param millis what is asked for; about four times as much at the most.
   * @param round makes calls for so many milliseconds.
   * @return what compilers have had of a processor in the last round, a ninth as long as asked.
   */
  static double run(int millis, IntConsumer round, Share compilers) throws IOException {
    final int slice = Math.max(1, millis / SLICES);
    int done = millis - slice;
    if (done > 0) {
      round.accept(done);
    }
    compilers.taken();
    double share;
    do {
      round.accept(slice);
      done += slice;
      share = compilers.taken();
    } while (share >= RESTING && done < (long) MOST * millis);
    return share;
  }
}
