package dev.ringfetch.benchmarks;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * How long everything goes.
 *
 * @param rounds how many.
 * @param millis length of a round.
 * @param warmUp milliseconds with the first load of each mode of a peer.
 */
record Timing(int rounds, int millis, int warmUp) {
  /** Enough for memory alone: little code, and millions of calls a second. */
  private static final int SHORT_WARM_UP_MILLIS = 1500;

  /** What a further load of a mode has: only what depends on lengths and depths is new. */
  private static final int FURTHER = 4;

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

  /** One line for people: what there is to do, and how long it takes. */
  String describe(List<Entry> entries) {
    final double warmUpMillis =
        warmUps(entries).values().stream().mapToInt(Integer::intValue).sum();
    return String.format(
        Locale.ROOT,
        "%d rows x %d rounds x %.1f s = %.1f minutes, after %.1f minutes of warm-up",
        entries.size(),
        rounds,
        millis / 1000.0,
        (double) entries.size() * rounds * millis / MILLIS_PER_MINUTE,
        warmUpMillis / MILLIS_PER_MINUTE);
  }
}
