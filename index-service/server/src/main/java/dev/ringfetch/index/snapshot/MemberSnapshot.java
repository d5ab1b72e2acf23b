package dev.ringfetch.index.snapshot;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.index.outcome.KeptOutcome;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.outcome.OutcomeWalk;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.EntryWalk;
import dev.ringfetch.index.store.StoreDamagedException;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;
import java.util.Collection;
import java.util.Iterator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of what a member has applied, or has of a leader's snapshot so far. It is walked on
 * the thread that applies, between two records.
 */
public final class MemberSnapshot extends PiecewiseSnapshot {
  private final long group;
  private final RecoveredIndex index;
  private final Collection<NumberedClient> clients;
  private final Supplier<RecoveredIndex> present;
  private int partition;
  private @Nullable OutcomeWalk outcomes; // of the present partition; null before it begins
  private @Nullable EntryWalk walk; // null before all outcomes are there

  /**
   * Creates it.
   *
   * @param clients a walk over them goes on while clients come and go
   * @param present gives another index, or null, when this one is a member's no more
   */
  public MemberSnapshot(
      long group,
      RecoveredIndex index,
      Collection<NumberedClient> clients,
      Supplier<RecoveredIndex> present,
      Runnable wake) {
    super(wake);
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
    if (outcomes == null) {
      outcomes = new OutcomeWalk();
      partition(group, partition, index.last(partition), store.expiry().clock());
      return IndexWalk.Step.MORE;
    }
    if (walk == null) {
      index.outcomes(partition).step(outcomes);
      for (final KeptOutcome outcome : outcomes.outcomes()) {
        outcome(group, partition, outcome);
      }
      outcomes.clear();
      walk = outcomes.isDone() ? new EntryWalk() : null;
      return IndexWalk.Step.MORE;
    }
    try {
      store.step(walk);
    } catch (StoreDamagedException e) {
      MemoryFaults.absorb(store::verify, e); // it may be of a page that is gone
      return IndexWalk.Step.ENDED;
    }
    for (final Entry entry : walk.entries()) {
      put(group, partition, entry);
    }
    walk.clear();
    if (walk.isDone()) {
      walk = null;
      outcomes = null;
      partition++;
    }
    return partition == index.index().partitions() ? IndexWalk.Step.DONE : IndexWalk.Step.MORE;
  }

  @Override
  Iterator<NumberedClient> clients() {
    return clients.iterator();
  }
}
