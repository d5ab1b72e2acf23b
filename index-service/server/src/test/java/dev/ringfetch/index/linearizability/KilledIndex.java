package dev.ringfetch.index.linearizability;

import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * An index of a {@link KillRun}, in all lives of its server. Written by the thread that kills, read
 * by any.
 */
final class KilledIndex {
  /** More than all writes of a run: versions of two lives differ in what is above. */
  private static final int SKIP_SHIFT = 20;

  private final String name;
  private final IndexKind kind;
  private final Durability durability;
  private final Map<Integer, Long> incarnations = new ConcurrentSkipListMap<>(); // by life
  private final Map<Integer, Long> skips = new ConcurrentSkipListMap<>(); // by life
  private final KillCounter counter = new KillCounter();
  private volatile long incarnation;

  KilledIndex(String name, IndexKind kind, Durability durability) {
    this.name = name;
    this.kind = kind;
    this.durability = durability;
  }

  String name() {
    return name;
  }

  IndexKind kind() {
    return kind;
  }

  Durability durability() {
    return durability;
  }

  /** What clients have counted; of an index with durability DISK alone. */
  KillCounter counter() {
    return counter;
  }

  /** The incarnation in the present life. */
  long incarnation() {
    return incarnation;
  }

  /** The incarnation in a life. */
  long incarnation(int life) {
    return incarnations.get(life);
  }

  /**
   * Notes a life.
   *
   * @param incarnation of the index
   * @param version that a write got in that life
   */
  void live(int life, long incarnation, long version) {
    incarnations.put(life, incarnation);
    skips.put(life, version >> SKIP_SHIFT);
    this.incarnation = incarnation;
  }

  /** Whether it was there in a life: not if the server was killed as it started. */
  boolean lived(int life) {
    return skips.containsKey(life);
  }

  /**
   * The life in which a version was given out: each start after a kill skips as many versions as
   * could be lost. -1: none that is known.
   */
  int life(long version) {
    for (final Map.Entry<Integer, Long> life : skips.entrySet()) {
      if (life.getValue() == version >> SKIP_SHIFT) {
        return life.getKey();
      }
    }
    return -1;
  }

  @Override
  public String toString() {
    return name;
  }
}
