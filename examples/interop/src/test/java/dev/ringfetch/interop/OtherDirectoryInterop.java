package dev.ringfetch.interop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.ServerBuilder;

/** Both sides have rings, and no memory in common, as on two hosts: every call falls back. */
public final class OtherDirectoryInterop extends ServedInterop {
  /** The channel's directory, in that of all. */
  static final String NAME = "other";

  @Override
  ServerBuilder<?> serverBuilder() {
    return ring(directory);
  }

  @Override
  RingChannelBuilder options(RingChannelBuilder builder) {
    return builder.shmDirectory(directory.resolve(NAME));
  }

  @Override
  void verify(long ringCalls, long grpcCalls) {
    assertEquals("calls that went over a ring", 0, ringCalls);
    assertTrue("no call went over gRPC", grpcCalls > 0);
  }
}
