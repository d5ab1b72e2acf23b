package dev.ringfetch.rpc;

import io.grpc.Attributes;
import io.grpc.CallCredentials;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Learns how well a connection is protected, as soon as it stands: gRPC tells that to credentials
 * alone. They add nothing to the call.
 */
final class ConnectionLevel extends CallCredentials {
  private final CompletableFuture<SecurityLevel> level = new CompletableFuture<>();
  private volatile boolean told;
  private volatile Attributes attributes = Attributes.EMPTY;

  /**
   * What is not to be lost. Never fails; without a connection it stays open. The best where gRPC
   * does not tell, since an interceptor beneath has put other credentials in the place of these.
   */
  CompletableFuture<SecurityLevel> future() {
    return level;
  }

  /** How well the connection that has these attributes is protected at least. */
  SecurityLevel of(Attributes attributes) {
    if (told) {
      return level.join();
    }
    return attributes.get(Grpc.TRANSPORT_ATTR_SSL_SESSION) == null
        ? SecurityLevel.NONE
        : SecurityLevel.PRIVACY_AND_INTEGRITY;
  }

  /** What gRPC has told of the connection; empty where it does not. */
  Attributes attributes() {
    return attributes;
  }

  /** The call is on its way: gRPC has told by now, or never will. */
  void onReady() {
    level.complete(SecurityLevel.PRIVACY_AND_INTEGRITY);
  }

  @Override
  public void applyRequestMetadata(
      RequestInfo request, Executor executor, MetadataApplier applier) {
    attributes = request.getTransportAttrs(); // first: who waits for the level looks
    if (level.complete(request.getSecurityLevel())) {
      told = true;
    }
    applier.apply(new Metadata());
  }
}
