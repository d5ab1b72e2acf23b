package dev.ringfetch.rpc;

/** The transport contract over plain gRPC, which is what a ring has to behave like. */
final class GrpcContractTest extends ChannelContract {
  @Override
  TransportHarness newHarness() {
    return new GrpcHarness();
  }
}
