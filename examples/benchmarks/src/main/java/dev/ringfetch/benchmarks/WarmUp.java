package dev.ringfetch.benchmarks;

import java.io.IOException;
import java.util.function.IntConsumer;

/**
 * The warm-up of a peer: makes calls for a given time, and then until compilers rest. Code that
 * they still compile is slower than it will be, and they take processors from the peers that are
 * measured.
 */
final class WarmUp {
  /** Of a processor: less than this and compilers rest. */
  static final double RESTING = 0.05;

  private static final int SLICES = 9;
  private static final int MOST = 4; // times the given time

  /** The part of a processor that compilers have had since the last call of this method. */
  @FunctionalInterface
  interface Share {
    double taken() throws IOException;
  }

  private WarmUp() {}

  /**
   * Warms up.
   *
   * @param millis the given time; it takes about four times as much at the most.
   * @param round makes calls for so many milliseconds.
   * @return the part of a processor that compilers had in the last round, which takes a ninth of
   *     the given time.
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
