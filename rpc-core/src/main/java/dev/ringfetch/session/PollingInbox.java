package dev.ringfetch.session;

/** Of a ring in memory that this side loads from: what is there is there. */
final class PollingInbox extends Inbox {
  private boolean armed;

  PollingInbox(Session session, RingPair rings) {
    super(session, rings);
  }

  @Override
  int poll() {
    final int frames = taken(ring.poll(session, POLL_LIMIT));
    creditPeer();
    return frames;
  }

  /** As much as a sane peer can have put in. */
  @Override
  void drain() {
    if (!isViolated()) {
      ring.poll(session, ring.slots());
    }
  }

  @Override
  boolean isArmed() {
    return armed;
  }

  @Override
  boolean arm() {
    if (session.loadStore) {
      session.headWatch.onArm();
    }
    armed = true;
    ring.tellConsumed();
    ownControl.sleeping(true);
    memory.fullFence();
    delivery.flush();
    if (ring.hasNext() || delivery.isBehind()) {
      disarm();
      if (session.loadStore && ring.isHeadTorn()) {
        session.headWatch.suspect();
      }
      return false;
    }
    delivery.wakeBlockedPeer();
    return true;
  }

  @Override
  void disarm() {
    armed = false;
    ownControl.sleeping(false);
  }

  @Override
  boolean isSettling() {
    return false;
  }

  @Override
  boolean settle() {
    return arm();
  }

  @Override
  void endRound() {
    delivery.flush();
  }
}
