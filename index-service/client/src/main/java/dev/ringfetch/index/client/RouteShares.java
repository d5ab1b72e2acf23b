package dev.ringfetch.index.client;

import java.util.concurrent.ThreadLocalRandom;

/**
 * The shares of an index's reads that go directly, one for each kind: of one entry, of up to 10, of
 * up to 100, of more. Safe for use by many threads.
 */
final class RouteShares {
  /** The most entries of each kind but the last. */
  private static final int[] MOST = {1, 10, 100};

  private final RouteShare[] shares = new RouteShare[MOST.length + 1];

  RouteShares(String index, ClientMetrics metrics) {
    for (int i = 0; i < shares.length; i++) {
      final int most = i < MOST.length ? MOST[i] : Integer.MAX_VALUE;
      shares[i] =
          new RouteShare(
              System::nanoTime,
              bound -> ThreadLocalRandom.current().nextInt(bound),
              (eighths, probes) -> metrics.onShare(index, most, eighths, probes));
    }
  }

  /** The share of reads of so many entries. */
  RouteShare of(int entries) {
    int kind = 0;
    while (kind < MOST.length && entries > MOST[kind]) {
      kind++;
    }
    return shares[kind];
  }
}
