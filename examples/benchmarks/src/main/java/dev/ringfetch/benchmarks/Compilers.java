package dev.ringfetch.benchmarks;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.Map;

/**
 * The compilers of the JVMs that this process has started, as Linux sees them. On a slow processor
 * they have work for minutes. Not for several threads.
 */
final class Compilers {
  private Map<Long, ProcessUse> before = Map.of();
  private long beforeNs = System.nanoTime();

  /** How much of a processor they have had since this was asked last, or since they began. */
  double share() throws IOException {
    final Map<Long, ProcessUse> now = uses();
    final long nowNs = System.nanoTime();
    long sum = 0;
    for (final Map.Entry<Long, ProcessUse> use : now.entrySet()) {
      final ProcessUse earlier = before.get(use.getKey());
      sum += (earlier == null ? use.getValue() : use.getValue().since(earlier)).compilersNs();
    }
    final double share = (double) sum / Math.max(1, nowNs - beforeNs);
    before = now;
    beforeNs = nowNs;
    return share;
  }

  private static Map<Long, ProcessUse> uses() throws IOException {
    final Map<Long, ProcessUse> uses = new HashMap<>();
    for (final ProcessHandle child : ProcessHandle.current().children().toList()) {
      try {
        uses.put(child.pid(), ProcessUse.of(child.pid()));
      } catch (NoSuchFileException e) {
        // It has ended.
      }
    }
    return uses;
  }
}
