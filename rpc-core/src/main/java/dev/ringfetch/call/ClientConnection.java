package dev.ringfetch.call;

import dev.ringfetch.session.ClientSession;
import io.grpc.Attributes;
import io.grpc.MethodDescriptor;
import io.grpc.SecurityLevel;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The connection of calls to a server: a session and the settings that all calls on it share.
 * Immutable.
 */
public final class ClientConnection {
  private static final int MAX_METHOD_ID = 0xFFFF;

  private final ClientSession session;
  private final String fabric;
  private final Map<String, Integer> methodIds = new HashMap<>();
  private final Attributes attributes;
  private final SecurityLevel securityLevel;
  private final Codecs codecs;

  /**
   * Creates the connection.
   *
   * @param fabric name of the fabric.
   * @param methods the server's table: full names, the index is the id.
   * @param attributes of its calls.
   * @param securityLevel how well the calls are protected.
   * @param codecs of the channel.
   */
  public ClientConnection(
      ClientSession session,
      String fabric,
      List<String> methods,
      Attributes attributes,
      SecurityLevel securityLevel,
      Codecs codecs) {
    this.session = session;
    this.fabric = fabric;
    this.attributes = attributes;
    this.securityLevel = securityLevel;
    this.codecs = codecs;
    final int ids = Math.min(methods.size(), MAX_METHOD_ID + 1);
    for (int id = 0; id < ids; id++) {
      methodIds.put(methods.get(id), id);
    }
  }

  /** The session. */
  public ClientSession session() {
    return session;
  }

  /** Name of the fabric. */
  public String fabric() {
    return fabric;
  }

  /** The value of {@code ClientCall.getAttributes}. */
  public Attributes attributes() {
    return attributes;
  }

  /** The security level that credentials are told. */
  public SecurityLevel securityLevel() {
    return securityLevel;
  }

  Codecs codecs() {
    return codecs;
  }

  /**
   * True when the server's table has a method. A method that it lacks may be served by another
   * server, behind a proxy or a load balancer on the gRPC connection.
   */
  public boolean names(MethodDescriptor<?, ?> method) {
    return methodIds.containsKey(method.getFullMethodName());
  }

  /**
   * Returns the id in the server's table of a method that this {@linkplain #names names}.
   *
   * @throws IllegalArgumentException when it names none of that name.
   */
  int methodId(MethodDescriptor<?, ?> method) {
    final Integer id = methodIds.get(method.getFullMethodName());
    if (id == null) {
      throw new IllegalArgumentException(
          "not in the server's table: method=" + method.getFullMethodName());
    }
    return id;
  }

  /** True when the session takes new calls. */
  public boolean isOpen() {
    return !session.hasEnded() && !session.isDraining();
  }
}
