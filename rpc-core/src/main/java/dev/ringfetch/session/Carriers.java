package dev.ringfetch.session;

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
