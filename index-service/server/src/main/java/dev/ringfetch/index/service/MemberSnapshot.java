package dev.ringfetch.index.service;

import dev.ringfetch.index.outcome.KeptOutcome;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.EntryWalk;
import dev.ringfetch.index.store.StoreDamagedException;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

/**
 * A snapshot of what a member has applied, or has of a leader's snapshot so far. It is walked on
 * the thread that applies, between two records.
 */
final class MemberSnapshot extends PiecewiseSnapshot {
  private final long group;
  private final RecoveredIndex index;
  private final Collection<NumberedClient> clients;
  private final Supplier<RecoveredIndex> present;
  private int partition;
  private EntryWalk walk; // of the present partition; null before it begins

  /**
   * Creates it.
   *
   * @param present gives another index, or null, when this one is a member's no more
   */
  MemberSnapshot(
      long group,
      RecoveredIndex index,
      Collection<NumberedClient> clients,
      Supplier<RecoveredIndex> present) {
    this.group = group;
    this.index = index;
    this.clients = clients;
    this.present = present;
  }

  @Override
  IndexWalk.Step walk() throws IOException {
    if (present.get() != index) {
      return IndexWalk.Step.ENDED;
    }
    final EntryStore store = index.index().partition(partition);
    if (walk == null) {
      walk = new EntryWalk();
      partition(group, partition, index.last(partition), store.expiry().clock());
      final List<KeptOutcome> outcomes = new ArrayList<>();
      index
          .outcomes(partition)
          .forEach(
              (client, number, kind, isPositive, lsn, detail) ->
                  outcomes.add(new KeptOutcome(client, number, kind, isPositive, lsn, detail)));
      for (final KeptOutcome outcome : outcomes) {
        outcome(group, partition, outcome);
      }
      return IndexWalk.Step.MORE;
    }
    try {
      store.step(walk);
    } catch (StoreDamagedException e) {
      return IndexWalk.Step.ENDED;
    }
    for (final Entry entry : walk.entries()) {
      put(group, partition, entry);
    }
    walk.clear();
    if (walk.isDone()) {
      walk = null;
      partition++;
    }
    return partition == index.index().partitions() ? IndexWalk.Step.DONE : IndexWalk.Step.MORE;
  }

  @Override
  void clients(List<NumberedClient> to) {
    to.addAll(clients);
  }
}
