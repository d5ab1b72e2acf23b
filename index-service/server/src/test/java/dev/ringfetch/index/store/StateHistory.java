package dev.ringfetch.index.store;

import java.util.ArrayList;
import java.util.List;

/**
 * The states that keys have had in a log of stores, and how far readers have seen them: each answer
 * must be a state that the key had within the read, and none before the one of the last answer.
 */
final class StateHistory {
  /** A state of a key: it ends the one before within the stores from begin to end. */
  private record State(long version, long begin, long end) {}

  private final List<List<State>> states = new ArrayList<>();
  private final int[] last;

  /** Creates a history of keys that are absent. */
  StateHistory(int keys) {
    last = new int[keys];
    for (int i = 0; i < keys; i++) {
      states.add(new ArrayList<>(List.of(new State(0, -1, -1))));
    }
  }

  /** Adds a state; version 0 is absent. */
  void became(int key, long version, long begin, long end) {
    states.get(key).add(new State(version, begin, end));
  }

  /** Checks an answer of a read within the stores from start to end. */
  void saw(int key, long version, long start, long end) {
    final List<State> ofKey = states.get(key);
    int state = last[key];
    while (state < ofKey.size() && !isWithin(ofKey, state, version, start, end)) {
      state++;
    }
    if (state == ofKey.size()) {
      throw new AssertionError(
          String.format(
              "key=%d version=%d start=%d end=%d last=%d states=%s",
              key, version, start, end, last[key], ofKey));
    }
    last[key] = state;
  }

  private static boolean isWithin(
      List<State> states, int number, long version, long start, long end) {
    return states.get(number).version() == version
        && states.get(number).begin() < end
        && (number + 1 == states.size() || states.get(number + 1).end() > start);
  }
}
