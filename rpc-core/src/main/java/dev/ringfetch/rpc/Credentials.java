package dev.ringfetch.rpc;

import io.grpc.Attributes;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Grpc;
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
   * Asks a call's credentials for their headers. What they are told of the connection is so of the
   * one over which the session was opened: whose identity the ring has.
   *
   * @param attributes of that connection.
   * @return the headers; or fails with their status.
   */
  static CompletableFuture<Metadata> apply(
      MethodDescriptor<?, ?> method,
      CallOptions options,
      Executor executor,
      Attributes attributes,
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
          .applyRequestMetadata(
              new Request(method, options, attributes, authority), executor, applier);
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
    private final Attributes attributes;
    private final String authority;

    Request(
        MethodDescriptor<?, ?> method,
        CallOptions options,
        Attributes attributes,
        String authority) {
      this.method = method;
      this.options = options;
      this.attributes = attributes;
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
      return attributes.get(Grpc.TRANSPORT_ATTR_SSL_SESSION) == null
          ? SecurityLevel.NONE
          : SecurityLevel.PRIVACY_AND_INTEGRITY; // between processes of one user memory has both
    }

    @Override
    public String getAuthority() {
      return authority;
    }

    @Override
    public Attributes getTransportAttrs() {
      return attributes;
    }
  }
}
