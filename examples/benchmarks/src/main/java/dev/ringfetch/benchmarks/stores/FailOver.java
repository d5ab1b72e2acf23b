package dev.ringfetch.benchmarks.stores;

import dev.ringfetch.examples.process.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A measurement of fail-over: the process that leads is killed while one thread puts. */
final class FailOver {
  private static final double NS_PER_MS = 1e6;

  private FailOver() {}

  /**
   * Kills a process and puts until a put is acknowledged that began when the process was gone.
   *
   * @param leader id of the process
   * @param number of the entry
   * @return the time from the signal on, in milliseconds
   */
  static Answer measure(Store store, long leader, long number) {
    try (Store.Session session = store.open()) {
      long stamp = 0;
      session.put(number, stamp++); // the connection is there
      final long beginNs = System.nanoTime();
      ProcessHandle.of(leader)
          .orElseThrow(() -> new IllegalStateException("process " + leader + " has ended before"))
          .destroyForcibly();
      boolean gone;
      do {
        gone = isGone(leader);
        session.put(number, stamp++);
      } while (!gone);
      return new Answer().with("millis", (System.nanoTime() - beginNs) / NS_PER_MS);
    }
  }

  /**
   * Whether nothing of it runs: it is no process any more, or one that its parent has not missed.
   */
  private static boolean isGone(long process) {
    try {
      final String stat = Files.readString(Path.of("/proc", Long.toString(process), "stat"));
      return "ZX".indexOf(stat.charAt(stat.lastIndexOf(')') + 2)) >= 0;
    } catch (IOException e) {
      return true;
    }
  }
}
