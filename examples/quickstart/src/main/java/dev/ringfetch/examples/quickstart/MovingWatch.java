package dev.ringfetch.examples.quickstart;

import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.IndexChange;
import dev.ringfetch.index.client.Located;
import dev.ringfetch.index.client.SpatialIndex;
import dev.ringfetch.index.client.Watch;
import dev.ringfetch.index.client.WatchOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * A watch of a box that moves over vehicles, which drive, park and come back: after each step it
 * goes on with the next box from the token of the last one. Compares what it tells with what the
 * vehicles did. Used by one thread.
 */
final class MovingWatch {
  private static final int VEHICLES = 300;
  private static final int MOVES = 100; // a step
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Duration QUIET = Duration.ofMillis(20);

  private final SpatialIndex<String, Long> vehicles;
  private final Box frame;
  private final Random random;
  private final Map<String, Box> places = new HashMap<>();

  /** All changes of each vehicle, in their order. */
  private final Map<String, List<Move>> moves = new HashMap<>();

  private final Map<IndexChange.Crossing, Integer> told = new EnumMap<>(IndexChange.Crossing.class);
  private int mismatches;

  /** Where a vehicle was and is; null for nowhere. The version is 0 if it was removed. */
  private record Move(Box from, Box to, long version) {
    IndexChange.Crossing crossing(Box box) {
      final boolean wasIn = from != null && box.intersects(from);
      if (to != null && box.intersects(to)) {
        return wasIn ? IndexChange.Crossing.MOVE : IndexChange.Crossing.ENTER;
      }
      return wasIn ? IndexChange.Crossing.LEAVE : null;
    }
  }

  MovingWatch(SpatialIndex<String, Long> vehicles, Box frame, Random random) {
    this.vehicles = vehicles;
    this.frame = frame;
    this.random = random;
  }

  /** Number of the changes told, by their kinds. */
  Map<IndexChange.Crossing, Integer> told() {
    return told;
  }

  /** Answers that were wrong, or changes that did not come. */
  int mismatches() {
    return mismatches;
  }

  /** Where the vehicles are. */
  Map<String, Box> places() {
    return places;
  }

  /** Watches one box after the other. */
  void run(List<Box> boxes) {
    for (int i = 0; i < VEHICLES; i++) {
      drive("vehicle " + i);
    }
    WatchOptions options = WatchOptions.fromNow();
    for (final Box box : boxes) {
      final Map<String, Integer> before = new HashMap<>();
      moves.forEach((id, all) -> before.put(id, all.size()));
      try (Watch<String, Located<Long>> watch = vehicles.watch(box, options)) {
        checkContent(box);
        for (int i = 0; i < MOVES; i++) {
          drive("vehicle " + random.nextInt(VEHICLES));
        }
        take(watch, box, before);
        options = WatchOptions.from(watch.token());
      }
    }
  }

  private void drive(String id) {
    final Box from = places.get(id);
    if (from != null && random.nextInt(20) == 0) {
      vehicles.remove(id);
      places.remove(id);
      note(id, new Move(from, null, 0));
      return;
    }
    final Box to =
        from == null
            ? Box.of(
                frame.minX() + random.nextDouble() * (frame.maxX() - frame.minX()),
                frame.minY() + random.nextDouble() * (frame.maxY() - frame.minY()))
            : Box.of(
                from.minX() + random.nextGaussian() / 2, from.minY() + random.nextGaussian() / 2);
    places.put(id, to);
    note(id, new Move(from, to, vehicles.put(id, to, (long) moves.size())));
  }

  private void note(String id, Move move) {
    moves.computeIfAbsent(id, unused -> new ArrayList<>()).add(move);
  }

  /** Compares a search with the places. */
  private void checkContent(Box box) {
    final Set<String> found = new HashSet<>();
    vehicles.intersecting(box).forEach(entry -> found.add(entry.key()));
    final Set<String> expected = new HashSet<>();
    places.forEach(
        (id, place) -> {
          if (box.intersects(place)) {
            expected.add(id);
          }
        });
    mismatches += found.equals(expected) ? 0 : 1;
  }

  /**
   * Takes the changes of a step. Those of the step before may come again, as they mean something
   * else for this box.
   */
  private void take(Watch<String, Located<Long>> watch, Box box, Map<String, Integer> before) {
    int missing = 0;
    for (final Map.Entry<String, List<Move>> each : moves.entrySet()) {
      final int first = before.getOrDefault(each.getKey(), 0);
      missing +=
          (int)
              each.getValue().stream()
                  .skip(first)
                  .filter(move -> move.crossing(box) != null)
                  .count();
    }
    final Map<String, Integer> next = new HashMap<>();
    while (true) {
      final Optional<IndexChange<String, Located<Long>>> change =
          watch.next(missing > 0 ? PATIENCE : QUIET);
      if (change.isEmpty()) {
        mismatches += missing;
        return;
      }
      final String id = change.get().key();
      final int number = find(change.get());
      final IndexChange.Crossing crossing = change.get().crossing().orElseThrow();
      if (number < next.getOrDefault(id, 0)
          || moves.get(id).get(number).crossing(box) != crossing) {
        mismatches++;
      } else {
        next.put(id, number + 1);
        told.merge(crossing, 1, Integer::sum);
      }
      missing -= number >= before.getOrDefault(id, 0) ? 1 : 0;
    }
  }

  /**
   * The number of the move that a change tells of; -1 if there is none. The version of a removal is
   * between those of the writes before and after it.
   */
  private int find(IndexChange<String, Located<Long>> change) {
    final List<Move> all = moves.get(change.key());
    final boolean isRemoval = change.kind() != IndexChange.Kind.PUT;
    int last = -1; // write up to this version
    for (int i = 0; i < all.size(); i++) {
      final long version = all.get(i).version();
      last = version != 0 && version <= change.version() ? i : last;
    }
    if (last < 0 || !isRemoval) {
      return last >= 0 && all.get(last).version() == change.version() ? last : -1;
    }
    return last + 1 < all.size() && all.get(last + 1).to() == null ? last + 1 : -1;
  }
}
