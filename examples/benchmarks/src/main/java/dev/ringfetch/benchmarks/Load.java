package dev.ringfetch.benchmarks;

import java.util.ArrayList;
import java.util.List;

/**
 * What a peer is asked to do.
 *
 * @param mode how calls are made.
 * @param payload of an answer, in bytes.
 * @param inFlight how many calls are on their way at once.
 */
record Load(Mode mode, int payload, int inFlight) {
  private static final int SMALL = 32;

  /**
   * What a mode is measured with.
   *
   * @param payloads of the calls that are made one at a time, in bytes.
   * @param depths of the small calls that are on their way together.
   */
  static List<Load> of(Mode mode, List<Integer> payloads, List<Integer> depths) {
    final List<Load> loads = new ArrayList<>();
    if (mode.isOneByOne()) {
      payloads.forEach(payload -> loads.add(new Load(mode, payload, 1)));
      return loads;
    }
    if (mode == Mode.standard) {
      loads.add(new Load(mode, SMALL, 1));
    }
    depths.forEach(depth -> loads.add(new Load(mode, SMALL, depth)));
    return loads;
  }
}
