package dev.ringfetch.session.carrier;

/**
 * The carrier between sides that load and store one memory, where stored data needs no transfer.
 */
public final class LoadStoreCarrier extends Carrier {
  private final HeadWatch watch;

  /** Creates the carrier. */
  public LoadStoreCarrier(CarrierParts parts) {
    this(
        parts,
        new StoreDelivery(parts.tally(), parts.rings(), parts.clock()),
        new HeadWatch(parts));
  }

  private LoadStoreCarrier(CarrierParts parts, StoreDelivery delivery, HeadWatch watch) {
    super(new WatchedInbox(parts, delivery, watch), delivery, true);
    this.watch = watch;
  }

  @Override
  public void onRing() {
    watch.onRing();
  }

  @Override
  public long lookDueNs() {
    return watch.dueNs();
  }

  @Override
  public void look() {
    watch.look();
  }
}
