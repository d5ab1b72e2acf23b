package dev.ringfetch.rpc;

import org.junit.jupiter.api.Tag;

/** The transport contract over rings that are attached to builders of gRPC. */
@Tag("slow")
final class AttachedContractTest extends ChannelContract {
  @Override
  TransportHarness newHarness() {
    return new AttachedHarness();
  }
}
