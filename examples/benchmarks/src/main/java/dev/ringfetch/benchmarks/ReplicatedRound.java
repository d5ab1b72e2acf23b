package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;

/**
 * A round of one side of {@link ReplicatedBench}.
 *
 * @param figures as the client has them.
 * @param membersUs processor time of all members for an operation, in microseconds, without
 *     compilers.
 * @param followerUs of one member that leads nothing, on average; NaN if there is none.
 */
record ReplicatedRound(Figures figures, double membersUs, double followerUs) {
  double p50Us() {
    return figures.p50Us();
  }

  double p99Us() {
    return figures.p99Us();
  }

  double perSecond() {
    return figures.perSecond();
  }
}
