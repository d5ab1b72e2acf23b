package dev.ringfetch.rpc;

import dev.ringfetch.call.ClientConnection;
import io.grpc.Attributes;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.SecurityLevel;
import io.grpc.Status;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/** The use of call credentials for calls on a ring. */
final class Credentials {
  private Credentials() {}

  /**
   * Asks a call's credentials for their headers. They are told the attributes of the connection
   * over which the session was opened, since the ring has the identity of that connection.
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
    final CallCredentials.MetadataApplier applier = new Applier(headers);
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

  /** Takes one answer, as gRPC's does; a second one is an IllegalStateException. */
  private static final class Applier extends CallCredentials.MetadataApplier {
    private final CompletableFuture<Metadata> headers;
    private final AtomicBoolean called = new AtomicBoolean();

    Applier(CompletableFuture<Metadata> headers) {
      this.headers = headers;
    }

    @Override
    public void apply(Metadata added) {
      Objects.requireNonNull(added, "headers");
      called();
      headers.complete(added);
    }

    @Override
    public void fail(Status status) {
      if (status.isOk()) {
        throw new IllegalArgumentException("Cannot fail with OK status");
      }
      called();
      headers.completeExceptionally(status.asRuntimeException());
    }

    private void called() {
      if (!called.compareAndSet(false, true)) {
        throw new IllegalStateException("apply() or fail() already called");
      }
    }
  }

  /** The properties of the call that credentials may ask for. */
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
