package dev.ringfetch.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DomainAdmission;
import dev.ringfetch.memory.v1.AttachRequest;
import dev.ringfetch.memory.v1.AttachResponse;
import dev.ringfetch.memory.v1.FabricHint;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The clients that are admitted to an owner's memory, each for as long as its stream lasts.
 *
 * <p>Safe for use by many threads.
 */
final class Admissions implements AutoCloseable {
  /** Clients of one connection at a time: no connection takes the admissions of all. */
  static final int CONNECTION_LIMIT = 16;

  private static final int TOKEN_LENGTH = 16;
  private static final Context.Key<Caller> CALLER = Context.key("ringfetch-memory-caller");

  private final OwnerMemory memory;
  private final Predicate<String> plaintextFabrics;

  @GuardedBy("this")
  private final Map<ByteString, Admitted> admitted = new HashMap<>(); // by token

  @GuardedBy("this")
  private boolean closed;

  /** The connection of a call, if it has an address of its own, and whether it is encrypted. */
  private record Caller(@Nullable SocketAddress connection, boolean isEncrypted) {}

  private record Admitted(
      Caller caller,
      OwnerMemory.Shown shown,
      DomainAdmission admission,
      ServerCallStreamObserver<AttachResponse> stream) {}

  /**
   * Creates it without clients.
   *
   * @param plaintextFabrics whether a fabric may serve clients whose connection is encrypted.
   */
  Admissions(OwnerMemory memory, Predicate<String> plaintextFabrics) {
    this.memory = memory;
    this.plaintextFabrics = plaintextFabrics;
  }

  /**
   * Admits a client over the first fabric on which the two meet.
   *
   * @param stream whose end is the end of the admission; the caller calls {@link #release} then.
   * @throws StatusRuntimeException FAILED_PRECONDITION with the reason if there is none.
   */
  OwnerMemory.Shown admit(AttachRequest request, ServerCallStreamObserver<AttachResponse> stream) {
    if (request.getToken().size() != TOKEN_LENGTH) {
      throw Status.INVALID_ARGUMENT
          .withDescription("token has another length: " + request.getToken().size() + " != 16")
          .asRuntimeException();
    }
    final Caller caller = CALLER.get();
    String obstacle = "the owner shares no memory";
    for (final OwnerMemory.Shown shown : memory.domains()) {
      final String name = shown.fabric().name();
      final FabricHint hint = find(request.getFabricsList(), name);
      if (hint == null) {
        obstacle = "the client has not offered the memory's fabric: fabric=" + name;
      } else if (caller.isEncrypted && !plaintextFabrics.test(name)) {
        obstacle = "the server keeps encrypted calls off this fabric: fabric=" + name;
      } else {
        try {
          admit(request.getToken(), hint, caller, shown, stream);
          return shown;
        } catch (IOException e) {
          obstacle = e.getMessage();
        }
      }
    }
    throw refused(obstacle);
  }

  private static @Nullable FabricHint find(List<FabricHint> hints, String fabric) {
    return hints.stream().filter(hint -> hint.getFabric().equals(fabric)).findFirst().orElse(null);
  }

  private synchronized void admit(
      ByteString token,
      FabricHint hint,
      Caller caller,
      OwnerMemory.Shown shown,
      ServerCallStreamObserver<AttachResponse> stream)
      throws IOException {
    if (closed) {
      throw new IOException("the regions are closed");
    }
    if (admitted.containsKey(token)) {
      throw new IOException("the token is not new");
    }
    if (caller.connection != null && count(caller.connection) >= CONNECTION_LIMIT) {
      throw new IOException("the connection has all admissions: limit=" + CONNECTION_LIMIT);
    }
    final DomainAdmission admission =
        shown.domain().admit(hint.getHint().toByteArray(), token.toByteArray());
    admitted.put(token, new Admitted(caller, shown, admission, stream));
  }

  /** The connection of the present call; null if it is not known. */
  static @Nullable SocketAddress connection() {
    final Caller caller = CALLER.get();
    return caller == null ? null : caller.connection;
  }

  @GuardedBy("this")
  private long count(SocketAddress connection) {
    return admitted.values().stream()
        .filter(client -> connection.equals(client.caller.connection))
        .count();
  }

  private static StatusRuntimeException refused(String reason) {
    return Status.FAILED_PRECONDITION.withDescription(reason).asRuntimeException();
  }

  /** The domain to which a client is admitted. */
  synchronized OwnerMemory.Shown domain(ByteString token) {
    final Admitted client = admitted.get(token);
    if (client == null) {
      throw refused("the client is not attached");
    }
    return client.shown;
  }

  /** Ends the admission of a stream, if it has one. */
  void release(ByteString token, StreamObserver<AttachResponse> stream) {
    final Admitted client;
    synchronized (this) {
      client = admitted.get(token);
      if (client == null || client.stream != stream) {
        return;
      }
      admitted.remove(token);
    }
    client.admission.close();
  }

  /** Ends all admissions, and their streams. */
  @Override
  public void close() {
    final List<Admitted> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(admitted.values());
      admitted.clear();
    }
    for (final Admitted client : all) {
      client.admission.close();
      client.stream.onError(
          Status.UNAVAILABLE.withDescription("the owner has ended").asRuntimeException());
    }
  }

  /** Passes on what admissions need of a call's connection. */
  static final class CallerInterceptor implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      final SocketAddress address = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
      final Caller caller =
          new Caller(
              // Other addresses, as of Unix sockets, are those of many connections.
              address instanceof InetSocketAddress ? address : null,
              call.getSecurityLevel() != SecurityLevel.NONE
                  || call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION) != null);
      return Contexts.interceptCall(
          Context.current().withValue(CALLER, caller), call, headers, next);
    }
  }
}
