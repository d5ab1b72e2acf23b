package dev.ringfetch.session;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.ring.HintReceiver;
import dev.ringfetch.ring.RingFetcher;

/**
 * Datagrams in which a client's answers come while they are not lost: it waits for them for some
 * time before it reads. Belongs to the owner of the session.
 */
final class Hints {
  private static final int LIMIT = 16; // datagrams; then others have their turn

  private final Session session;
  private final HintReceiver receiver;
  private final RingFetcher fetcher;
  private final long waitNs;

  private boolean waiting;
  private long sinceNs;
  private long lastConsumed;

  /**
   * Takes hints.
   *
   * @param fetcher that reads what they do not bring.
   * @param waitNs how long they are waited for, in nanoseconds.
   */
  Hints(Session session, HintReceiver receiver, RingFetcher fetcher, long waitNs) {
    this.session = session;
    this.receiver = receiver;
    this.fetcher = fetcher;
    this.waitNs = waitNs;
  }

  /** Takes the frames of what has come, as {@link HintReceiver#take} does. */
  int take() {
    return receiver.take(session, LIMIT);
  }

  /** True when an answer that is expected is not to be waited for any longer. */
  boolean isReadDue() {
    final int begun = receiver.begun();
    if (begun > 0) {
      fetcher.need(begun);
      return true;
    }
    final long now = session.clock.nanoTime();
    if (!waiting) {
      waiting = true;
      sinceNs = now;
    }
    return receiver.isBroken() || now - sinceNs >= waitNs;
  }

  /** A read is under way, or there is nothing to wait for: the next wait begins anew. */
  void restart() {
    waiting = false;
    receiver.read();
  }

  /**
   * Frames have come: what is still expected has its own time. Not while the server takes nothing
   * in: it may sleep beside handlers that answer, and only a read tells.
   */
  void progress() {
    final long unconsumed = session.writer.unconsumed();
    final long consumed = session.writer.position() - unconsumed;
    if (unconsumed == 0 || consumed != lastConsumed) {
      lastConsumed = consumed;
      waiting = false;
    }
  }

  void count() {
    session.tally.set(Counter.SESSION_HINTS_TAKEN, receiver.taken());
    session.tally.set(Counter.SESSION_HINTS_DROPPED, receiver.dropped());
  }
}
