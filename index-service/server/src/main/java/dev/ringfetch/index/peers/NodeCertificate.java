package dev.ringfetch.index.peers;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * The certificate by which a caller proves that it is a node: one of the authority, which the
 * transport has verified, for the host at which the coordinator announces that node. A client has a
 * certificate of the same authority, but not for the host of a node.
 */
public final class NodeCertificate {
  private static final Context.Key<SSLSession> SESSION = Context.key("ringfetch-node-session");

  // Of the names in a certificate: RFC 5280, GeneralName.
  private static final int DNS_NAME = 2;
  private static final int IP_ADDRESS = 7;

  private NodeCertificate() {}

  /** Notes the connection's TLS session for {@link #session}. */
  static final class Interceptor implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      final SSLSession session = call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
      return Contexts.interceptCall(
          Context.current().withValue(SESSION, session), call, headers, next);
    }
  }

  /** The TLS session of the present call; null if its connection is plaintext. */
  static @Nullable SSLSession session() {
    return SESSION.get();
  }

  /**
   * Whether the caller's certificate names a host.
   *
   * @param session null for plaintext
   * @param address of a node, host and port
   */
  public static boolean isOf(@Nullable SSLSession session, String address) {
    if (session == null) {
      return false;
    }
    final String host =
        address.substring(0, address.lastIndexOf(':')).replace("[", "").replace("]", "");
    try {
      final Collection<List<?>> names =
          ((X509Certificate) session.getPeerCertificates()[0]).getSubjectAlternativeNames();
      return names != null && names.stream().anyMatch(name -> isName(name, host));
    } catch (SSLPeerUnverifiedException | CertificateParsingException e) {
      return false;
    }
  }

  /** Whether a call has ended because one side did not accept the other's certificate. */
  static boolean isRefused(Status status) {
    for (Throwable cause = status.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof SSLException) {
        return true;
      }
    }
    return status.getCode() == Status.Code.PERMISSION_DENIED;
  }

  private static boolean isName(List<?> typeAndName, String host) {
    final String name = String.valueOf(typeAndName.get(1));
    return switch ((Integer) typeAndName.get(0)) {
      case DNS_NAME ->
          name.equalsIgnoreCase(host)
              || (name.startsWith("*.") // stands for the first part alone
                  && host.indexOf('.') > 0
                  && name.substring(1).equalsIgnoreCase(host.substring(host.indexOf('.'))));
      case IP_ADDRESS -> isAddress(host) && address(name).equals(address(host));
      default -> false;
    };
  }

  private static boolean isAddress(String host) {
    return host.indexOf(':') >= 0 || host.matches("[0-9.]+");
  }

  private static InetAddress address(String literal) {
    try {
      return InetAddress.getByName(literal);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("not an IP address: " + literal, e);
    }
  }
}
