package dev.ringfetch.index.replication;

/**
 * The leader whose messages a replica waits for, and since when the replica takes it for dead.
 *
 * <p>The replica's owner only.
 */
final class AwaitedLeader {
  private final Silence silence;
  private long node; // 0: none yet
  private boolean isGone; // its stream, or its process, has ended
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
      silence.heard(nowNs);
    }
    await(from, nowNs);
  }

  /** Takes the end of a node's stream. */
  void onGone(long ended) {
    isGone |= ended == node;
  }

  /** Suspects nobody any more: this replica leads. */
  void forget() {
    isSuspect = false;
  }

  /** Judges whether the node is dead. */
  boolean judge(long nowNs) {
    final boolean suspect = isGone || silence.isOver(nowNs);
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
