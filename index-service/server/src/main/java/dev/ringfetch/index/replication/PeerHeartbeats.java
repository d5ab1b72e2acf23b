package dev.ringfetch.index.replication;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.index.v1.FailedReplica;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;

/**
 * The heartbeats between this node and one other, in one direction: as the node of a leader with
 * members there, or as that of a member of leaders there. They count while an idle replica relies
 * on them.
 *
 * <p>Safe for use by many threads.
 */
final class PeerHeartbeats {
  private final long node;

  @GuardedBy("this")
  private final Silence silence;

  @GuardedBy("this")
  private int reliances;

  @GuardedBy("this")
  private long sentNs;

  /** Whether the other node can be told of failures, and may rely on this one. */
  @GuardedBy("this")
  private boolean connected;

  /** To be told to the other node. */
  @GuardedBy("this")
  private final List<FailedReplica> failed = new ArrayList<>();

  private final LongUnaryOperator excused;
  private volatile boolean silent;

  /**
   * Creates them, without a connection.
   *
   * @param excused adds to a time of the last heartbeat a pause of this process that goes on yet
   */
  PeerHeartbeats(long node, long nodeTimeoutNs, long intervalNs, LongUnaryOperator excused) {
    this.node = node;
    this.excused = excused;
    silence = new Silence(nodeTimeoutNs, 0);
    silence.interval(intervalNs);
  }

  long node() {
    return node;
  }

  /** A replica relies on the heartbeats from now on; the other node has just sent something. */
  synchronized void rely(long nowNs) {
    if (reliances++ == 0) {
      silence.restart(nowNs);
      silent = false;
      sentNs = nowNs;
    }
  }

  /**
   * A replica relies on them no more.
   *
   * @return {@link #heardNs}
   */
  synchronized long unrely() {
    if (--reliances < 0) {
      throw new IllegalStateException("node=" + node + " reliances=" + reliances);
    }
    return heardNs();
  }

  /** Time of the last heartbeat, or since when one is awaited, later by a pause of this process. */
  synchronized long heardNs() {
    return excused.applyAsLong(silence.heardNs());
  }

  /** Whether the other node is to be taken for dead by those that rely on it. */
  boolean isSilent() {
    return silent;
  }

  /** A replica of this node, on which one of the other node may rely, has left an epoch. */
  synchronized void fail(long group, long epoch) {
    if (connected) {
      failed.add(FailedReplica.newBuilder().setGroup(group).setEpoch(epoch).build());
    }
  }

  synchronized void onConnected() {
    connected = true;
  }

  /** The connection has ended, which ends all reliance of the other node. */
  synchronized void onDisconnected() {
    connected = false;
    failed.clear();
  }

  /** A heartbeat or its answer has come. */
  synchronized void heard(long nowNs) {
    if (reliances == 0) {
      silence.restart(nowNs); // none was awaited
    } else {
      silence.heard(nowNs);
    }
    silent = false;
  }

  /** A heartbeat of a leader's node has come, with the time until the next one. */
  synchronized void heard(long nowNs, long intervalNs) {
    heard(nowNs);
    silence.interval(intervalNs);
  }

  synchronized void excuse(long nowNs, long stoodNs) {
    silence.excuse(nowNs, stoodNs);
  }

  /** Judges whether the other node is silent; returns whether it has become so. */
  synchronized boolean judge(long nowNs) {
    if (silent || reliances == 0 || !silence.isOver(nowNs)) {
      return false;
    }
    silent = true;
    return true;
  }

  /** Time left until the other node is to be taken for dead, by those that rely on it. */
  synchronized long leftNs(long nowNs) {
    return silent || reliances == 0 ? Long.MAX_VALUE : silence.leftNs(nowNs);
  }

  /** Time left until the next heartbeat to the other node. */
  synchronized long untilNextNs(long nowNs, long intervalNs) {
    if (!failed.isEmpty()) {
      return 0;
    }
    return reliances == 0 ? Long.MAX_VALUE : intervalNs - (nowNs - sentNs);
  }

  /** The failures that the other node is to be told. */
  synchronized List<FailedReplica> failed() {
    return List.copyOf(failed);
  }

  /** A heartbeat, or an answer to one, was sent with failures. */
  synchronized void sent(List<FailedReplica> told, long nowNs) {
    failed.removeAll(told);
    sentNs = nowNs;
  }
}
