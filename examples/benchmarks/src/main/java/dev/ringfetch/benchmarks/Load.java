package dev.ringfetch.benchmarks;

import java.util.ArrayList;
import java.util.List;

/**
 * The load that a peer is measured with.
 *
 * @param mode how calls are made.
 * @param payload of an answer, in bytes.
 * @param inFlight number of calls in flight.
 * @param rate number of calls that are due in a second, independent of the ends of others; 0: the
 *     next call begins when one ends.
 */
record Load(Mode mode, int payload, int inFlight, int rate) {
  /** Shortest answer, in bytes. */
  static final int MIN_PAYLOAD = 8;

  /** Longest answer, in bytes. */
  static final int MAX_PAYLOAD = 1024 * 1024;

  private static final int SMALL = 32;
  private static final int BULK = 64 * 1024;
  private static final int MAX_BULK_DEPTH = 16;

  /** Calls that begin when others end. */
  Load(Mode mode, int payload, int inFlight) {
    this(mode, payload, inFlight, 0);
  }

  /** Small calls that are due so many times a second. */
  static Load atRate(int rate) {
    return new Load(Mode.blocking, SMALL, 1, rate);
  }

  /** Whether answers can be so long. */
  static boolean isPayload(int payload) {
    return payload >= MIN_PAYLOAD && payload <= MAX_PAYLOAD;
  }

  /** Whether calls have a time at which they are due. */
  boolean hasRate() {
    return rate > 0;
  }

  /**
   * The loads of a mode: calls one at a time by length, where the mode is made for these, and small
   * calls at each depth.
   *
   * @param payloads of answers, in bytes.
   * @param depths how many calls are on their way together, beside one.
   * @param full each length at each depth that makes sense instead.
   */
  static List<Load> of(Mode mode, List<Integer> payloads, List<Integer> depths, boolean full) {
    final List<Load> loads = new ArrayList<>();
    if (mode.isOneByOne()) {
      payloads.forEach(payload -> loads.add(new Load(mode, payload, 1)));
      return loads;
    }
    if (full || mode != Mode.async) { // a callback that issues the next is for several at once
      final boolean byLength =
          full || mode == Mode.ring || mode == Mode.lean || mode == Mode.direct;
      (byLength ? payloads : List.of(SMALL))
          .forEach(length -> loads.add(new Load(mode, length, 1)));
    }
    for (final int payload : full ? payloads : List.of(SMALL)) {
      for (final int depth : depths) {
        if (payload < BULK || depth <= MAX_BULK_DEPTH) {
          loads.add(new Load(mode, payload, depth));
        }
      }
    }
    return loads;
  }
}
