package dev.ringfetch.examples.load;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * The turns of contenders: they run one after the other in each round, so that a change over time
 * affects all.
 */
public final class Turns {
  private Turns() {}

  /**
   * Runs every contender once a round, in one order in even rounds and in the reverse order in odd
   * ones.
   *
   * @param turn action of a contender in a round, counted from 0.
   * @return the results: contenders in the given order, rounds in theirs.
   */
  public static <K, V> Map<K, List<V>> take(
      Collection<K> contenders, int rounds, BiFunction<K, Integer, V> turn) {
    final Map<K, List<V>> results = new LinkedHashMap<>();
    contenders.forEach(contender -> results.put(contender, new ArrayList<>()));
    final List<K> order = new ArrayList<>(contenders);
    for (int round = 0; round < rounds; round++) {
      for (final K contender : order) {
        results.get(contender).add(turn.apply(contender, round));
      }
      Collections.reverse(order);
    }
    return results;
  }
}
