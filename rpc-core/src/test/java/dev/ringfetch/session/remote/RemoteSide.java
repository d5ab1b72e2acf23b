package dev.ringfetch.session.remote;

import dev.ringfetch.session.carrier.Carrier;
import dev.ringfetch.session.carrier.Delivery;
import dev.ringfetch.session.carrier.Inbox;

/** The way of tests in other packages to what a carrier shows its own package only. */
public final class RemoteSide {
  /** See {@link TurnSchedule#EPOCH_TURNS}. */
  public static final int EPOCH_TURNS = TurnSchedule.EPOCH_TURNS;

  /** See {@link Hints#MAX_WAITS}. */
  public static final int MAX_WAITS = Hints.MAX_WAITS;

  private RemoteSide() {}

  /** True where the session finds out whether it fetches. */
  public static boolean chooses(Carrier carrier) {
    return carrier instanceof FetchingCarrier client && client.choice() != null;
  }

  /** Whether a client that chooses fetches. */
  public static boolean fetches(Carrier client) {
    return ((FetchingCarrier) client).choice().fetches();
  }

  /** Has a client that chooses turn to the other way. */
  public static void turn(Carrier client) {
    ((FetchingCarrier) client).choice().turn();
  }

  /** See {@link FetchingInbox#isTurning}. */
  public static boolean isTurning(Inbox inbox) {
    return inbox instanceof FetchingInbox fetching && fetching.isTurning();
  }

  /** See {@link ServerDelivery#tellTurn}. */
  public static boolean tellTurn(
      Delivery server, long stamp, int beginNs, int lengthNs, int periodNs) {
    return ((ServerDelivery) server).tellTurn(stamp, beginNs, lengthNs, periodNs);
  }
}
