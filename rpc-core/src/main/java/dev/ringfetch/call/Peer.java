package dev.ringfetch.call;

import io.grpc.Attributes;
import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The client of a session, as the server sees it: the facts from the handshake that all calls
 * share, so that no call carries them. Immutable.
 */
public final class Peer {
  private static final Metadata.Key<String> USER_AGENT =
      Metadata.Key.of("user-agent", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<String> ACCEPTED_ENCODINGS =
      Metadata.Key.of("grpc-accept-encoding", Metadata.ASCII_STRING_MARSHALLER);

  private final Attributes attributes;
  private final String authority;
  private final SecurityLevel securityLevel;
  private final Set<String> encodings;
  private final byte[][] headers;

  /**
   * Creates the peer.
   *
   * @param attributes of the connection that opened the session.
   * @param authority to which that connection was made, or null.
   * @param securityLevel of that connection.
   * @param handshake headers of the call that opened the session.
   */
  public Peer(
      Attributes attributes, String authority, SecurityLevel securityLevel, Metadata handshake) {
    this.attributes = attributes;
    this.authority = authority;
    this.securityLevel = securityLevel;
    final String accepted = handshake.get(ACCEPTED_ENCODINGS);
    this.encodings = accepted == null ? Set.of() : Set.of(accepted.split("\\s*,\\s*", -1));
    final List<byte[]> told = new ArrayList<>();
    add(told, handshake, USER_AGENT);
    add(told, handshake, ACCEPTED_ENCODINGS);
    add(told, handshake, AUTHORIZATION);
    this.headers = told.toArray(new byte[0][]);
  }

  private Peer(Peer same, Attributes attributes, SecurityLevel securityLevel) {
    this.attributes = attributes;
    this.authority = same.authority;
    this.securityLevel = securityLevel;
    this.encodings = same.encodings;
    this.headers = same.headers;
  }

  /** Returns the same client with the attributes and security level of a ring. */
  public Peer on(Attributes ringAttributes, SecurityLevel ringSecurityLevel) {
    return new Peer(this, ringAttributes, ringSecurityLevel);
  }

  private static void add(List<byte[]> told, Metadata handshake, Metadata.Key<String> key) {
    final String value = handshake.get(key);
    if (value != null) {
      told.add(key.name().getBytes(StandardCharsets.US_ASCII));
      told.add(value.getBytes(StandardCharsets.US_ASCII));
    }
  }

  /** Attributes of the connection that opened the session. */
  public Attributes attributes() {
    return attributes;
  }

  /** The security level of that connection, or of the ring. */
  public SecurityLevel securityLevel() {
    return securityLevel;
  }

  String authority() {
    return authority;
  }

  /** True when the client can read messages that were compressed in this way. */
  boolean accepts(String encoding) {
    return encodings.contains(encoding);
  }

  /** Headers of a call without own headers. */
  Metadata newHeaders() {
    return headers.length == 0 ? new Metadata() : InternalMetadata.newMetadata(headers.clone());
  }

  /** Number of names and values at the front of every call's headers. */
  int headerParts() {
    return headers.length;
  }

  /** Copies these to the front of a call's own headers. */
  void copyHeaders(byte[][] parts) {
    System.arraycopy(headers, 0, parts, 0, headers.length);
  }
}
