package dev.ringfetch.index.model;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The bounds of a search, written as words such as {@code size=2 epochs=3 writes=1 reads=1 rpc=15}.
 *
 * @param processes number of processes; those from {@code size} on are no members at first
 * @param size largest number of members of a configuration, and that of the first one
 * @param least smallest number of members of a configuration
 * @param epochs number of epochs, the first included
 * @param writes number of writes
 * @param reads number of reads
 * @param kills number of kills
 * @param restarts number of restarts of killed processes, one per process at most
 * @param rpc set of the processes that take records by RPC, a bit each; the others' log memory is
 *     written by the leader
 * @param level 0: a write is committed in memory, 1: also on the leader's disk, 2: on each member's
 * @param joins a leader may send its log to processes that are no members; 1: these keep what their
 *     logs share with it, 2: they get a snapshot, 3: either; 4 more: they move their gates as well
 * @param applies 1: members apply what they know to be committed
 * @param busy 1: a leader that goes on leading appends before its next epoch is established
 * @param strict 1: a configuration has only members of the one before and processes that joined it
 * @param remote 1: reads go through the leader, 0: they load from its memory
 */
record Scope(
    int processes,
    int size,
    int least,
    int epochs,
    int writes,
    int reads,
    int kills,
    int restarts,
    int rpc,
    int level,
    int joins,
    int applies,
    int busy,
    int strict,
    int remote) {
  /** A write is committed when it is in each member's memory. */
  static final int MEMORY = 0;

  /** A write is committed when it is also on the leader's disk. */
  static final int LEADER_DISK = 1;

  /** A write is committed when it is on each member's disk. */
  static final int ALL_DISKS = 2;

  private static final List<String> NAMES =
      List.of(
          "processes",
          "size",
          "least",
          "epochs",
          "writes",
          "reads",
          "kills",
          "restarts",
          "rpc",
          "level",
          "joins",
          "applies",
          "busy",
          "strict",
          "remote");

  /** Returns the scope that a text describes; 4 processes, 2 members, the rest 0. */
  static Scope of(String text) {
    final Map<String, Integer> values = new LinkedHashMap<>();
    for (final String word : text.split(" ", -1)) {
      final String[] parts = word.split("=", -1);
      if (!NAMES.contains(parts[0]) || parts.length != 2) {
        throw new IllegalArgumentException("word=" + word + " names=" + NAMES);
      }
      values.put(parts[0], Integer.valueOf(parts[1]));
    }
    final int size = values.getOrDefault("size", 2);
    return new Scope(
        values.getOrDefault("processes", 4),
        size,
        values.getOrDefault("least", size),
        values.getOrDefault("epochs", 2),
        values.getOrDefault("writes", 0),
        values.getOrDefault("reads", 0),
        values.getOrDefault("kills", 0),
        values.getOrDefault("restarts", 0),
        values.getOrDefault("rpc", 0),
        values.getOrDefault("level", 0),
        values.getOrDefault("joins", 0),
        values.getOrDefault("applies", 0),
        values.getOrDefault("busy", 0),
        values.getOrDefault("strict", 0),
        values.getOrDefault("remote", 0));
  }
}
