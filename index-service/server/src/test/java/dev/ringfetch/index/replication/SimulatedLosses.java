package dev.ringfetch.index.replication;

import dev.ringfetch.index.linearizability.Answer;
import dev.ringfetch.index.linearizability.Call;
import dev.ringfetch.index.linearizability.HistoryChecker;
import dev.ringfetch.index.linearizability.Operation;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a group may lose at level INTERVAL, and what it must not: a leader begins with what its disk
 * had only when each process that had more has ended, or counts as ended because the coordinator
 * has lost its session; and it has all that was synced. So a history is one of lives, each of which
 * begins with what the one before has left on a disk.
 */
final class SimulatedLosses {
  private final ReplicationWorld world;
  private final Coverage coverage;
  private final List<Life> lives = new ArrayList<>();
  private final Map<Long, long[]> synced = new HashMap<>(); // by leader that has ended
  private final Set<Long> begun = new HashSet<>(); // epochs of leaders that only a disk completes

  /** A life, with the entries that it begins with. */
  private record Life(long beginNs, Map<Integer, Entry> entries) {}

  SimulatedLosses(ReplicationWorld world, Coverage coverage) {
    this.world = world;
    this.coverage = coverage;
  }

  /** The process of a leader ends, whose directory has synced records up to these LSNs. */
  void onLeaderEnds(long node, long[] lsns) {
    synced.put(node, lsns);
  }

  /** A process wins that was no member of the configuration that counts. */
  void onWinByDisk(Configuration base, long epoch) {
    begun.add(epoch);
    for (final Member member : base.getMembersList()) {
      final SimulatedNode process = world.process(member);
      if (process != null && process.isAlive() && world.coordinator().isAnnounced(process.node())) {
        throw new AssertionError("node=" + member.getNode() + " may have more: " + base);
      }
    }
  }

  /** A leader begins to serve. */
  void onLead(SimulatedNode leader, SimulatedStore store, GroupState state) {
    if (begun.contains(state.getEstablished().getEpoch())) {
      coverage.count("starts from a disk");
      final long[] lsns = synced.get(leader.id());
      for (int i = 0; lsns != null && i < lsns.length; i++) {
        if (store.last(i) < lsns[i]) {
          throw new AssertionError("lost what was synced: lsn=" + lsns[i] + " " + store.last(i));
        }
      }
      begin(store);
    }
    synced.clear();
  }

  private void begin(SimulatedStore store) {
    final Map<Integer, Entry> entries = new HashMap<>();
    for (int key = 0; key < ReplicationWorld.KEYS; key++) {
      final Entry entry = store.read(ReplicationWorld.name(key));
      if (entry != null) {
        entries.put(key, entry);
      }
    }
    lives.add(new Life(world.time().nowNs(), entries));
  }

  /** Why a history cannot be; empty if all is well. */
  Optional<String> violation(List<Operation> history) {
    Map<Integer, Entry> entries = Map.of();
    long beginNs = Long.MIN_VALUE;
    for (final Life life : lives) {
      final Optional<String> violation = violation(history, entries, beginNs, life.beginNs);
      if (violation.isPresent()) {
        return violation;
      }
      count(history, life);
      entries = life.entries;
      beginNs = life.beginNs;
    }
    return violation(history, entries, beginNs, Long.MAX_VALUE);
  }

  /** Counts the acknowledged writes that a life begins without. */
  private void count(List<Operation> history, Life life) {
    for (final Operation operation : history) {
      final Entry entry = life.entries.get(operation.key());
      if (operation.answeredNs() < life.beginNs
          && operation.call().kind() == Call.Kind.PUT
          && operation.answer().version() > (entry == null ? 0 : entry.getVersion())
          && isNewest(history, operation, life)) {
        coverage.count("lost writes");
      }
    }
  }

  private static boolean isNewest(List<Operation> history, Operation put, Life life) {
    return history.stream()
        .noneMatch(
            other ->
                other.key() == put.key()
                    && !other.equals(put)
                    && other.invokedNs() < life.beginNs
                    && other.answeredNs() > put.invokedNs()
                    && other.call().kind() != Call.Kind.GET);
  }

  private static Optional<String> violation(
      List<Operation> history, Map<Integer, Entry> entries, long beginNs, long endNs) {
    final List<Operation> life = new ArrayList<>();
    entries.forEach(
        (key, entry) -> {
          final long value = ReplicationWorld.number(entry.getValue());
          final Answer created = new Answer(true, entry.getVersion(), 0);
          life.add(new Operation(key, Call.put(value), created, false, beginNs - 2, beginNs - 1));
        });
    for (final Operation operation : history) {
      final boolean isReadInBoth =
          operation.call().kind() == Call.Kind.GET
              && operation.invokedNs() < endNs
              && operation.answeredNs() >= endNs;
      if (operation.invokedNs() >= beginNs && operation.invokedNs() < endNs && !isReadInBoth) {
        life.add(operation);
      }
    }
    return HistoryChecker.violation(life);
  }
}
