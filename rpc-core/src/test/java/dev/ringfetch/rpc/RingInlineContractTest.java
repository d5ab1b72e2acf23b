package dev.ringfetch.rpc;

import org.junit.jupiter.api.Tag;

/** The transport contract over rings, where handlers run in the server's polling threads. */
@Tag("slow")
final class RingInlineContractTest extends ChannelContract {
  @Override
  TransportHarness newHarness() {
    return new InlineHarness();
  }
}
