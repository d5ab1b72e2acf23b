package dev.ringfetch.rpc;

import io.grpc.ChannelCredentials;
import io.grpc.SecurityLevel;
import io.grpc.ServerCredentials;

/** Rings over RDMA, between two sides of one process that reach each other through the device. */
final class VerbsHarness extends RingHarness {
  private static final String VERBS = "verbs";

  private final ReplyMode mode;

  VerbsHarness(ReplyMode mode) {
    this.mode = mode;
  }

  @Override
  RingServerBuilder newServerBuilder(int port, ServerCredentials credentials) {
    return super.newServerBuilder(port, credentials).fabrics(VERBS).plaintextFabrics(VERBS);
  }

  @Override
  RingChannelBuilder newChannelBuilder(String target, ChannelCredentials credentials) {
    return super.newChannelBuilder(target, credentials)
        .fabrics(VERBS)
        .plaintextFabrics(VERBS)
        .replyMode(mode);
  }

  @Override
  String fabric() {
    return VERBS;
  }

  /** Whatever the connection is: others may read along. */
  @Override
  SecurityLevel securityLevel() {
    return SecurityLevel.NONE;
  }

  @Override
  public String toString() {
    return VERBS + " " + mode;
  }
}
