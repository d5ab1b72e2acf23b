package dev.ringfetch.benchmarks;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;

/**
 * Numbers and lengths of rounds and warm-ups.
 *
 * @param rounds how many.
 * @param millis length of a round.
 * @param warmUp milliseconds with the first load of each mode of a peer.
 */
record Timing(int rounds, int millis, int warmUp) {
  /** Enough for memory alone: little code, and millions of calls a second. */
  private static final int SHORT_WARM_UP_MILLIS = 1500;

  /**
   * Warm-up of a further load of a mode: only the code that depends on lengths and depths is new.
   */
  private static final int FURTHER = 4;

  private static final double MILLIS_PER_SECOND = 1000;
  private static final double MILLIS_PER_MINUTE = 60_000;

  /** How long each is warmed up, in milliseconds and in the given order. */
  Map<Entry, Integer> warmUps(List<Entry> entries) {
    final Map<Entry, Integer> warmUps = new LinkedHashMap<>();
    final Set<String> begun = new HashSet<>();
    for (final Entry entry : entries) {
      final int whole =
          entry.load().mode() == Mode.direct ? Math.min(warmUp, SHORT_WARM_UP_MILLIS) : warmUp;
      final boolean first = begun.add(entry.peer() + " " + entry.load().mode());
      warmUps.put(entry, first ? whole : whole / FURTHER);
    }
    return warmUps;
  }

  /** The settings that compared rounds must share, in words for scripts, with the JDK. */
  String settings() {
    return "millis="
        + millis
        + " warm-up="
        + warmUp
        + " jdk="
        + System.getProperty("java.vm.version");
  }

  /** How long warm-ups and rounds take, in milliseconds. */
  double millis(Map<Entry, Integer> warmUps, ToIntFunction<Entry> missing) {
    return warmUpMillis(warmUps) + roundMillis(warmUps, missing);
  }

  private static double warmUpMillis(Map<Entry, Integer> warmUps) {
    return warmUps.values().stream().mapToDouble(Integer::doubleValue).sum();
  }

  private double roundMillis(Map<Entry, Integer> warmUps, ToIntFunction<Entry> missing) {
    return (double) millis * warmUps.keySet().stream().mapToInt(missing).sum();
  }

  /**
   * One line for people: the rounds to measure, and their duration.
   *
   * @param rows that are requested.
   * @param warmUps of those that are not finished.
   * @param missing rounds of a row.
   */
  String describe(int rows, Map<Entry, Integer> warmUps, ToIntFunction<Entry> missing) {
    final int asked = rows * rounds;
    final int left = warmUps.keySet().stream().mapToInt(missing).sum();
    return String.format(
        Locale.ROOT,
        "%d rows x %d rounds x %.1f s = %.1f minutes%s, after %.1f minutes of warm-up",
        rows,
        rounds,
        millis / MILLIS_PER_SECOND,
        (double) asked * millis / MILLIS_PER_MINUTE,
        left == asked
            ? ""
            : String.format(
                Locale.ROOT,
                ", %.1f of them left",
                roundMillis(warmUps, missing) / MILLIS_PER_MINUTE),
        warmUpMillis(warmUps) / MILLIS_PER_MINUTE);
  }
}
