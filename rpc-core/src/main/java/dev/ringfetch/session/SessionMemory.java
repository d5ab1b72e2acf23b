package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.SESSION_STREAM_ID;

import dev.ringfetch.counters.Tally;
import dev.ringfetch.session.bulk.BulkOwner;

/**
 * The adapter between a session and its registered memory: gives that one rounds and frames of the
 * session.
 */
public record SessionMemory(Session session) implements BulkOwner {
  @Override
  public long nanoTime() {
    return session.nanoTime();
  }

  @Override
  public Tally tally() {
    return session.tally;
  }

  @Override
  public String label() {
    return session.side() + " session with " + session.describe();
  }

  @Override
  public void requestRound() {
    session.driver.requestRound();
  }

  @Override
  public boolean hasEnded() {
    return session.hasEnded();
  }

  @Override
  public void blameLater(String reason) {
    session.ending.blameLater(reason);
  }

  @Override
  public int maxPayload() {
    return session.outbox.maxPayload();
  }

  @Override
  public void sendOffer(byte[] descriptor) {
    final Stream offer = session.notice(SESSION_STREAM_ID, BULK, 0);
    offer.headerOnly = false;
    offer.outbound().addBytes(descriptor, 0, descriptor.length);
    session.outbox.addUnsolicited(offer);
  }

  @Override
  public void sendAnswer(int answer) {
    session.outbox.addUnsolicited(session.notice(SESSION_STREAM_ID, BULK, answer));
  }
}
