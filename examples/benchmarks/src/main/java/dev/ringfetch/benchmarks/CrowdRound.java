package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import java.util.List;

/**
 * The combined result of clients that called at the same time.
 *
 * @param perSecond calls of all of them in a second.
 * @param slowest calls in a second of the slowest client, as a part of the mean, from 0 to 1.
 * @param p50Us the median client's median, in microseconds.
 * @param p99Us the longest 99th percentile of a client, in microseconds.
 */
record CrowdRound(double perSecond, double slowest, double p50Us, double p99Us) {
  static CrowdRound of(List<Figures> clients) {
    final double sum = clients.stream().mapToDouble(Figures::perSecond).sum();
    final double least = clients.stream().mapToDouble(Figures::perSecond).min().orElseThrow();
    return new CrowdRound(
        sum,
        least * clients.size() / sum,
        Figures.median(clients.stream().mapToDouble(Figures::p50Us).toArray()),
        clients.stream().mapToDouble(Figures::p99Us).max().orElseThrow());
  }
}
