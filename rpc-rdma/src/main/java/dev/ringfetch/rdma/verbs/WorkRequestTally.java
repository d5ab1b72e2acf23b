package dev.ringfetch.rdma.verbs;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The counter of one queue pair's work requests. One thread writes it at a time, any thread reads
 * it; each request costs a store.
 */
final class WorkRequestTally {
  /** Of queue pairs that accepted. */
  static final Group SERVERS = new Group();

  /** Of queue pairs that connected. */
  static final Group CLIENTS = new Group();

  /** Of connections to domains. */
  static final Group DOMAINS = new Group();

  /** Kind. */
  static final int WRITE = 0;

  /** Kind. */
  static final int READ = 1;

  /** Kind. */
  static final int ATOMIC = 2;

  /** Kind. */
  static final int SEND = 3;

  /** Kind. */
  static final int CREDIT = 4;

  /** Kind. */
  static final int PROBE = 5;

  /** Kind. */
  static final int DATAGRAM = 6;

  private static final int SIGNALED = 7;
  private static final int KINDS = 8;

  private final AtomicLongArray counts = new AtomicLongArray(KINDS);
  private final Group group;

  WorkRequestTally(Group group) {
    this.group = group;
  }

  /** Adds the counts to the group's. */
  void start() {
    group.add(this);
  }

  /** Leaves the counts so far in the group's. Idempotent. */
  void close() {
    group.close(this);
  }

  /** Counts one; one writer at a time. */
  void add(int kind, boolean signaled) {
    increment(kind);
    if (signaled) {
      increment(SIGNALED);
    }
  }

  private void increment(int index) {
    counts.lazySet(index, counts.getPlain(index) + 1);
  }

  WorkRequestCounts counts() {
    return new WorkRequestCounts(
        counts.get(WRITE),
        counts.get(READ),
        counts.get(ATOMIC),
        counts.get(SEND),
        counts.get(CREDIT),
        counts.get(PROBE),
        counts.get(DATAGRAM),
        counts.get(SIGNALED));
  }

  /** The sum over all queue pairs of one side, those that have ended included. */
  static final class Group {
    @GuardedBy("this")
    private final Set<WorkRequestTally> live = new HashSet<>();

    @GuardedBy("this")
    private WorkRequestCounts gone = WorkRequestCounts.ZERO;

    private synchronized void add(WorkRequestTally tally) {
      live.add(tally);
    }

    private synchronized void close(WorkRequestTally tally) {
      if (live.remove(tally)) {
        gone = gone.plus(tally.counts());
      }
    }

    synchronized WorkRequestCounts sum() {
      WorkRequestCounts sum = gone;
      for (final WorkRequestTally tally : live) {
        sum = sum.plus(tally.counts());
      }
      return sum;
    }
  }
}
