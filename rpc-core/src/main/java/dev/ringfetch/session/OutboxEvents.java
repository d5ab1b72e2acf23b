package dev.ringfetch.session;

/** The events of a session's outbox: what has left, and what cannot. Owner. */
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
