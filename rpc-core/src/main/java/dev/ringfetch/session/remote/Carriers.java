package dev.ringfetch.session.remote;

import dev.ringfetch.session.carrier.Carrier;
import dev.ringfetch.session.carrier.CarrierParts;
import dev.ringfetch.session.carrier.LoadStoreCarrier;
import dev.ringfetch.session.carrier.RingPair;

/** The choice of a session's carrier, by what its fabric can do. */
public final class Carriers {
  private Carriers() {}

  /** Creates the carrier of one side of a session. */
  public static Carrier create(CarrierParts parts, RemoteContext context) {
    final RingPair rings = parts.rings();
    if (rings.fetcher() != null) {
      return new FetchingCarrier(parts, context);
    }
    return rings.queuePair().capabilities().loadStore()
        ? new LoadStoreCarrier(parts)
        : new PushingCarrier(parts, context);
  }
}
