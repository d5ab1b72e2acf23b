package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.ProcessUse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;

/**
 * The compilers of the JVMs that this process has started, as Linux sees them. On a slow processor
 * they have work for minutes. Not for several threads.
 */
final class Compilers {
  private ProcessUse before = new ProcessUse(Map.of(), 0);
  private long beforeNs = System.nanoTime();

  /**
   * The part of a processor that they have had since the last call of this method, or since they
   * began.
   */
  double share() throws IOException {
    final ProcessUse now = use();
    final long nowNs = System.nanoTime();
    final double share = (double) now.since(before).compilersNs() / Math.max(1, nowNs - beforeNs);
    before = now;
    beforeNs = nowNs;
    return share;
  }

  /** Of all of them at once: no two threads of a system have the same id. */
  private static ProcessUse use() throws IOException {
    final Map<Long, ProcessUse.ThreadUse> threads = new HashMap<>();
    for (final ProcessHandle child : ProcessHandle.current().children().toList()) {
      try {
        threads.putAll(ProcessUse.of(child.pid()).threads());
      } catch (IOException | UncheckedIOException e) {
        if (child.isAlive()) {
          throw e;
        }
      }
    }
    return new ProcessUse(threads, 0); // of compilers alone
  }
}
