package dev.ringfetch.index.replication;

/**
 * The idling of a member and its leader: while there is nothing to be told or awaited, no message
 * of the group is sent, and the heartbeats of the nodes say that both live.
 *
 * <p>The owner of the leader's replica only.
 */
final class MemberIdling {
  private final PeerHeartbeats heartbeats; // of the member's node
  private final Silence silence;
  private boolean isIdle;
  private boolean isReported;
  private boolean toldBusy;

  /**
   * Creates it, of a member that is not idle.
   *
   * @param silence of the member itself, which counts while it is not idle
   */
  MemberIdling(PeerHeartbeats heartbeats, Silence silence) {
    this.heartbeats = heartbeats;
    this.silence = silence;
  }

  /** Whether no message of the group is due. */
  boolean isIdle() {
    return isIdle;
  }

  /** Whether the last message has said that the leader is busy. */
  boolean isToldBusy() {
    return toldBusy;
  }

  /** A message was sent. */
  void told(boolean busy) {
    toldBusy = busy;
  }

  /** The member's node says that the member does its part in this epoch no more. */
  void onReported() {
    isReported = true;
    end();
  }

  /** An answer has come: the member does its part. */
  void onAnswer() {
    isReported = false;
  }

  void onConnected() {
    toldBusy = false;
    isReported = false;
  }

  /** Begins if the member and its leader know all of each other; else ends. */
  void work(boolean isQuiet, long nowNs) {
    if (!isQuiet || isReported) {
      end();
    } else if (!isIdle) {
      isIdle = true;
      heartbeats.rely(nowNs);
    }
  }

  /** Messages are due again, or the connection or the epoch has ended. */
  void end() {
    if (isIdle) {
      isIdle = false;
      silence.resume(heartbeats.unrely());
    }
  }

  /** The leader leaves an epoch, in which the member may rely on the leader's node. */
  void leave(long group, long epoch) {
    heartbeats.fail(group, epoch);
  }

  /** Whether the member is to be taken for dead. */
  boolean isSuspect(long nowNs) {
    final boolean isSpokenFor = isIdle && !heartbeats.isSilent();
    return isReported || (silence.isOver(nowNs) && !isSpokenFor);
  }

  /** Time until an idle member is to be taken for dead: the node's thread finds when it is. */
  long leftNs() {
    return heartbeats.isSilent() ? 0 : Long.MAX_VALUE;
  }
}
