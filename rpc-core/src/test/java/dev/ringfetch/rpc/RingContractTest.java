package dev.ringfetch.rpc;

/** The transport contract over rings in shared memory. */
final class RingContractTest extends ChannelContract {
  @Override
  TransportHarness newHarness() {
    return new RingHarness();
  }
}
