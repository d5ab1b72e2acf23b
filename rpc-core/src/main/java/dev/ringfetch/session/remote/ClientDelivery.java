package dev.ringfetch.session.remote;

import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.session.carrier.Delivery;
import dev.ringfetch.session.carrier.RingPair;

/**
 * The delivery from a client to a server without common memory: everything is written to the
 * server's memory at once.
 *
 * <p>The server's line, by which it says that it sleeps, may be late: it is checked in every round
 * until the server was rung or has consumed all. While the client fetches, the server does not push
 * its line, and the local copy is old: then the line that was {@linkplain #onLine read} counts.
 */
final class ClientDelivery extends Delivery {
  private boolean behind;
  private boolean owing; // something has gone out since the last ring that it may sleep over
  private boolean fetching; // as the server was told
  private boolean sleeping; // the server, as was read
  private boolean blocked;
  private long released; // as was read

  ClientDelivery(Tally tally, RingPair rings) {
    super(tally, rings);
  }

  @Override
  public void onWritten() {
    owing = true;
    flush();
  }

  @Override
  public void onWrittenUnsolicited() {
    onWritten(); // a server listens
  }

  @Override
  public boolean isPeerBlocked() {
    return blocked || (!fetching && peerControl.blocked());
  }

  @Override
  public void wakeBlockedPeer() {
    owing = true;
    flush();
    blocked = false; // until it is read again
  }

  @Override
  public void flush() {
    int posted = writer.publish();
    if (posted == QueuePair.POSTED) {
      posted = ownControl.publish();
    }
    behind = posted == QueuePair.SEND_QUEUE_FULL;
    if (!behind) {
      ringIfAsleep();
    }
  }

  private void ringIfAsleep() {
    if (owing && isPeerAsleep() && (writer.unconsumed() > 0 || isPeerBlocked())) {
      owing = false;
      sleeping = false;
      ring();
    }
  }

  private boolean isPeerAsleep() {
    return sleeping || (!fetching && peerControl.sleeping());
  }

  @Override
  public boolean isBehind() {
    return behind;
  }

  @Override
  public boolean isUncertain() {
    return behind || (owing && writer.unconsumed() > 0);
  }

  /** The server will be told that this side fetches, or does not. */
  void fetching(boolean now) {
    if (now == fetching) {
      return;
    }
    fetching = now;
    ownControl.fetching(now);
    if (now) { // from here on the line is old
      sleeping |= peerControl.sleeping();
      blocked |= peerControl.blocked();
    }
  }

  /**
   * The server's line was read, after all that has gone out before.
   *
   * @return false when it says what no server may say.
   */
  boolean onLine(long lineConsumed, boolean lineSleeping, boolean lineBlocked) {
    sleeping = lineSleeping;
    blocked = lineBlocked;
    return writer.onConsumed(lineConsumed);
  }

  /** The number of done reads in the server's line was read. */
  void onReleased(long lineReleased) {
    released = lineReleased;
  }

  /** The later of what was pushed and what was read: the server only counts up. */
  @Override
  public long peerReleased() {
    return Math.max(released, peerControl.released());
  }
}
