package dev.ringfetch.session.carrier;

/** The inbox between sides that load and store one memory, with a watch over its head. */
final class WatchedInbox extends PollingInbox {
  private final HeadWatch watch;

  WatchedInbox(CarrierParts parts, Delivery delivery, HeadWatch watch) {
    super(parts, delivery);
    this.watch = watch;
  }

  @Override
  public boolean arm() {
    watch.onArm();
    final boolean armed = super.arm();
    if (!armed && ring.isHeadTorn()) {
      watch.suspect();
    }
    return armed;
  }
}
