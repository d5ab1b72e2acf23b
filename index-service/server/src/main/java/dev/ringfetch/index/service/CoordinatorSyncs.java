package dev.ringfetch.index.service;

import dev.ringfetch.index.coordinator.Coordinator;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The looks of a node at the coordinator for calls that need to know what is there now. Those that
 * come while a look is under way share the next one: what was changed before they came may have
 * escaped the one under way.
 *
 * <p>Calls come on any threads; the node's thread looks.
 */
final class CoordinatorSyncs {
  /** A call waits so long: clients that send again choose another node meanwhile. */
  static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(5);

  /** A call that waits. */
  private static final class Waiting {
    final LeaderDirectory.Synced told;
    final long endNs;
    boolean isTold; // of the node's thread

    Waiting(LeaderDirectory.Synced told, long endNs) {
      this.told = told;
      this.endNs = endNs;
    }

    void tell(Status failure) {
      if (!isTold) {
        isTold = true;
        told.onEnd(failure == null ? null : failure.asException());
      }
    }
  }

  private final Coordinator coordinator;
  private final Runnable wake;
  private final LongSupplier clock;
  private final Queue<Waiting> asked = new ConcurrentLinkedQueue<>();
  private volatile boolean closed;

  // Of the node's thread.
  private final List<Waiting> waiting = new ArrayList<>();
  private boolean isLooking;

  /**
   * Creates it.
   *
   * @param wake has the node's thread work soon
   * @param clock in nanoseconds
   */
  CoordinatorSyncs(Coordinator coordinator, Runnable wake, LongSupplier clock) {
    this.coordinator = coordinator;
    this.wake = wake;
    this.clock = clock;
  }

  /** As {@link LeaderDirectory#sync}. */
  void sync(LeaderDirectory.Synced told) {
    asked.add(new Waiting(told, clock.getAsLong() + LIMIT_NS));
    if (closed) { // perhaps since the last look at those that wait
      refuseAsked();
    } else {
      wake.run();
    }
  }

  /** Begins the next look if one is due, and refuses calls that have waited too long. */
  void work() {
    if (!isLooking && !asked.isEmpty()) {
      final List<Waiting> these = new ArrayList<>();
      for (Waiting next = asked.poll(); next != null; next = asked.poll()) {
        these.add(next);
      }
      waiting.addAll(these);
      isLooking = true;
      coordinator.sync((result, state) -> onAnswer(these, result));
    }
    final long nowNs = clock.getAsLong();
    while (!asked.isEmpty() && nowNs - asked.peek().endNs >= 0) {
      asked.poll().tell(unanswered());
    }
    waiting.removeIf(
        one -> {
          if (nowNs - one.endNs >= 0) {
            one.tell(unanswered());
          }
          return one.isTold;
        });
  }

  private void onAnswer(List<Waiting> these, Coordinator.Result result) {
    isLooking = false;
    these.forEach(one -> one.tell(result == Coordinator.Result.DONE ? null : unanswered()));
    waiting.removeAll(these);
  }

  private static Status unanswered() {
    return Status.UNAVAILABLE.withDescription(
        "the coordinator does not answer, so it is unknown which indexes there are; send again");
  }

  private void refuseAsked() {
    for (Waiting next = asked.poll(); next != null; next = asked.poll()) {
      next.tell(Status.UNAVAILABLE.withDescription("the node ends"));
    }
  }

  /** Refuses all calls that wait, and later ones. The node's thread has ended. */
  void close() {
    closed = true;
    waiting.forEach(one -> one.tell(Status.UNAVAILABLE.withDescription("the node ends")));
    waiting.clear();
    refuseAsked();
  }
}
