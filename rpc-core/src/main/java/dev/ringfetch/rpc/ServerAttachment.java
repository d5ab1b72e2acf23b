package dev.ringfetch.rpc;

import io.grpc.BinaryLog;
import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.InternalServer;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The rings of servers that another builder builds. The first client that asks for a ring makes the
 * server open its fabrics; the server's end closes them.
 *
 * <p>A server has no method that returns its interceptors, but it hands a binary log the handler of
 * each call with all of them around it. Those around the session service's own handler serve calls
 * on rings: that handler is a {@link Switch}, which passes a call on to the handler of the call's
 * method. Thread-safe.
 */
final class ServerAttachment extends BinaryLog {
  private static final Context.Key<Stream> STREAM = Context.key("ringfetch-stream");
  private static final ServerStreamTracer NONE = new ServerStreamTracer() {};

  private final Factory factory;
  private final Switch<Object, Object> innermost = new Switch<>();
  private final Map<Server, AttachedServer> servers = new ConcurrentHashMap<>();

  /** Creates the attachment of a builder's servers. */
  ServerAttachment(Factory factory) {
    this.factory = factory;
  }

  /**
   * Prepares a builder. If this throws, its servers have no rings.
   *
   * @throws UnsupportedOperationException from a builder that takes no binary log, or no tracers.
   */
  void prepare(ServerBuilder<?> builder) {
    builder.setBinaryLog(this);
    builder.addStreamTracerFactory(
        new ServerStreamTracer.Factory() {
          @Override
          public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
            return method.equals(SessionService.OPEN.getFullMethodName()) ? new Stream() : NONE;
          }
        });
    builder.addService(definition());
  }

  private ServerServiceDefinition definition() {
    return ServerServiceDefinition.builder(SessionService.NAME)
        .addMethod(cast(SessionService.OPEN, innermost))
        .build();
  }

  @SuppressWarnings("unchecked") // the switch only passes calls on
  private static <ReqT, RespT> ServerMethodDefinition<ReqT, RespT> cast(
      MethodDescriptor<ReqT, RespT> method, ServerCallHandler<Object, Object> handler) {
    return ServerMethodDefinition.create(method, (ServerCallHandler<ReqT, RespT>) handler);
  }

  /** Called for each call of a server: serves those that open sessions, and counts the others. */
  @Override
  public <ReqT, RespT> ServerMethodDefinition<?, ?> wrapMethodDefinition(
      ServerMethodDefinition<ReqT, RespT> method) {
    final Server server = InternalServer.SERVER_CONTEXT_KEY.get();
    if (method.getMethodDescriptor() != SessionService.OPEN) {
      final AttachedServer rings = servers.get(server);
      if (rings != null) {
        rings.countGrpcCall();
      }
      return method;
    }
    final AttachedServer rings =
        servers.computeIfAbsent(server, started -> begin(started, method.getServerCallHandler()));
    STREAM.get().rings = rings;
    return rings.open();
  }

  @Override
  public Channel wrapChannel(Channel channel) {
    return channel; // of channels alone
  }

  private AttachedServer begin(Server server, ServerCallHandler<?, ?> intercepted) {
    final AttachedServer begun =
        factory.create(server, methods(server, intercepted), () -> servers.remove(server));
    begun.watch();
    return begun;
  }

  /** Returns the server's methods, with its interceptors around the handlers. */
  private List<ServerMethodDefinition<?, ?>> methods(
      Server server, ServerCallHandler<?, ?> intercepted) {
    final List<ServerMethodDefinition<?, ?>> methods = new ArrayList<>();
    for (final ServerServiceDefinition service : server.getImmutableServices()) {
      if (!service.getServiceDescriptor().getName().equals(SessionService.NAME)) {
        methods.addAll(service.getMethods());
      }
    }
    if (intercepted == innermost) {
      return methods;
    }
    methods.forEach(innermost::add);
    return methods.stream().<ServerMethodDefinition<?, ?>>map(m -> around(m, intercepted)).toList();
  }

  @SuppressWarnings("unchecked") // interceptors are for methods of all types
  private static <ReqT, RespT> ServerMethodDefinition<ReqT, RespT> around(
      ServerMethodDefinition<ReqT, RespT> method, ServerCallHandler<?, ?> intercepted) {
    return method.withServerCallHandler((ServerCallHandler<ReqT, RespT>) intercepted);
  }

  @Override
  public void close() {}

  /** Creates the rings of a server that has started. */
  interface Factory {
    /**
     * Opens the fabrics.
     *
     * @param methods for calls on rings.
     * @param onEnd called when the server has ended, and its rings have.
     */
    AttachedServer create(
        Server server, List<ServerMethodDefinition<?, ?>> methods, Runnable onEnd);
  }

  /** The tracer of a session's stream: tells the rings of its server of a {@code shutdownNow}. */
  private static final class Stream extends ServerStreamTracer {
    private volatile AttachedServer rings;

    @Override
    public Context filterContext(Context context) {
      return context.withValue(STREAM, this);
    }

    @Override
    public void streamClosed(Status status) {
      final AttachedServer present = rings;
      if (present != null && RingServer.SHUTDOWN_NOW.equals(status.getDescription())) {
        present.onShutdownNow();
      }
    }
  }

  /** The innermost handler of a chain of interceptors: leads to that of the call's method. */
  private static final class Switch<ReqT, RespT> implements ServerCallHandler<ReqT, RespT> {
    private final Map<String, ServerCallHandler<?, ?>> handlers = new ConcurrentHashMap<>();

    void add(ServerMethodDefinition<?, ?> method) {
      handlers.put(method.getMethodDescriptor().getFullMethodName(), method.getServerCallHandler());
    }

    @Override
    @SuppressWarnings("unchecked") // the handler is that of the call's method
    public ServerCall.Listener<ReqT> startCall(ServerCall<ReqT, RespT> call, Metadata headers) {
      final String name = call.getMethodDescriptor().getFullMethodName();
      return ((ServerCallHandler<ReqT, RespT>) Objects.requireNonNull(handlers.get(name), name))
          .startCall(call, headers);
    }
  }
}
