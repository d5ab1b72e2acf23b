package dev.ringfetch.interop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

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
    return builder.shmDirectory(directory).requireFabric();
  }

  @Override
  protected ManagedChannel createChannel() {
    return connected(super.createChannel());
  }

  @Override
  void verify(long ringCalls, long grpcCalls) {
    assertTrue("no call went over a ring", ringCalls > 0);
    assertEquals("calls that went over gRPC", 0, grpcCalls);
  }
}
