package dev.ringfetch.interop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.ServerBuilder;

/** A channel of ours to a server that knows nothing of rings: every call falls back. */
public final class NoRingsInterop extends ServedInterop {
  @Override
  ServerBuilder<?> serverBuilder() {
    return netty();
  }

  @Override
  RingChannelBuilder options(RingChannelBuilder builder) {
    return builder.shmDirectory(directory);
  }

  @Override
  void verify(long ringCalls, long grpcCalls) {
    assertEquals("calls that went over a ring", 0, ringCalls);
    assertTrue("no call went over gRPC", grpcCalls > 0);
  }
}
