package dev.ringfetch.session.carrier;

/** The inbox of a ring in memory that this side loads from. */
public class PollingInbox extends Inbox {
  private boolean armed;

  /** Creates the inbox. */
  public PollingInbox(CarrierParts parts, Delivery delivery) {
    super(parts, delivery);
  }

  @Override
  public int poll() {
    final int frames = taken(ring.poll(session, POLL_LIMIT));
    creditPeer();
    return frames;
  }

  /** Takes at most as many slots as a correct peer can have written. */
  @Override
  public void drain() {
    if (!isViolated()) {
      ring.poll(session, ring.slots());
    }
  }

  @Override
  public boolean isArmed() {
    return armed;
  }

  @Override
  public boolean arm() {
    armed = true;
    ring.tellConsumed();
    ownControl.sleeping(true);
    memory.fullFence();
    delivery.flush();
    if (ring.hasNext() || delivery.isBehind()) {
      disarm();
      return false;
    }
    delivery.wakeBlockedPeer();
    return true;
  }

  @Override
  public void disarm() {
    armed = false;
    ownControl.sleeping(false);
  }

  @Override
  public boolean isSettling() {
    return false;
  }

  @Override
  public boolean settle() {
    return arm();
  }

  @Override
  public void endRound() {
    delivery.flush();
  }
}
