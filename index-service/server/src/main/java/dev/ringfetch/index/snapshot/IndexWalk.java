package dev.ringfetch.index.snapshot;

import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.SnapshotSink;
import dev.ringfetch.index.outcome.KeptOutcome;
import dev.ringfetch.index.outcome.OutcomeWalk;
import dev.ringfetch.index.partition.OwnerTask;
import dev.ringfetch.index.store.EntryWalk;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The walk of a snapshot through an index, partition after partition. The owner of each takes a
 * barrier, and then walks over the outcomes and over the entries in steps, each an {@link
 * OwnerTask}: so a walk sees the store between two writes, and writers wait for one step at most.
 *
 * <p>Used by one thread at a time.
 */
final class IndexWalk {
  /** The result of a step. */
  enum Step {
    MORE,
    /** An owner has to answer first. */
    WAITING,
    DONE,
    /** The index takes no writes any more. */
    ENDED
  }

  private final ServedIndex index;
  private final long number;
  private final Runnable wake;
  private int partition;

  /** Over the outcomes of the present partition; null before its barrier was answered. */
  private OutcomeWalk outcomes;

  /** Over its entries; null before all outcomes are there. */
  private EntryWalk walk;

  private @Nullable OwnerTask task; // null: none was submitted
  private volatile boolean answered; // the task

  /**
   * Creates the walk.
   *
   * @param number of the index, as its records have it
   * @param wake is run when an owner has answered, on any thread
   */
  IndexWalk(ServedIndex index, long number, Runnable wake) {
    this.index = index;
    this.number = number;
    this.wake = wake;
  }

  /** The partition that the next step is for; those before are in the snapshot. */
  int partition() {
    return partition;
  }

  /** Does one step. Not to be called after DONE or ENDED. */
  Step step(SnapshotSink sink) throws IOException {
    if (task == null) {
      return submit();
    }
    if (!answered) {
      return Step.WAITING;
    }
    final OwnerTask answer = task;
    task = null;
    if (answer.outcome() != OwnerTask.DONE) {
      return Step.ENDED;
    }
    if (outcomes == null) {
      sink.partition(number, partition, answer.lsn(), answer.clock());
      outcomes = new OutcomeWalk();
      return Step.MORE;
    }
    if (walk == null) {
      for (final KeptOutcome outcome : outcomes.outcomes()) {
        sink.outcome(number, partition, outcome);
      }
      outcomes.clear();
      walk = outcomes.isDone() ? new EntryWalk() : null;
      return Step.MORE;
    }
    for (final Entry entry : walk.entries()) {
      sink.put(number, partition, entry);
    }
    walk.clear();
    if (walk.isDone()) {
      walk = null;
      outcomes = null;
      partition++;
    }
    return partition == index.partitions() ? Step.DONE : Step.MORE;
  }

  private Step submit() {
    final OwnerTask next;
    if (outcomes == null) {
      next = OwnerTask.barrier(this::onAnswer);
    } else if (walk == null) {
      next = OwnerTask.walk(outcomes, this::onAnswer);
    } else {
      next = OwnerTask.walk(walk, this::onAnswer);
    }
    answered = false;
    if (index.partition(partition).submit(next) != 0) {
      return Step.WAITING; // its queue is full
    }
    task = next;
    return Step.MORE;
  }

  private void onAnswer(OwnerTask unused) {
    answered = true;
    wake.run();
  }
}
