package dev.ringfetch.session;

/** The handler of an outbox's events for its session. Used by the owner. */
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
