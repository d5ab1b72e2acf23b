package dev.ringfetch.call;

import dev.ringfetch.session.Session;
import dev.ringfetch.session.poller.ProcessorTime;
import io.grpc.Attributes;
import io.grpc.HandlerRegistry;
import io.grpc.ServerCallExecutorSupplier;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerStreamTracer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/**
 * The settings that all ring calls of a server share: its methods, executors, limits and tracers.
 * Set up by one thread before the first session, and unchanged from then on.
 */
public final class ServerCallContext {
  private final List<ServerMethodDefinition<?, ?>> methods;
  private final HandlerRegistry registry;
  private final Executor executor;
  private final List<TaskRecord> records = new ArrayList<>();
  private ServerCallExecutorSupplier executorSupplier;
  private Codecs codecs = Codecs.DEFAULT;
  private ServerLimits limits = ServerLimits.DEFAULT;
  private List<ServerStreamTracer.Factory> tracerFactories = List.of();
  private BiFunction<Attributes, Session, Attributes> attributes =
      (connection, session) -> connection;

  /**
   * Creates a context.
   *
   * @param methods the table: the index is the id.
   * @param registry for methods that are not among these.
   * @param executor that runs the calls; {@link DirectExecutor} for the poller's thread.
   */
  public ServerCallContext(
      List<ServerMethodDefinition<?, ?>> methods, HandlerRegistry registry, Executor executor) {
    this.methods = List.copyOf(methods);
    this.registry = registry;
    this.executor = executor;
  }

  /** The table of methods: the index is the id. */
  public List<ServerMethodDefinition<?, ?>> methods() {
    return methods;
  }

  /** Allows calls to run on the poller's thread, with a record of each method's earlier calls. */
  public ServerCallContext inlineHandlers(Supplier<TaskRecord> newRecord) {
    ProcessorTime.load();
    methods.forEach(method -> records.add(newRecord.get()));
    return this;
  }

  /** One record for each of the methods; none when no call may run on the poller's thread. */
  List<TaskRecord> records() {
    return records;
  }

  HandlerRegistry registry() {
    return registry;
  }

  Executor executor() {
    return executor;
  }

  /** Sets the supplier of executors for single calls, or null for none. */
  public ServerCallContext executorSupplier(ServerCallExecutorSupplier supplier) {
    this.executorSupplier = supplier;
    return this;
  }

  /** The supplier of executors for single calls, or null. */
  ServerCallExecutorSupplier executorSupplier() {
    return executorSupplier;
  }

  /** Sets the codecs of the server; gRPC's unless set. */
  public ServerCallContext codecs(Codecs codecs) {
    this.codecs = codecs;
    return this;
  }

  Codecs codecs() {
    return codecs;
  }

  /** Sets the limits; gRPC's unless set. */
  public ServerCallContext limits(ServerLimits limits) {
    this.limits = limits;
    return this;
  }

  ServerLimits limits() {
    return limits;
  }

  /** Sets the server's factories of tracers; where there are any, no call takes the short path. */
  public ServerCallContext tracerFactories(List<ServerStreamTracer.Factory> factories) {
    this.tracerFactories = List.copyOf(factories);
    return this;
  }

  List<ServerStreamTracer.Factory> tracerFactories() {
    return tracerFactories;
  }

  /**
   * Sets the function from the attributes of a connection to those of the calls on a session that
   * was opened over it. Called once a session. Unless set, they are the same.
   */
  public ServerCallContext attributes(BiFunction<Attributes, Session, Attributes> attributes) {
    this.attributes = attributes;
    return this;
  }

  Attributes attributes(Attributes connection, Session session) {
    return attributes.apply(connection, session);
  }
}
