package dev.ringfetch.index.replication;

import org.jspecify.annotations.Nullable;

/**
 * The leader whose messages a replica waits for, and since when the replica takes it for dead.
 *
 * <p>The replica's owner only.
 */
final class AwaitedLeader {
  private final Silence silence;
  private long node; // 0: none yet
  private boolean isGone; // its stream, or its process, has ended
  private @Nullable PeerHeartbeats heartbeats; // relied on; null: the leader itself is to be heard
  private boolean isSuspect;
  private long suspectNs; // since when, if it is

  AwaitedLeader(long nodeTimeoutNs, long nowNs) {
    silence = new Silence(nodeTimeoutNs, nowNs);
  }

  /** Waits for a node from now on, or anew for the same one. */
  void await(long next, long nowNs) {
    node = next;
    isGone = false;
    isSuspect = false;
    silence.restart(nowNs);
  }

  long node() {
    return node;
  }

  /** The silence of that node. */
  Silence silence() {
    return silence;
  }

  /** Takes a message of a leader, whose next ones are waited for. */
  void heard(long from, long nowNs) {
    if (from == node) {
      if (heartbeats != null) { // which spoke for the node until now
        silence.resume(heartbeats.heardNs());
      }
      silence.heard(nowNs);
    }
    await(from, nowNs);
  }

  /** Takes the end of a node's stream. */
  void onGone(long ended) {
    isGone |= ended == node;
  }

  /** Relies on the heartbeats of the leader's node from now on; null: on the leader's messages. */
  void relyOn(@Nullable PeerHeartbeats next, long nowNs) {
    if (next != heartbeats) {
      if (heartbeats != null) {
        silence.resume(heartbeats.unrely());
      }
      if (next != null) {
        next.rely(nowNs);
      }
      heartbeats = next;
    }
  }

  /** Whether the heartbeats of the node say that it lives, whose leader is idle. */
  private boolean isSpokenFor() {
    return heartbeats != null && heartbeats.node() == node && !heartbeats.isSilent();
  }

  /** Time left until the node is to be taken for dead, if it is not heard of. */
  long leftNs(long nowNs) {
    return isSpokenFor() ? Long.MAX_VALUE : silence.leftNs(nowNs);
  }

  /** Suspects nobody any more: this replica leads. */
  void forget() {
    isSuspect = false;
  }

  /** Judges whether the node is dead. */
  boolean judge(long nowNs) {
    final boolean suspect = isGone || (silence.isOver(nowNs) && !isSpokenFor());
    if (suspect && !isSuspect) {
      suspectNs = nowNs;
    }
    isSuspect = suspect;
    return suspect;
  }

  /** Whether nothing spoke against the node by the last judgement. */
  boolean isTrusted() {
    return !isSuspect && !isGone;
  }

  /** Time for which the node has been suspected. */
  long suspectedNs(long nowNs) {
    return nowNs - suspectNs;
  }
}
