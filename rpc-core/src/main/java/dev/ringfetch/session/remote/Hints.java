package dev.ringfetch.session.remote;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.ring.HintReceiver;
import dev.ringfetch.ring.RingFetcher;
import dev.ringfetch.ring.RingPoller;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.carrier.CarrierParts;
import dev.ringfetch.session.owner.OwnedBy;
import org.agrona.concurrent.NanoClock;

/**
 * The datagrams with a client's answers, which may be lost: the client waits for them for some time
 * before it reads.
 *
 * <p>The time is learnt: it doubles when a datagram comes after what it brings was read, and
 * shrinks by an eighth when a read brings what no datagram has. So it is some times what datagrams
 * take here, and short where they are lost.
 */
@OwnedBy("session")
public final class Hints {
  private static final int LIMIT = 16; // datagrams; then others have their turn

  /** The longest wait, in shortest ones. */
  static final int MAX_WAITS = 16;

  private final RingPoller.FrameHandler handler;
  private final HintReceiver receiver;
  private final RingFetcher fetcher;
  private final RingWriter writer;
  private final NanoClock clock;
  private final Tally tally;
  private final long minWaitNs;
  private final long maxWaitNs;

  private long waitNs;
  private boolean waiting;
  private boolean overdue; // what is waited for
  private boolean fetching; // what was overdue when the read that is under way was posted
  private long sinceNs;
  private long lastConsumed;

  /**
   * Takes hints.
   *
   * @param minWaitNs how long they are waited for at the least, in nanoseconds.
   */
  Hints(CarrierParts parts, long minWaitNs) {
    this.handler = parts.session();
    this.receiver = parts.rings().hintReceiver();
    this.fetcher = parts.rings().fetcher();
    this.writer = parts.rings().writer();
    this.clock = parts.clock();
    this.tally = parts.tally();
    this.minWaitNs = minWaitNs;
    this.maxWaitNs = MAX_WAITS * minWaitNs;
    this.waitNs = minWaitNs;
  }

  /** Takes the frames of what has come, as {@link HintReceiver#take} does. */
  int take() {
    final long late = receiver.late();
    final int frames = receiver.take(handler, LIMIT);
    if (receiver.late() != late) {
      waitNs = Math.min(2 * waitNs, maxWaitNs);
    }
    return frames;
  }

  /** A read has brought frames, from this position on. */
  void fetched(long position) {
    if (fetching) { // not what a datagram had begun
      receiver.fetched(position);
      waitNs = Math.max(minWaitNs, waitNs - waitNs / 8);
    }
  }

  /** True when an answer that is expected is not to be waited for any longer. */
  boolean isReadDue() {
    final int begun = receiver.begun();
    overdue = false;
    if (begun > 0) {
      fetcher.need(begun);
      return true;
    }
    final long now = clock.nanoTime();
    if (!waiting) {
      waiting = true;
      sinceNs = now;
    }
    overdue = now - sinceNs >= waitNs;
    return receiver.isBroken() || overdue;
  }

  /** There is nothing to wait for: the next wait begins anew. */
  void restart() {
    waiting = false;
    receiver.read();
  }

  /**
   * A read is under way, and the next wait begins anew.
   *
   * @param last whether it is the one before this side sleeps: nothing has come for long.
   */
  void posted(boolean last) {
    fetching = last || overdue;
    restart();
  }

  /**
   * Frames have come: what is still expected has its own time. Not while the server takes nothing
   * in: it may sleep beside handlers that answer, and only a read tells.
   */
  void progress() {
    final long unconsumed = writer.unconsumed();
    final long consumed = writer.position() - unconsumed;
    if (unconsumed == 0 || consumed != lastConsumed) {
      lastConsumed = consumed;
      waiting = false;
    }
  }

  void count() {
    tally.set(Counter.SESSION_HINTS_TAKEN, receiver.taken());
    tally.set(Counter.SESSION_HINTS_DROPPED, receiver.dropped());
  }
}
