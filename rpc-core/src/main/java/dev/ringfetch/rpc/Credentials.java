package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import io.grpc.Attributes;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.SecurityLevel;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** Credentials of a call that goes over a ring. */
final class Credentials {
  private Credentials() {}

  /**
   * Asks a call's credentials for their headers. What they are told of the peer is so of the
   * connection over which the session was opened: whose identity the ring has.
   *
   * @return the headers; or fails with their status.
   */
  static CompletableFuture<Metadata> apply(
      MethodDescriptor<?, ?> method,
      CallOptions options,
      Executor executor,
      ClientConnection ring,
      String authority) {
    final CompletableFuture<Metadata> headers = new CompletableFuture<>();
    final CallCredentials.MetadataApplier applier =
        new CallCredentials.MetadataApplier() {
          @Override
          public void apply(Metadata added) {
            headers.complete(added);
          }

          @Override
          public void fail(Status status) {
            headers.completeExceptionally(status.asRuntimeException());
          }
        };
    try {
      options
          .getCredentials()
          .applyRequestMetadata(new Request(method, options, ring, authority), executor, applier);
    } catch (Throwable t) { // theirs, as over gRPC
      applier.fail(
          Status.UNAUTHENTICATED
              .withDescription("Credentials should use fail() instead of throwing exceptions")
              .withCause(t));
    }
    return headers;
  }

  /** What credentials may ask. */
  private static final class Request extends CallCredentials.RequestInfo {
    private final MethodDescriptor<?, ?> method;
    private final CallOptions options;
    private final ClientConnection ring;
    private final String authority;

    Request(
        MethodDescriptor<?, ?> method,
        CallOptions options,
        ClientConnection ring,
        String authority) {
      this.method = method;
      this.options = options;
      this.ring = ring;
      this.authority = authority;
    }

    @Override
    public MethodDescriptor<?, ?> getMethodDescriptor() {
      return method;
    }

    @Override
    public CallOptions getCallOptions() {
      return options;
    }

    @Override
    public SecurityLevel getSecurityLevel() {
      return ring.securityLevel();
    }

    @Override
    public String getAuthority() {
      return authority;
    }

    @Override
    public Attributes getTransportAttrs() {
      return ring.attributes();
    }
  }
}
