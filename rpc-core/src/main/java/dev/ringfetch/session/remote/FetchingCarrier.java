package dev.ringfetch.session.remote;

import dev.ringfetch.counters.Tally;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.ProcessTime;
import dev.ringfetch.session.carrier.Carrier;
import dev.ringfetch.session.carrier.CarrierParts;
import dev.ringfetch.session.carrier.CarrierSession;
import dev.ringfetch.session.carrier.RingPair;
import org.jspecify.annotations.Nullable;

/**
 * The carrier of a client that does not load from the server's memory: reads its answers there, or
 * has them pushed, and sends when it is its turn.
 */
public final class FetchingCarrier extends Carrier {
  private final CarrierSession session;
  private final QueuePair queuePair;
  private final RingPair rings;
  private final Tally tally;
  private final FetchPace pace;
  private final @Nullable ReplyChoice choice; // null: the mode is given
  private final ClientTurn turn;
  private boolean watched; // the poller comes by until nothing is held

  FetchingCarrier(CarrierParts parts, RemoteContext context) {
    this(parts, new FetchingParts(parts, context));
  }

  private FetchingCarrier(CarrierParts parts, FetchingParts fetching) {
    super(new FetchingInbox(parts, fetching), fetching.delivery, false);
    this.session = parts.session();
    this.rings = parts.rings();
    this.queuePair = rings.queuePair();
    this.tally = parts.tally();
    this.pace = fetching.pace;
    this.choice = fetching.choice;
    this.turn = fetching.turn;
  }

  /** Whether this side fetches or has answers pushed; null where the mode is given. */
  public @Nullable ReplyChoice choice() {
    return choice;
  }

  /** When this side should send. */
  public ClientTurn turn() {
    return turn;
  }

  @Override
  public void beginRound() {
    queuePair.cork();
  }

  @Override
  public void handOver() {
    inbox().endRound();
  }

  @Override
  public void endRound() {
    queuePair.uncork(); // the device is told at once of what one round posts
  }

  @Override
  public boolean holds(boolean empty) {
    final boolean held;
    if (empty) {
      turn.holdNothing();
      held = false;
    } else {
      held = turn.holds(session.earliestDeadlineNs());
    }
    watched &= held;
    return held;
  }

  @Override
  public boolean isHolding() {
    return turn.isHolding();
  }

  @Override
  public long heldUntilNs() {
    return turn.untilNs();
  }

  @Override
  public boolean isWatched() {
    return watched;
  }

  @Override
  public void watched(boolean stays) {
    watched = stays && turn.isHolding();
  }

  @Override
  public void onRequestSent(int streamId) {
    if (choice != null) {
      choice.onSent(streamId);
    }
  }

  @Override
  public void onClosed(int streamId, boolean answer, int code, int length) {
    if (answer) {
      pace.answered(ProcessTime.ofCode(code));
    }
    if (choice != null) {
      if (answer && length <= ReplyChoice.MAX_LENGTH) {
        choice.onAnswered(streamId, code);
      } else {
        choice.onClosed(streamId);
      }
    }
  }

  @Override
  public void count() {
    RemoteCounts.count(tally, rings);
    inbox().count();
    delivery().count();
  }
}
