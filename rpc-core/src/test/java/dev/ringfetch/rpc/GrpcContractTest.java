package dev.ringfetch.rpc;

import org.junit.jupiter.api.Tag;

/** The transport contract over plain gRPC, which is what a ring has to behave like. */
@Tag("slow")
final class GrpcContractTest extends ChannelContract {
  @Override
  TransportHarness newHarness() {
    return new GrpcHarness();
  }
}
