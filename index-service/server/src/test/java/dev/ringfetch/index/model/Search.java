package dev.ringfetch.index.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A breadth-first search of all states of a model: ends at the first violation, with a shortest
 * trace, or when there is no state left. Not thread-safe; used once.
 *
 * <p>States lie one behind the other in chunks of longs, in the order in which the search found
 * them; an open-addressing table of their numbers finds them again. A state of 4 words takes 42
 * bytes with its share of a table that is half full.
 */
final class Search {
  private static final int CHUNK_BITS = 14;
  private static final int CHUNK = 1 << CHUNK_BITS;

  private final Model model;
  private final int limit;
  private final int width;
  private final long[] found;
  private final Coverage coverage = new Coverage();
  private long[][] states = new long[16][];
  private int[][] parents = new int[16][];
  private int[] table = new int[1 << 16];
  private int count;

  /** Makes a search that gives up at {@code limit} states. */
  Search(Model model, int limit) {
    this.model = model;
    this.limit = limit;
    this.width = model.initial().length;
    this.found = new long[width];
  }

  /** The outcome of a search. */
  record Result(
      int states, boolean complete, Coverage coverage, String violation, List<String> trace) {}

  /** Searches. */
  Result run() {
    final long[] state = model.initial();
    model.canonical(state);
    add(state, -1);
    final Expansion expansion = new Expansion();
    while (expansion.index < count && count <= limit) {
      load(expansion.index, state);
      model.successors(state, expansion);
      if (expansion.violation != null) {
        return new Result(count, false, coverage, expansion.violation, trace(expansion.index));
      }
      expansion.index++;
    }
    return new Result(count, expansion.index == count, coverage, null, List.of());
  }

  private final class Expansion implements Model.Sink {
    private int index;
    private String violation;

    @Override
    public void next(long[] state, Step step, int epoch, int one, int other, String violated) {
      if (violation == null) {
        violation = violated;
        coverage.add(step, epoch);
        System.arraycopy(state, 0, found, 0, width);
        model.canonical(found);
        add(found, index);
      }
    }
  }

  private void load(int index, long[] state) {
    System.arraycopy(states[index >> CHUNK_BITS], (index & CHUNK - 1) * width, state, 0, width);
  }

  private void add(long[] state, int parent) {
    int slot = hash(state, 0) & table.length - 1;
    while (table[slot] != 0) {
      final int index = table[slot] - 1;
      final int at = (index & CHUNK - 1) * width;
      if (Arrays.equals(states[index >> CHUNK_BITS], at, at + width, state, 0, width)) {
        return;
      }
      slot = slot + 1 & table.length - 1;
    }
    table[slot] = count + 1;
    final int chunk = count >> CHUNK_BITS;
    if ((count & CHUNK - 1) == 0) {
      if (chunk == states.length) {
        states = Arrays.copyOf(states, chunk * 2);
        parents = Arrays.copyOf(parents, chunk * 2);
      }
      states[chunk] = new long[CHUNK * width];
      parents[chunk] = new int[CHUNK];
    }
    System.arraycopy(state, 0, states[chunk], (count & CHUNK - 1) * width, width);
    parents[chunk][count & CHUNK - 1] = parent;
    count++;
    if (count > table.length / 3 * 2) {
      grow();
    }
  }

  private void grow() {
    final int[] larger = new int[table.length * 2];
    for (int index = 0; index < count; index++) {
      int slot = hash(states[index >> CHUNK_BITS], (index & CHUNK - 1) * width) & larger.length - 1;
      while (larger[slot] != 0) {
        slot = slot + 1 & larger.length - 1;
      }
      larger[slot] = index + 1;
    }
    table = larger;
  }

  private int hash(long[] words, int from) {
    long hash = 0;
    for (int at = from; at < from + width; at++) {
      hash = (hash ^ words[at]) * 0x9E3779B97F4A7C15L;
      hash ^= hash >>> 29;
    }
    return (int) (hash ^ hash >>> 32);
  }

  /** Returns the texts of the steps to the state {@code last} and of the violation behind it. */
  private List<String> trace(int last) {
    final List<long[]> path = new ArrayList<>();
    for (int index = last; index >= 0; index = parents[index >> CHUNK_BITS][index & CHUNK - 1]) {
      final long[] state = new long[width];
      load(index, state);
      path.add(0, state);
    }
    final List<String> texts = new ArrayList<>();
    final Replay replay = new Replay(model.initial());
    for (int at = 1; at <= path.size(); at++) {
      replay.wanted = at < path.size() ? path.get(at) : null;
      replay.text = null;
      model.successors(replay.state.clone(), replay);
      texts.add(String.valueOf(replay.text));
    }
    return texts;
  }

  /** Walks along a path of canonical states with processes that keep their numbers. */
  private final class Replay implements Model.Sink {
    private long[] state;
    private long[] wanted;
    private String text;

    Replay(long[] initial) {
      state = initial;
    }

    @Override
    public void next(long[] next, Step step, int epoch, int one, int other, String violation) {
      if (text != null) {
        return;
      }
      final long[] canonical = next.clone();
      model.canonical(canonical);
      if (wanted == null ? violation != null : Arrays.equals(canonical, wanted)) {
        state = next.clone();
        text = step.text(epoch, one, other) + (violation == null ? "" : ": " + violation);
      }
    }
  }
}
