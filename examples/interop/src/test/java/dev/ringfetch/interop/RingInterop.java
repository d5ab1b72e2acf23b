package dev.ringfetch.interop;

import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.ManagedChannel;
import io.grpc.ServerBuilder;

/** Both sides on a ring, in one process. A call that would go over gRPC fails. */
public final class RingInterop extends ServedInterop {
  @Override
  ServerBuilder<?> serverBuilder() {
    return ring(directory);
  }

  @Override
  RingChannelBuilder options(RingChannelBuilder builder) {
    return onRing(builder);
  }

  @Override
  protected ManagedChannel createChannel() {
    return connected(super.createChannel());
  }

  @Override
  void verify(long ringCalls, long grpcCalls) {
    verifyOnRing(ringCalls, grpcCalls);
  }
}
