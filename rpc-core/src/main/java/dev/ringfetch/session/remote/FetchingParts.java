package dev.ringfetch.session.remote;

import dev.ringfetch.session.carrier.CarrierParts;
import dev.ringfetch.session.carrier.RingPair;
import org.jspecify.annotations.Nullable;

/** The objects that a fetching client's inbox and its carrier share. */
final class FetchingParts {
  final ClientDelivery delivery;
  final FetchPace pace;
  final @Nullable ReplyChoice choice; // null: the mode is given
  final ClientTurn turn;
  final boolean fetches; // at first
  final @Nullable Hints hints;

  FetchingParts(CarrierParts parts, RemoteContext context) {
    final RingPair rings = parts.rings();
    this.delivery = new ClientDelivery(parts.tally(), rings);
    this.pace = new FetchPace(parts.clock(), parts.tally());
    this.turn = new ClientTurn(parts);
    this.choice =
        context.replyPolicy() == ReplyPolicy.ADAPTIVE
            ? new ReplyChoice(parts.clock(), context.replyTrialCalls(), rings.poller().position())
            : null;
    this.fetches = context.replyPolicy() != ReplyPolicy.PUSH; // with a choice, too: it begins so
    this.hints = rings.hintReceiver() == null ? null : new Hints(parts, context.hintWaitNs());
  }
}
