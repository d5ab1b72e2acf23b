package dev.ringfetch.session.remote;

import dev.ringfetch.ring.ProcessTime;
import dev.ringfetch.session.carrier.Carrier;
import dev.ringfetch.session.carrier.CarrierParts;
import org.jspecify.annotations.Nullable;

/**
 * The carrier of a client that does not load from the server's memory: reads its answers there, or
 * has them pushed, and sends when it is its turn.
 */
public final class FetchingCarrier extends Carrier {
  private final FetchPace pace;
  private final @Nullable ReplyChoice choice; // null: the mode is given
  private final ClientTurn turn;

  FetchingCarrier(CarrierParts parts, RemoteContext context) {
    this(parts, new FetchingParts(parts, context));
  }

  private FetchingCarrier(CarrierParts parts, FetchingParts fetching) {
    super(new FetchingInbox(parts, fetching), fetching.delivery, false);
    this.pace = fetching.pace;
    this.choice = fetching.choice;
    this.turn = fetching.turn;
  }

  /** Whether this side fetches or has answers pushed; null where the mode is given. */
  public @Nullable ReplyChoice choice() {
    return choice;
  }

  @Override
  public ClientTurn turn() {
    return turn;
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
}
