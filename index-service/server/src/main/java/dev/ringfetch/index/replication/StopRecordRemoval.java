package dev.ringfetch.index.replication;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.index.journal.StopRecords;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.agrona.ErrorHandler;
import org.jspecify.annotations.Nullable;

/**
 * The removal of the records of orderly stops that count nowhere any more: each that was there at
 * the start at most once, never one that this process {@linkplain #claim writes}. Where it fails,
 * it is tried again after a while, and the groups wait.
 *
 * <p>Of the thread that works, but for claims.
 */
final class StopRecordRemoval {
  /** After a removal that failed, the next one waits so long. */
  private static final long RETRY_NS = 1_000_000_000;

  private final StopRecords records;
  private final Node self;
  private final LongSupplier clock;
  private final Removers removers;
  private final ErrorHandler errors;

  @GuardedBy("this")
  private final Set<Long> left = new HashSet<>(); // by earlier processes

  @GuardedBy("this")
  private final Set<Long> due = new HashSet<>(); // some of those

  @GuardedBy("this")
  private Set<Long> removing = Set.of(); // some of those

  @GuardedBy("this")
  private @Nullable CompletableFuture<Void> removal; // of those; null: none is under way

  @GuardedBy("this")
  private boolean isLate;

  @GuardedBy("this")
  private long notBeforeNs; // if late

  /**
   * The thread that removes.
   *
   * @param background carries a removal out, which waits for the disk
   * @param alarm is run when a removal has ended
   */
  record Removers(Executor background, Runnable alarm) {}

  /**
   * Creates it.
   *
   * @param records null if there are none
   * @param clock in nanoseconds
   */
  StopRecordRemoval(
      StopRecords records, Node self, LongSupplier clock, Removers removers, ErrorHandler errors) {
    this.records = records;
    this.self = self;
    this.clock = clock;
    this.removers = removers;
    this.errors = errors;
    if (records != null) {
      try {
        left.addAll(records.groups());
      } catch (IOException e) { // they count for nothing in this process
        errors.onError(e);
      }
    }
  }

  /** The record of a group is to be removed, if there is one. */
  synchronized void remove(long group) {
    if (left.contains(group)) {
      due.add(group);
    }
  }

  /**
   * The coordinator has said of a group. A record that no replica goes on with, as one that is
   * damaged, counts nowhere once the last configuration has no process of this node, or this one,
   * and one of its members is announced.
   *
   * @param replica null if there is none
   * @param living the nodes that are announced
   */
  void onGroup(GroupState state, @Nullable Replica replica, Map<Long, Node> living) {
    final Configuration established = state.getEstablished();
    if (state.hasEstablished()
        && (replica == null || !replica.mayHaveStopRecord())
        && (!Configurations.hasNode(established, self.getId())
            || Configurations.has(established, self))
        && !Configurations.isGone(established, living, self, false)) {
      remove(state.getGroup());
    }
  }

  /**
   * This process is about to give its own record of a group the name: from now on that name is not
   * removed any more. On any thread.
   *
   * @return false if the earlier record is being removed, which may take the name at any moment
   */
  synchronized boolean claim(long group) {
    if (removal != null && !removal.isDone() && removing.contains(group)) {
      return false;
    }
    left.remove(group);
    due.remove(group);
    return true;
  }

  /**
   * Begins the removal of due records, unless that has just failed, and tells the replicas of those
   * that are gone.
   *
   * @param replicas finds the replica of a group; null: there is none
   * @return number of records that are gone
   */
  int work(LongFunction<@Nullable Replica> replicas) {
    begin();
    final Set<Long> gone = end();
    for (final long group : gone) {
      final Replica replica = replicas.apply(group);
      if (replica != null) {
        replica.onStopRecordRemoved();
      }
    }
    return gone.size();
  }

  private void begin() {
    final Set<Long> groups;
    final CompletableFuture<Void> begun = new CompletableFuture<>();
    synchronized (this) {
      if (removal != null || due.isEmpty() || (isLate && clock.getAsLong() - notBeforeNs < 0)) {
        return;
      }
      groups = Set.copyOf(due);
      removing = groups;
      removal = begun;
    }
    try {
      removers.background().execute(() -> remove(groups, begun));
    } catch (RejectedExecutionException e) { // the node ends
      begun.completeExceptionally(e);
    }
  }

  /** Takes the result of a removal; returns the groups whose records are gone. */
  private synchronized Set<Long> end() {
    if (removal == null || !removal.isDone()) {
      return Set.of();
    }
    final Throwable failure = removal.handle((done, thrown) -> thrown).join();
    removal = null;
    isLate = failure != null;
    if (isLate) {
      notBeforeNs = clock.getAsLong() + RETRY_NS;
      errors.onError(
          new IOException(
              "what an earlier process has left is not removed yet: groups=" + removing, failure));
      return Set.of();
    }
    left.removeAll(removing);
    due.removeAll(removing);
    return removing;
  }

  private void remove(Set<Long> groups, CompletableFuture<Void> begun) {
    try {
      records.delete(groups);
      begun.complete(null);
    } catch (IOException | RuntimeException e) {
      begun.completeExceptionally(e);
    } catch (Error e) { // the end of the node waits for this
      begun.completeExceptionally(e);
      throw e;
    }
    removers.alarm().run();
  }
}
