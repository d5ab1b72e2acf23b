package dev.ringfetch.rpc;

import io.grpc.ChannelCredentials;
import io.grpc.ServerCredentials;
import io.grpc.TlsChannelCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.TlsServerCredentials.ClientAuth;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Credentials of servers and channels that trust one authority, unless told otherwise. */
final class Tls {
  static final Authority AUTHORITY = new Authority("authority");

  static final Authority.Identity SERVER = AUTHORITY.issue("server");

  private Tls() {}

  /** A server to which anybody may connect. */
  static ServerCredentials server() {
    return server(SERVER, ClientAuth.NONE);
  }

  /** A server that knows its clients by their certificates. */
  static ServerCredentials mutual() {
    return server(SERVER, ClientAuth.REQUIRE);
  }

  static ServerCredentials server(Authority.Identity identity, ClientAuth auth) {
    try {
      return TlsServerCredentials.newBuilder()
          .keyManager(identity.certificate(), identity.key())
          .trustManager(AUTHORITY.certificate())
          .clientAuth(auth)
          .build();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A client that nobody knows. */
  static ChannelCredentials client() {
    return trusting(AUTHORITY);
  }

  static ChannelCredentials trusting(Authority authority) {
    try {
      return TlsChannelCredentials.newBuilder().trustManager(authority.certificate()).build();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static ChannelCredentials client(String commonName) {
    return client(AUTHORITY.issue(commonName));
  }

  static ChannelCredentials client(Authority.Identity identity) {
    try {
      return TlsChannelCredentials.newBuilder()
          .keyManager(identity.certificate(), identity.key())
          .trustManager(AUTHORITY.certificate())
          .build();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
