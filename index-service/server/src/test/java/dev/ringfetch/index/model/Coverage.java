package dev.ringfetch.index.model;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/** Counts the steps that a search made, by kind and epoch, to states known or not. */
final class Coverage {
  private final Map<Step, long[]> counts = new EnumMap<>(Step.class);

  Coverage() {
    for (final Step step : Step.values()) {
      counts.put(step, new long[4]);
    }
  }

  /** Counts a step. */
  void add(Step step, int epoch) {
    counts.get(step)[epoch]++;
  }

  /** Adds what another search has counted. */
  void add(Coverage other) {
    for (final Map.Entry<Step, long[]> entry : counts.entrySet()) {
      Arrays.setAll(
          entry.getValue(), epoch -> entry.getValue()[epoch] + other.count(entry.getKey(), epoch));
    }
  }

  /** Returns the number of steps of a kind in an epoch; 0 for those of none. */
  long count(Step step, int epoch) {
    return counts.get(step)[epoch];
  }

  /** Returns a table with a line for each kind that was met: the counts of no epoch, of 1, 2, 3. */
  @Override
  public String toString() {
    final StringBuilder text = new StringBuilder();
    counts.forEach(
        (step, cells) -> {
          if (Arrays.stream(cells).anyMatch(cell -> cell != 0)) {
            text.append(String.format("%-14s", step));
            Arrays.stream(cells).forEach(cell -> text.append(String.format(" %11d", cell)));
            text.append('\n');
          }
        });
    return text.toString();
  }
}
