package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.NAMED;

import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.ServerStream;
import dev.ringfetch.session.unit.Unit;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallExecutorSupplier;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerStreamTracer;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * Turns the requests of one session into server calls. Thread-safe.
 *
 * <p>A request names its method by id, an index into the table that the session's answer carried,
 * or by full name: that one is looked up in the registry, where also services are that came later.
 */
public final class CallAcceptor implements ServerSession.Acceptor {
  private final List<ServerMethodDefinition<?, ?>> methods;
  private final List<HandlerRecord> records;
  private final HandlerRegistry registry;
  private final Executor executor;
  private final ServerCallExecutorSupplier executorSupplier;
  private final Context context;
  private final Peer peer;
  private volatile Attributes attributes;
  private final Codecs codecs;
  private final ServerLimits limits;
  private final List<ServerStreamTracer.Factory> tracerFactories;
  private final Turns turns;

  /**
   * Creates the acceptor.
   *
   * @param methods the table: the index is the id.
   * @param records one for each of these, shared by the server's sessions; none when no call may
   *     run in the poller's thread.
   * @param registry for methods that are not in the table.
   * @param executor that runs the calls; {@link DirectExecutor} for the poller's thread.
   * @param executorSupplier chooses another executor for a call, or is null.
   * @param context in which calls are made.
   * @param peer who opened the session.
   * @param codecs of the server.
   * @param tracerFactories of the server; where there are any, no call takes the short way.
   */
  public CallAcceptor(
      List<ServerMethodDefinition<?, ?>> methods,
      List<HandlerRecord> records,
      HandlerRegistry registry,
      Executor executor,
      ServerCallExecutorSupplier executorSupplier,
      Context context,
      Peer peer,
      Codecs codecs,
      ServerLimits limits,
      List<ServerStreamTracer.Factory> tracerFactories) {
    this.methods = List.copyOf(methods);
    this.records = List.copyOf(records);
    this.registry = registry;
    this.executor = executor;
    this.executorSupplier = executorSupplier;
    this.context = context;
    this.peer = peer;
    this.codecs = codecs;
    this.limits = limits;
    this.tracerFactories = List.copyOf(tracerFactories);
    this.turns = executor == DirectExecutor.INSTANCE ? null : new Turns(executor);
  }

  @Override
  public void onRequest(ServerSession session, ServerStream stream) {
    if (attributes == null) { // the first request of the one session
      attributes =
          peer.attributes().toBuilder()
              .set(BufferAllocator.ATTRIBUTE, new BufferAllocator(() -> session))
              .build();
    }
    if (stream.flow() == null) {
      final int flags = stream.inboundFlags();
      final int id = stream.inboundCode();
      accept(session, stream, method(flags, id), record(flags, id));
    } else { // of which the next unit may have come in
      final Unit first = stream.flow().peek();
      accept(session, stream, method(first.flags(), first.code()), null);
    }
  }

  private ServerMethodDefinition<?, ?> method(int flags, int id) {
    return (flags & NAMED) == 0 && id < methods.size() ? methods.get(id) : null;
  }

  private HandlerRecord record(int flags, int id) {
    return (flags & NAMED) == 0 && id < records.size() ? records.get(id) : null;
  }

  private <ReqT, RespT> void accept(
      ServerSession session,
      ServerStream stream,
      ServerMethodDefinition<ReqT, RespT> method,
      HandlerRecord record) {
    final boolean unary =
        stream.flow() == null
            && tracerFactories.isEmpty()
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
    return registry.lookupMethod(name, authority);
  }

  /** Runs a call's task for the first time. Never throws because an executor does. */
  void execute(ServerCallTask<?, ?> call) {
    if (turns == null) {
      executor.execute(call);
    } else if (!call.offer()) {
      turns.execute(call);
    }
  }

  /** As {@link #execute}, of a call that the poller was to run. */
  void handOver(ServerCallTask<?, ?> call) {
    turns.execute(call);
  }

  /** A call's task runs for the first time. */
  void begun() {
    if (turns != null) {
      turns.begun();
    }
  }

  Executor executor() {
    return executor;
  }

  /** The executor of a call's own, or null. */
  Executor executorFor(ServerCall<?, ?> call, Metadata headers) {
    return executorSupplier == null ? null : executorSupplier.getExecutor(call, headers);
  }

  Context context() {
    return context;
  }

  /** What calls tell of their peer and of what they are on. */
  Attributes attributes() {
    return attributes;
  }

  Peer peer() {
    return peer;
  }

  Codecs codecs() {
    return codecs;
  }

  List<ServerStreamTracer.Factory> tracerFactories() {
    return tracerFactories;
  }

  ServerLimits limits() {
    return limits;
  }
}
