package dev.ringfetch.index.replication;

import java.util.concurrent.TimeUnit;

/**
 * The silence of one node as this one judges it: the time since its last message, against a limit.
 * The limit is the largest of three: the node timeout, two of the node's intervals, and {@value
 * #GAPS} times the longest gap between two messages in the last seconds; but at most {@value #MOST}
 * node timeouts. So nodes on a busy machine, whose messages come late, wait longer instead of
 * taking each other for dead.
 *
 * <p>Used by one thread at a time: the replica's owner, or under the lock of {@link
 * PeerHeartbeats}.
 */
final class Silence {
  /** A message that comes this much later than any before is rare; four of them are no chance. */
  static final int GAPS = 4;

  /** A node that stands still is missed after that many timeouts on the busiest machine. */
  static final int MOST = 8;

  /** A gap counts for one of these at least, and two at most. */
  static final long WINDOW_NS = TimeUnit.SECONDS.toNanos(5);

  private final long timeoutNs;
  private long intervalNs = ReplicaContext.Limits.HEARTBEAT_NS; // at most that of a busy leader
  private long heardNs;
  private boolean isResumed; // and no message has come since
  private long windowNs; // begin of the window
  private long longestNs; // gap of the window
  private long longestBeforeNs; // gap of the window before

  /**
   * Begins to wait for a node.
   *
   * @param timeoutNs the node timeout
   */
  Silence(long timeoutNs, long nowNs) {
    this.timeoutNs = timeoutNs;
    heardNs = nowNs;
    windowNs = nowNs;
  }

  /**
   * Sets the interval in which the node sends messages. Of a gap, the time counts by which the
   * interval is longer than that of a busy leader's heartbeats.
   */
  void interval(long ns) {
    intervalNs = Math.max(ns, ReplicaContext.Limits.HEARTBEAT_NS);
  }

  /** A message of the node has come. */
  void heard(long nowNs) {
    if (!isResumed) {
      noteGap(nowNs, nowNs - heardNs - (intervalNs - ReplicaContext.Limits.HEARTBEAT_NS));
    }
    isResumed = false;
    heardNs = nowNs;
  }

  /** Time of the last message, or since when one is awaited. */
  long heardNs() {
    return heardNs;
  }

  /** Waits anew, for another node perhaps: the time since the last message is no gap. */
  void restart(long nowNs) {
    heardNs = nowNs;
  }

  /**
   * Goes on after a time in which another silence spoke for the node, and heard it last at this
   * time. The time until the next message is no gap.
   */
  void resume(long otherHeardNs) {
    heardNs = Math.max(heardNs, otherHeardNs);
    isResumed = true;
  }

  /**
   * Ignores a pause of this replica's cycles when it judges the node's silence. As the node may
   * have had the same pause, the time counts as a gap.
   */
  void excuse(long nowNs, long stoodNs) {
    noteGap(nowNs, stoodNs);
    heardNs = Math.min(nowNs, heardNs + stoodNs);
  }

  private void noteGap(long nowNs, long gapNs) {
    if (nowNs - windowNs >= WINDOW_NS) {
      longestBeforeNs = nowNs - windowNs < 2 * WINDOW_NS ? longestNs : 0;
      longestNs = 0;
      windowNs = nowNs;
    }
    longestNs = Math.max(longestNs, gapNs);
  }

  /** Time since the last message, or since the begin. */
  long sinceNs(long nowNs) {
    return nowNs - heardNs;
  }

  /** Time left until the node is to be taken for dead. */
  long leftNs(long nowNs) {
    return limitNs() - sinceNs(nowNs) + 1;
  }

  /** Whether the node is to be taken for dead. */
  boolean isOver(long nowNs) {
    return sinceNs(nowNs) > limitNs();
  }

  /** How long the node may say nothing. */
  long limitNs() {
    final long gapsNs = GAPS * Math.max(longestNs, longestBeforeNs);
    final long leastNs = Math.max(timeoutNs, 2 * intervalNs); // of another node's options
    return Math.min(MOST * timeoutNs, Math.max(leastNs, gapsNs));
  }
}
