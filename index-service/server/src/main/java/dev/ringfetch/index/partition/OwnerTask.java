package dev.ringfetch.index.partition;

import dev.ringfetch.index.outcome.OutcomeWalk;
import dev.ringfetch.index.store.EntryWalk;
import dev.ringfetch.index.store.Snapshot;
import java.util.function.Consumer;

/**
 * One task that a partition's owner carries out between two writes, and which writes nothing. It is
 * submitted once; its listener gets the answer as that of a write does.
 */
public final class OwnerTask extends Submission {
  private interface Work {
    void carryOut(OwnerTask task, WriteCycle owner);
  }

  private final Consumer<OwnerTask> listener;
  private final boolean waits;
  private final Work work;
  private long lsn;
  private long clock;

  private OwnerTask(Consumer<OwnerTask> listener, boolean waits, Work work) {
    this.listener = listener;
    this.waits = waits;
    this.work = work;
    prepared();
  }

  /** Begins a snapshot, which has all writes answered before. */
  public static OwnerTask snapshot(Snapshot begun, Consumer<OwnerTask> listener) {
    return new OwnerTask(listener, false, (task, owner) -> owner.store().begin(begun));
  }

  /**
   * A barrier: answered when all records before it are applied, with the LSN of the last of them
   * and the partition's clock.
   */
  public static OwnerTask barrier(Consumer<OwnerTask> listener) {
    return new OwnerTask(
        listener,
        true,
        (task, owner) -> {
          task.lsn = owner.appended();
          task.clock = owner.clock();
        });
  }

  /** A step of a walk, which belongs to the owner until the answer, with the partition's clock. */
  public static OwnerTask walk(EntryWalk stepped, Consumer<OwnerTask> listener) {
    return new OwnerTask(
        listener,
        false,
        (task, owner) -> {
          owner.store().step(stepped);
          task.clock = owner.clock();
        });
  }

  /**
   * A step of a walk over outcomes, which belongs to the owner until the answer. The records of all
   * outcomes of the step are committed then.
   */
  public static OwnerTask walk(OutcomeWalk stepped, Consumer<OwnerTask> listener) {
    return new OwnerTask(listener, true, (task, owner) -> owner.numbered().step(stepped));
  }

  /** Begins a watch: the owner reports all later changes to this receiver, and to no other one. */
  public static OwnerTask watch(ChangeListener receiver, Consumer<OwnerTask> listener) {
    return new OwnerTask(
        listener, false, (task, owner) -> owner.applied().watch(receiver, owner.appliedLsn()));
  }

  /** Ends a watch: without effect if another receiver gets the changes. */
  public static OwnerTask unwatch(ChangeListener receiver, Consumer<OwnerTask> listener) {
    return new OwnerTask(listener, false, (task, owner) -> owner.applied().unwatch(receiver));
  }

  /** LSN of the last record before a barrier. */
  public long lsn() {
    return lsn;
  }

  /**
   * The partition's clock at a barrier or step, in milliseconds since 1970; 0 if it was never set.
   */
  public long clock() {
    return clock;
  }

  /** Whether the answer waits for the commit of all records that are appended. */
  boolean waits() {
    return waits;
  }

  void carryOut(WriteCycle owner) {
    work.carryOut(this, owner);
  }

  @Override
  void onAnswer() {
    listener.accept(this);
  }
}
