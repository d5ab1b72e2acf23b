package dev.ringfetch.index.replication;

import java.util.Map;
import java.util.TreeMap;

/** What has happened in simulations, for a test to see that it has. */
final class Coverage {
  private final Map<String, Long> counts = new TreeMap<>();

  void count(String what) {
    add(what, 1);
  }

  void add(String what, long times) {
    counts.merge(what, times, Long::sum);
  }

  long of(String what) {
    return counts.getOrDefault(what, 0L);
  }

  @Override
  public String toString() {
    return counts.toString();
  }
}
