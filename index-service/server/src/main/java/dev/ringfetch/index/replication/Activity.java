package dev.ringfetch.index.replication;

import java.util.concurrent.TimeUnit;

/**
 * The activity of a replica: decides when its next cycle is due if nothing happens before.
 *
 * <p>A replica is busy from a record or a read barrier on until a node timeout later. A busy
 * replica does cycles in short intervals: members take placed records, and the node looks whether
 * other processes have ended. An idle replica does a cycle when an event comes, a heartbeat is due,
 * or a node may have been silent for too long. Heartbeats of a group end when its members know all:
 * then those of the {@linkplain NodeHeartbeats node} speak for it.
 *
 * <p>The replica's owner only.
 */
final class Activity {
  /** Interval of the cycles of a busy replica, and the shortest rest of an idle one. */
  static final long PERIOD_NS = 5_000_000;

  /** A replica that waits for events alone does a cycle so often all the same. */
  private static final long REST_LIMIT_NS = TimeUnit.HOURS.toNanos(1);

  private final ReplicaContext.Limits limits;
  private long busyUntilNs;
  private long dueNs;
  private long position; // of the last record seen
  private long question; // the last one seen

  /** Begins as busy. */
  Activity(ReplicaContext.Limits limits, long nowNs) {
    this.limits = limits;
    dueNs = nowNs;
    note(nowNs);
  }

  /** Notes a record, a read, or a leader that has one. */
  void note(long nowNs) {
    busyUntilNs = nowNs + limits.nodeTimeoutNs();
  }

  /** Notes what came since the last call, at the end of a cycle. */
  void note(long lastPosition, long lastQuestion, long nowNs) {
    if (lastPosition != position || lastQuestion != question) {
      position = lastPosition;
      question = lastQuestion;
      note(nowNs);
    }
  }

  boolean isBusy(long nowNs) {
    return nowNs - busyUntilNs < 0;
  }

  /** Interval of the heartbeats to a member. */
  long heartbeatNs(long nowNs) {
    return isBusy(nowNs) ? ReplicaContext.Limits.HEARTBEAT_NS : limits.idleHeartbeatNs();
  }

  /**
   * Plans the next cycle.
   *
   * @param restNs time in which an idle replica has nothing to do
   * @param isCopied whether a copy is made, which notices when it gets no further
   */
  void plan(long nowNs, long restNs, boolean isCopied) {
    final long idleMostNs = isCopied ? limits.idleHeartbeatNs() : REST_LIMIT_NS;
    final long mostNs = isBusy(nowNs) ? PERIOD_NS : idleMostNs;
    dueNs = nowNs + Math.max(PERIOD_NS, Math.min(restNs, mostNs));
  }

  /** Time at which the next cycle is due if nothing happens before. */
  long dueNs() {
    return dueNs;
  }

  /** Time by which a cycle comes later than a delayed thread explains; negative if it does not. */
  long stoodNs(long nowNs) {
    return nowNs - dueNs - ReplicaContext.Limits.HEARTBEAT_NS;
  }
}
