package dev.ringfetch.rpc;

import io.grpc.Attributes;
import io.grpc.CallCredentials;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Call credentials that find out the security level of a connection as soon as it is established,
 * and add nothing to the call. gRPC tells the level to credentials alone.
 */
final class ConnectionLevel extends CallCredentials {
  private final CompletableFuture<SecurityLevel> level = new CompletableFuture<>();
  private volatile boolean told;
  private volatile Attributes attributes = Attributes.EMPTY;

  /**
   * The level that calls must not fall below. Never fails; stays open without a connection. It is
   * the best level where gRPC does not tell, because an interceptor of the gRPC channel has
   * replaced these credentials.
   */
  CompletableFuture<SecurityLevel> future() {
    return level;
  }

  /** The least security level of the connection with these attributes. */
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

  /** Called when the call is on its way: gRPC has told the level by now, or never will. */
  void onReady() {
    level.complete(SecurityLevel.PRIVACY_AND_INTEGRITY);
  }

  @Override
  public void applyRequestMetadata(
      RequestInfo request, Executor executor, MetadataApplier applier) {
    attributes = request.getTransportAttrs(); // first: a caller that waits for the level reads them
    if (level.complete(request.getSecurityLevel())) {
      told = true;
    }
    applier.apply(new Metadata());
  }
}
