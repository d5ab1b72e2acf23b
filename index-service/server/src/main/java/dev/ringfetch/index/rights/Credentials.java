package dev.ringfetch.index.rights;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.Metadata;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * The user and password that a call shows, and the names in its certificate.
 *
 * @param user name of the user
 * @param password of the user, as the caller says
 */
record Credentials(String user, String password) {
  static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private static final String BASIC = "basic ";

  /** Longer headers are refused unread; the longest user and password are shorter. */
  private static final int MAX_LENGTH = 2_048;

  // Of the names in a certificate: RFC 5280, GeneralName.
  private static final int RFC822_NAME = 1;
  private static final int DNS_NAME = 2;
  private static final int URI = 6;

  /** Not the password: logs quote objects. */
  @Override
  public String toString() {
    return "Credentials[" + user + "]";
  }

  /** Reads an authorization header (RFC 7617); null if it is none of a user and a password. */
  static @Nullable Credentials of(String authorization) {
    if (authorization.length() > MAX_LENGTH
        || !authorization.toLowerCase(Locale.ROOT).startsWith(BASIC)) {
      return null;
    }
    final String text;
    try {
      text =
          new String(
              Base64.getDecoder().decode(authorization.substring(BASIC.length()).strip()),
              StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) { // no base64
      return null;
    }
    final int colon = text.indexOf(':');
    return colon < 1 || colon == text.length() - 1
        ? null
        : new Credentials(text.substring(0, colon), text.substring(colon + 1));
  }

  /** Whether a password can have come here unread by others: by TLS, or within this host. */
  static boolean areSecret(Attributes attributes) {
    if (attributes.get(Grpc.TRANSPORT_ATTR_SSL_SESSION) != null) {
      return true;
    }
    final SocketAddress caller = attributes.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    return !(caller instanceof InetSocketAddress address)
        || (address.getAddress() != null && address.getAddress().isLoopbackAddress());
  }

  /**
   * The names in the certificate of a connection: its alternative names of DNS, mail and URI, then
   * the common name of its subject; empty without a certificate.
   */
  static List<String> names(@Nullable SSLSession session) {
    final List<String> names = new ArrayList<>();
    if (session == null) {
      return names;
    }
    try {
      final X509Certificate certificate = (X509Certificate) session.getPeerCertificates()[0];
      final Collection<List<?>> alternative = certificate.getSubjectAlternativeNames();
      if (alternative != null) {
        for (final List<?> typeAndName : alternative) {
          final int type = (Integer) typeAndName.get(0);
          if (type == DNS_NAME || type == RFC822_NAME || type == URI) {
            names.add((String) typeAndName.get(1));
          }
        }
      }
      for (final Rdn part :
          new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()) {
        if (part.getType().equalsIgnoreCase("CN")) {
          names.add(String.valueOf(part.getValue()));
        }
      }
    } catch (SSLPeerUnverifiedException e) {
      // The client has shown none.
    } catch (CertificateParsingException | InvalidNameException e) {
      names.clear(); // of a certificate that cannot be read, no name counts
    }
    return names;
  }
}
