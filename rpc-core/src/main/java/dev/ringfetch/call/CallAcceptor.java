package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.NAMED;

import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.ServerStream;
import dev.ringfetch.session.unit.Unit;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallExecutorSupplier;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerStreamTracer;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * The acceptor of one session's requests: turns them into server calls. Thread-safe.
 *
 * <p>A request names its method by id, an index into the table that the session's answer carried,
 * or by its full name, which is looked up in the registry; that also has services that were added
 * later.
 */
public final class CallAcceptor implements ServerSession.Acceptor {
  private final ServerCallContext server;
  private final Context context;
  private final Peer peer;
  private volatile Attributes attributes;
  private final RequestQueue requests;

  /**
   * Creates the acceptor.
   *
   * @param context in which calls are made.
   * @param peer that opened the session.
   */
  public CallAcceptor(ServerCallContext server, Context context, Peer peer) {
    this.server = server;
    this.context = context;
    this.peer = peer;
    this.requests =
        server.executor() == DirectExecutor.INSTANCE ? null : new RequestQueue(server.executor());
  }

  @Override
  public void onRequest(ServerSession session, ServerStream stream) {
    if (attributes == null) { // the first request of the one session
      attributes = server.attributes(peer.attributes(), session);
    }
    if (stream.flow() == null) {
      final int flags = stream.inboundFlags();
      final int id = stream.inboundCode();
      final ServerMethodDefinition<?, ?> method = method(flags, id);
      final TaskRecord record = record(flags, id);
      if (!beginBare(session, stream, method, record)) {
        accept(session, stream, method, record);
      }
    } else { // the next unit of this call may have come in
      final Unit first = stream.flow().peek();
      accept(session, stream, method(first.flags(), first.code()), null);
    }
  }

  /** Serves a request without an object of its own, if its method has a handler on bytes. */
  private boolean beginBare(
      ServerSession session,
      ServerStream stream,
      ServerMethodDefinition<?, ?> method,
      TaskRecord record) {
    return method != null
        && method.getServerCallHandler() instanceof BareServerCall.Method bare
        && server.executorSupplier() == null
        && server.tracerFactories().isEmpty()
        && BareServerCall.begin(this, session, stream, bare, record, requests == null);
  }

  private ServerMethodDefinition<?, ?> method(int flags, int id) {
    final List<ServerMethodDefinition<?, ?>> methods = server.methods();
    return (flags & NAMED) == 0 && id < methods.size() ? methods.get(id) : null;
  }

  private TaskRecord record(int flags, int id) {
    final List<TaskRecord> records = server.records();
    return (flags & NAMED) == 0 && id < records.size() ? records.get(id) : null;
  }

  private <ReqT, RespT> void accept(
      ServerSession session,
      ServerStream stream,
      ServerMethodDefinition<ReqT, RespT> method,
      TaskRecord record) {
    final boolean unary =
        stream.flow() == null
            && server.tracerFactories().isEmpty()
            && (method == null
                || method.getMethodDescriptor().getType() == MethodDescriptor.MethodType.UNARY);
    if (unary) {
      new UnaryServerCall<>(this, session, stream, method, record).begin();
    } else {
      new StreamingServerCall<>(this, session, stream, method).begin();
    }
  }

  /** A method by name, or null. */
  ServerMethodDefinition<?, ?> lookup(String name, String authority) {
    return server.registry().lookupMethod(name, authority);
  }

  /** Runs a call's task for the first time. Never throws because an executor does. */
  void execute(ServerCallTask<?, ?> call) {
    if (requests == null) {
      server.executor().execute(call);
    } else if (!call.offer()) {
      requests.execute(call);
    }
  }

  /** As {@link #execute}, for a call that the poller was to run. */
  void handOver(ServerCallTask<?, ?> call) {
    requests.execute(call);
  }

  /** Called when a call's task runs for the first time. */
  void begun() {
    if (requests != null) {
      requests.begun();
    }
  }

  Executor executor() {
    return server.executor();
  }

  /** Returns the executor that the server has chosen for this call, or null. */
  Executor executorFor(ServerCall<?, ?> call, Metadata headers) {
    final ServerCallExecutorSupplier supplier = server.executorSupplier();
    return supplier == null ? null : supplier.getExecutor(call, headers);
  }

  Context context() {
    return context;
  }

  /** The attributes of the calls: their peer and transport. */
  Attributes attributes() {
    return attributes;
  }

  Peer peer() {
    return peer;
  }

  Codecs codecs() {
    return server.codecs();
  }

  List<ServerStreamTracer.Factory> tracerFactories() {
    return server.tracerFactories();
  }

  ServerLimits limits() {
    return server.limits();
  }
}
