package dev.ringfetch.session;

import dev.ringfetch.session.owner.OwnedBy;

/** The handler of an outbox's events for its session. */
@OwnedBy("session")
final class OutboxEvents implements Outbox.Listener {
  private final Session session;

  OutboxEvents(Session session) {
    this.session = session;
  }

  @Override
  public void onSent(Stream stream) {
    session.onSent(stream);
  }

  @Override
  public void onFull() {
    session.onOutboundFull();
  }

  @Override
  public void onViolation(String what) {
    session.ending.blame(what);
  }
}
