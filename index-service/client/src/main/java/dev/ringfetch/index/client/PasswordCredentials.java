package dev.ringfetch.index.client;

import io.grpc.CallCredentials;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.Status;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.Executor;

/**
 * The user and password of a client, as call credentials (RFC 7617). They go to the server by TLS,
 * or within this host; elsewhere, calls end UNAUTHENTICATED. Thread-safe.
 */
final class PasswordCredentials extends CallCredentials {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final String header;

  /**
   * Creates credentials.
   *
   * @throws IllegalArgumentException if the user's name is empty or has a colon, or the password is
   *     empty
   */
  PasswordCredentials(String user, String password) {
    if (user.isEmpty() || user.indexOf(':') >= 0) {
      throw new IllegalArgumentException("no name of a user: '" + user + "'");
    }
    if (password.isEmpty()) {
      throw new IllegalArgumentException("the password is empty: user=" + user);
    }
    header =
        "Basic "
            + Base64.getEncoder()
                .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void applyRequestMetadata(
      RequestInfo request, Executor executor, MetadataApplier applier) {
    final SocketAddress server = request.getTransportAttrs().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    final boolean isHere =
        server instanceof InetSocketAddress address
            && address.getAddress() != null
            && address.getAddress().isLoopbackAddress();
    if (request.getSecurityLevel() == SecurityLevel.PRIVACY_AND_INTEGRITY || isHere) {
      final Metadata headers = new Metadata();
      headers.put(AUTHORIZATION, header);
      applier.apply(headers);
    } else {
      applier.fail(
          Status.UNAUTHENTICATED.withDescription(
              "a password goes to another host by TLS alone: server=" + server));
    }
  }
}
