package dev.ringfetch.rpc;

import org.junit.jupiter.api.Tag;

/** The transport contract over rings, where polling threads run handlers and callbacks. */
@Tag("slow")
final class RingInlineContractTest extends ChannelContract {
  @Override
  TransportHarness newHarness() {
    return new InlineHarness();
  }
}
