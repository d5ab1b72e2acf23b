package dev.ringfetch.index.rights;

import io.grpc.Attributes;
import io.grpc.ServerTransportFilter;
import org.jspecify.annotations.Nullable;

/**
 * The users that one connection has proved last: by its certificate, by an authorization header,
 * and by the opening of a ring. It saves calls the look at certificates and hashes, and is no proof
 * for calls that show something else. Thread-safe.
 */
final class ConnectionUser {
  private static final Attributes.Key<ConnectionUser> KEY =
      Attributes.Key.create("ringfetch-connection-user");

  /**
   * A user that was proved.
   *
   * @param users that the server had then
   * @param proof the certificate's connection, the header's bytes, or the ring's attributes
   */
  record Proved<T>(Users users, T proof, User user) {}

  volatile @Nullable Proved<ConnectionUser> byCertificate;
  volatile @Nullable Proved<byte[]> byHeader;
  volatile @Nullable Proved<Attributes> onRing;

  /** That of the connection with these attributes; a new one without the {@link Filter}. */
  static ConnectionUser of(Attributes attributes) {
    final ConnectionUser found = attributes.get(KEY);
    return found == null ? new ConnectionUser() : found;
  }

  /** Gives each connection its object. */
  static final class Filter extends ServerTransportFilter {
    @Override
    public Attributes transportReady(Attributes attributes) {
      return attributes.toBuilder().set(KEY, new ConnectionUser()).build();
    }
  }
}
