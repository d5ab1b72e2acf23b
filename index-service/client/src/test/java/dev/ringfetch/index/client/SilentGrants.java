package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.GrantRequest;
import dev.ringfetch.index.v1.GrantResponse;
import io.grpc.stub.StreamObserver;

/** A service of grants that answers none. */
final class SilentGrants extends DirectAccessGrpc.DirectAccessImplBase {
  @Override
  public void grant(GrantRequest request, StreamObserver<GrantResponse> responses) {}
}
