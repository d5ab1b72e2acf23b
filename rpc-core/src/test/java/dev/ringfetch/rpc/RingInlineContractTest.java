package dev.ringfetch.rpc;

/** The transport contract over rings, where handlers run in the server's polling threads. */
final class RingInlineContractTest extends ChannelContract {
  @Override
  TransportHarness newHarness() {
    return new InlineHarness();
  }
}
