package dev.ringfetch.session.carrier;

/** The carrier between sides that load and store one memory: what is stored is there. */
public final class LoadStoreCarrier extends Carrier {
  /** Creates the carrier. */
  public LoadStoreCarrier(CarrierParts parts) {
    this(parts, new StoreDelivery(parts.tally(), parts.rings()));
  }

  private LoadStoreCarrier(CarrierParts parts, StoreDelivery delivery) {
    super(new PollingInbox(parts, delivery), delivery, true);
  }
}
