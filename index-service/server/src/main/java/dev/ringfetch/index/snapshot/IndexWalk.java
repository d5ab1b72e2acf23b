package dev.ringfetch.index.snapshot;

import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.SnapshotSink;
import dev.ringfetch.index.outcome.KeptOutcome;
import dev.ringfetch.index.outcome.OutcomeWalk;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.store.EntryWalk;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;

/**
 * The walk of a snapshot through an index, partition after partition. The owner of each takes a
 * barrier, and then walks over the outcomes and over the entries in steps, as kinds of {@link
 * Write}: so a walk sees the store between two writes, and writers wait for one step at most.
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

  /** A write that the owner of a partition was asked for. */
  private static final class Asked {
    private final Write write;
    private volatile boolean answered;

    Asked(Runnable wake) {
      write =
          new Write(
              answer -> {
                answered = true;
                wake.run();
              });
    }
  }

  private final ServedIndex index;
  private final long number;
  private final Runnable wake;
  private int partition;

  /** Over the outcomes of the present partition; null before its barrier was answered. */
  private OutcomeWalk outcomes;

  /** Over its entries; null before all outcomes are there. */
  private EntryWalk walk;

  /** Null if nothing is asked. */
  private Asked asked;

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
    if (asked == null) {
      return ask();
    }
    if (!asked.answered) {
      return Step.WAITING;
    }
    final Write answer = asked.write;
    asked = null;
    if (answer.outcome() != Write.DONE) {
      return Step.ENDED;
    }
    if (outcomes == null) {
      sink.partition(number, partition, answer.version(), answer.clock());
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

  private Step ask() {
    final Asked next = new Asked(wake);
    if (outcomes == null) {
      next.write.barrier();
    } else if (walk == null) {
      next.write.walk(outcomes);
    } else {
      next.write.walk(walk);
    }
    if (index.partition(partition).submit(next.write) != 0) {
      return Step.WAITING; // its queue is full
    }
    asked = next;
    return Step.MORE;
  }
}
