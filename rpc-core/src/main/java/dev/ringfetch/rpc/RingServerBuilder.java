package dev.ringfetch.rpc;

import dev.ringfetch.call.Codecs;
import dev.ringfetch.call.DirectExecutor;
import dev.ringfetch.call.ServerCallContext;
import dev.ringfetch.call.ServerLimits;
import dev.ringfetch.call.TaskRecord;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.Obstacle;
import dev.ringfetch.session.SessionContext;
import io.grpc.BindableService;
import io.grpc.CompressorRegistry;
import io.grpc.DecompressorRegistry;
import io.grpc.ForwardingServerBuilder;
import io.grpc.Grpc;
import io.grpc.HandlerRegistry;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCallExecutorSupplier;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerStreamTracer;
import io.grpc.ServerTransportFilter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Builder of servers that serve gRPC on a port and, beside it, rings to clients on the same host.
 *
 * <p>It is a {@link ServerBuilder} like any other: settings that it does not override go to the
 * builder of the gRPC server underneath, which grpc-api's registry supplies (add grpc-netty or
 * grpc-netty-shaded to the application).
 *
 * <pre>{@code
 * Server server =
 *     RingServerBuilder.forPort(8080)
 *         .addService(new GreeterService())
 *         .maxSessions(64)
 *         .build()
 *         .start();
 * }</pre>
 */
public final class RingServerBuilder extends ForwardingServerBuilder<RingServerBuilder> {
  /** Sessions that are open at once, unless set. */
  public static final int MAX_SESSIONS_DEFAULT = 1024;

  private final ServerBuilder<?> grpc;
  private final GlobalServerOptions global;
  private final List<ServerServiceDefinition> services = new ArrayList<>();
  private final List<ServerInterceptor> interceptors = new ArrayList<>();
  private final FabricContext fabricContext = new FabricContext();
  private final SessionContext sessionContext =
      new SessionContext()
          .bulkQuota(BulkBudget.PROCESS.quota())
          .messageQuota(MessageBudget.PROCESS.quota())
          .acrossProxies(Boolean.getBoolean(Endpoints.PROPERTY));

  private final List<ServerStreamTracer.Factory> tracerFactories = new ArrayList<>();
  private final List<ServerTransportFilter> transportFilters = new ArrayList<>();

  private CompressorRegistry compressors = CompressorRegistry.getDefaultInstance();
  private DecompressorRegistry decompressors = DecompressorRegistry.getDefaultInstance();
  private HandlerRegistry fallback = new EmptyRegistry();
  private Executor executor = DefaultExecutor.INSTANCE;
  private boolean inlineHandlers = true;
  private int inlineAfter = TaskRecord.RUNS_DEFAULT;
  private long inlineNs = TaskRecord.SHORT_NS_DEFAULT;
  private FabricSelection fabrics = FabricSelection.unlessSet();
  private PlaintextFabrics plaintext = PlaintextFabrics.unlessSet(PlaintextFabrics.SERVER);
  private ServerCallExecutorSupplier executorSupplier;
  private int pollers = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
  private int maxSessions = MAX_SESSIONS_DEFAULT;
  private ConnectionRules rules = ConnectionRules.NONE;

  // State of the servers that were built before.
  private final List<CallCounter> counters = new ArrayList<>();
  private int servicesHandedOver;
  private int interceptorsHandedOver;
  private int filtersHandedOver;

  private RingServerBuilder(ServerBuilder<?> grpc) {
    GrpcVersion.check(); // before what needs it
    this.grpc = grpc;
    this.global = GlobalServerOptions.apply(this);
    this.tracerFactories.addAll(global.tracerFactories());
  }

  /** A server on a port, 0 for any that is free. */
  public static RingServerBuilder forPort(int port) {
    return over(GrpcBuilders.forPort(port));
  }

  /** A server with credentials, as {@link Grpc#newServerBuilderForPort} takes them. */
  public static RingServerBuilder newServerBuilderForPort(int port, ServerCredentials credentials) {
    return over(GrpcBuilders.newServerBuilder(port, credentials));
  }

  /**
   * A server over a gRPC server that another builder creates.
   *
   * @param grpc builder of the gRPC server, without services and interceptors; this builder owns it
   *     from here on.
   */
  public static RingServerBuilder over(ServerBuilder<?> grpc) {
    return new RingServerBuilder(grpc);
  }

  @Override
  protected ServerBuilder<?> delegate() {
    return grpc;
  }

  /**
   * Allows rings although a proxy stands between client and server; see {@link
   * RingChannelBuilder#acrossProxies}. One side is enough.
   */
  public RingServerBuilder acrossProxies(boolean across) {
    sessionContext.acrossProxies(across);
    return this;
  }

  /** Sets the directory of the shared-memory fabric: {@link RingChannelBuilder#shmDirectory}. */
  public RingServerBuilder shmDirectory(Path directory) {
    fabricContext.directory(directory);
    return this;
  }

  /**
   * Sets the lengths of a session's rings in bytes, for clients that ask for none that can be
   * granted. Default 256 KiB each.
   *
   * @throws IllegalArgumentException if a length is not a power of two from 128 bytes to 16 MiB.
   */
  public RingServerBuilder ringLengths(int requests, int responses) {
    sessionContext.requestRingLength(requests).responseRingLength(responses);
    return this;
  }

  /**
   * Sets the memory beside the rings, out of which clients read long responses: {@link
   * RingChannelBuilder#bulkMemory}.
   */
  public RingServerBuilder bulkMemory(int threshold, int length) {
    sessionContext.bulkThreshold(threshold).bulkLength(length);
    return this;
  }

  /** Sets the limit of all sessions together: {@link RingChannelBuilder#bulkBudget}. */
  public RingServerBuilder bulkBudget(BulkBudget budget) {
    sessionContext.bulkQuota(budget.quota());
    return this;
  }

  /**
   * Sets the limit, in bytes, of the requests and streams' messages that wait in memory for their
   * handlers, over all servers with this budget. Default: {@link MessageBudget#PROCESS}, of a
   * quarter of the heap's maximum. Beyond it, further messages wait in their rings.
   */
  public RingServerBuilder messageBudget(MessageBudget budget) {
    sessionContext.messageQuota(budget.quota());
    return this;
  }

  /** Sets the length of the longest frame: {@link RingChannelBuilder#maxFrameLength}. */
  public RingServerBuilder maxFrameLength(int bytes) {
    sessionContext.maxFrameLength(bytes);
    return this;
  }

  /**
   * Sets the number of clients in use at the same time over a fabric between hosts beyond which
   * they take turns: with too many at a time, the network card cannot keep the state of their
   * connections. Default 128; 0: never.
   *
   * @throws IllegalArgumentException if it is negative.
   */
  public RingServerBuilder turnThreshold(int clients) {
    sessionContext.turnThreshold(clients);
    return this;
  }

  /**
   * Sets the number of calls that one client can have under way on its ring; further calls of that
   * client go over gRPC. Default 16,384.
   *
   * @throws IllegalArgumentException if it is not from 1 to 65,535.
   */
  public RingServerBuilder maxStreams(int streams) {
    sessionContext.maxStreams(streams);
    return this;
  }

  /**
   * Sets the fabrics that are served. Default: the system property {@code ringfetch.fabrics}, and
   * without it all on the class path. Of several that a client can use, its own order decides. A
   * name without a provider on the class path is skipped. No name: the server serves gRPC alone.
   *
   * @param names such as {@link Transport#SHM} and {@link Transport#VERBS}.
   * @throws IllegalArgumentException if a name is blank, or given twice.
   */
  public RingServerBuilder fabrics(String... names) {
    this.fabrics = fabrics.only(names);
    return this;
  }

  /** Sets the providers, instead of those on the class path. */
  RingServerBuilder providers(List<FabricProvider> providers) {
    this.fabrics = fabrics.of(providers);
    return this;
  }

  /**
   * Sets the fabrics that may carry a client's calls although its connection is encrypted: what a
   * ring carries is plaintext. The client must allow the fabric, too. Default: the system property
   * {@code ringfetch.plaintext.fabrics}, and without it {@code shm}.
   */
  public RingServerBuilder plaintextFabrics(String... names) {
    this.plaintext = PlaintextFabrics.of(PlaintextFabrics.SERVER, names);
    return this;
  }

  /** True if this builder lets the fabric carry calls of an encrypted connection. */
  public boolean allowsPlaintext(String fabric) {
    return plaintext.names().contains(fabric);
  }

  /**
   * Sets the longest time that a poller polls before it sleeps: {@link
   * RingChannelBuilder#spinTime}.
   */
  public RingServerBuilder spinTime(Duration time) {
    sessionContext.spinNs(time.toNanos());
    return this;
  }

  /**
   * Sets the number of polling threads; default half the cores, and at least 1.
   *
   * @throws IllegalArgumentException if it is not positive.
   */
  public RingServerBuilder pollers(int threads) {
    if (threads < 1) {
      throw new IllegalArgumentException("threads=" + threads);
    }
    this.pollers = threads;
    return this;
  }

  /**
   * Sets the number of clients that have a ring at the same time; further clients stay on gRPC.
   * Default {@value #MAX_SESSIONS_DEFAULT}.
   *
   * @throws IllegalArgumentException if it is negative.
   */
  public RingServerBuilder maxSessions(int sessions) {
    if (sessions < 0) {
      throw new IllegalArgumentException("sessions=" + sessions);
    }
    this.maxSessions = sessions;
    return this;
  }

  @Override
  public RingServerBuilder addService(ServerServiceDefinition service) {
    services.add(service);
    return this;
  }

  @Override
  public RingServerBuilder addService(BindableService service) {
    return addService(service.bindService());
  }

  /** The services that were added so far, as they were added. */
  public List<ServerServiceDefinition> services() {
    return List.copyOf(services);
  }

  /** Adds an interceptor to all services; the last added runs first. */
  @Override
  public RingServerBuilder intercept(ServerInterceptor interceptor) {
    interceptors.add(interceptor);
    return this;
  }

  /**
   * True if the calls of all services pass interceptors, global ones included. A service may have
   * been wrapped in others before it was added.
   */
  public boolean hasInterceptors() {
    return !interceptors.isEmpty() || !global.interceptors().isEmpty();
  }

  @Override
  public RingServerBuilder addStreamTracerFactory(ServerStreamTracer.Factory factory) {
    grpc.addStreamTracerFactory(new SessionTracers(factory));
    tracerFactories.add(factory);
    return this;
  }

  /**
   * Adds a filter that sees every connection. Calls on a ring have the attributes that the filters
   * gave the connection over which the ring was opened; for the filters, a connection terminates
   * only when its rings have, too.
   */
  @Override
  public RingServerBuilder addTransportFilter(ServerTransportFilter filter) {
    transportFilters.add(Objects.requireNonNull(filter, "filter"));
    return this;
  }

  @Override
  public RingServerBuilder fallbackHandlerRegistry(HandlerRegistry registry) {
    this.fallback = registry == null ? new EmptyRegistry() : registry;
    return this;
  }

  /**
   * Sets the executor of handlers. Default, and for null: a cached pool of daemon threads that all
   * channels and servers of the process share.
   */
  @Override
  public RingServerBuilder executor(Executor executor) {
    grpc.executor(executor);
    this.executor = executor == null ? DefaultExecutor.INSTANCE : executor;
    return this;
  }

  @Override
  public RingServerBuilder callExecutor(ServerCallExecutorSupplier supplier) {
    grpc.callExecutor(supplier == null ? null : new SessionExecutors(supplier));
    this.executorSupplier = supplier;
    return this;
  }

  /**
   * Lets the polling threads run handlers of unary calls that have proven short, where neither an
   * executor nor a supplier of executors is set; default true. A handler that takes long all the
   * same delays other calls by some tenths of a millisecond: then another thread continues to poll.
   * See docs/adr/0013-short-handlers.md.
   */
  public RingServerBuilder inlineHandlers(boolean inline) {
    this.inlineHandlers = inline;
    return this;
  }

  /**
   * For tests: after so many runs of at most so many nanoseconds, and from so many calls in a
   * millisecond. See {@link #inlineHandlers(boolean)}.
   */
  RingServerBuilder inlineHandlers(int afterRuns, long shortNs, int perMs) {
    this.inlineAfter = afterRuns;
    this.inlineNs = shortNs;
    sessionContext.inlinePerMs(perMs);
    return this;
  }

  /** Handlers run in the polling threads: for those that never block. */
  @Override
  public RingServerBuilder directExecutor() {
    grpc.directExecutor();
    this.executor = DirectExecutor.INSTANCE;
    return this;
  }

  @Override
  public RingServerBuilder compressorRegistry(CompressorRegistry registry) {
    grpc.compressorRegistry(registry);
    this.compressors = registry == null ? CompressorRegistry.getDefaultInstance() : registry;
    return this;
  }

  @Override
  public RingServerBuilder decompressorRegistry(DecompressorRegistry registry) {
    grpc.decompressorRegistry(registry);
    this.decompressors = registry == null ? DecompressorRegistry.getDefaultInstance() : registry;
    return this;
  }

  /**
   * Sets the longest request in bytes, on rings and over gRPC; default 4 MiB.
   *
   * @throws IllegalArgumentException if it is negative.
   */
  @Override
  public RingServerBuilder maxInboundMessageSize(int bytes) {
    grpc.maxInboundMessageSize(bytes);
    sessionContext.maxInboundLength(bytes);
    return this;
  }

  /**
   * Sets the longest metadata of a request in bytes, on rings and over gRPC; default 8 KiB.
   *
   * @throws IllegalArgumentException if it is not positive.
   */
  @Override
  public RingServerBuilder maxInboundMetadataSize(int bytes) {
    grpc.maxInboundMetadataSize(bytes);
    sessionContext.maxMetadataLength(bytes);
    return this;
  }

  /**
   * As in gRPC; a session that has been without a call for that time ends, too. Its connection is
   * closed when it has been without a stream for the same time after that.
   */
  @Override
  public RingServerBuilder maxConnectionIdle(long time, TimeUnit unit) {
    grpc.maxConnectionIdle(time, unit);
    rules = rules.withIdle(unit.toNanos(time));
    return this;
  }

  /** Sets the rules for sessions alone, which may be shorter than gRPC's; for tests. */
  RingServerBuilder rules(ConnectionRules rules) {
    this.rules = rules;
    return this;
  }

  /** As in gRPC: a session takes no new call after that time and a tenth. */
  @Override
  public RingServerBuilder maxConnectionAge(long time, TimeUnit unit) {
    grpc.maxConnectionAge(time, unit);
    rules = rules.withAge(unit.toNanos(time));
    return this;
  }

  /** As in gRPC: calls on a session that has reached its maximum age end after that time. */
  @Override
  public RingServerBuilder maxConnectionAgeGrace(long time, TimeUnit unit) {
    grpc.maxConnectionAgeGrace(time, unit);
    rules = rules.withGrace(unit.toNanos(time));
    return this;
  }

  /**
   * Builds a server with the present settings; later settings apply to the next one. As with gRPC's
   * builders, a second server has the same handlers as the first.
   */
  @Override
  public RingServer build() {
    final List<ServerInterceptor> onRings = new ArrayList<>(global.interceptors());
    onRings.addAll(interceptors); // the last one runs first
    final List<ServerMethodDefinition<?, ?>> intercepted = new ArrayList<>();
    for (final ServerServiceDefinition service : services) {
      intercepted.addAll(ServerInterceptors.intercept(service, onRings).getMethods());
    }
    final SessionContext context = sessionContext.copy();
    final SessionEndpoint endpoint =
        endpoint(intercepted, new InterceptedRegistry(fallback, onRings), context);
    final CallCounter grpcCalls = handOver();
    grpc.fallbackHandlerRegistry(new SessionRegistry(endpoint.definition(), fallback));
    final Server beneath = grpc.build();
    if (!counters.isEmpty()) { // the second server has the first one's, too
      counters.forEach(CallCounter::countOnlyOwn);
      grpcCalls.countOnlyOwn();
    }
    counters.add(grpcCalls);
    grpcCalls.server(beneath);
    return new RingServer(
        beneath, endpoint, fabrics, fabricContext.copy(), context, pollers, grpcCalls.calls());
  }

  private SessionEndpoint endpoint(
      List<ServerMethodDefinition<?, ?>> methods,
      HandlerRegistry registry,
      SessionContext context) {
    final ServerCallContext calls =
        new ServerCallContext(methods, registry, executor)
            .executorSupplier(executorSupplier)
            .codecs(new Codecs(compressors, decompressors))
            .limits(new ServerLimits(context.maxInboundLength(), context.maxMetadataLength()))
            .tracerFactories(tracerFactories)
            .attributes(BufferAllocator::attributes);
    if (inlineHandlers && executor == DefaultExecutor.INSTANCE && executorSupplier == null) {
      final int runs = inlineAfter;
      final long shortNs = inlineNs;
      calls.inlineHandlers(() -> new TaskRecord(context.clock(), runs, shortNs));
    }
    final SessionEndpoint endpoint = new SessionEndpoint(calls, context, plaintext, maxSessions);
    endpoint.rules(rules);
    return endpoint;
  }

  /**
   * Gives rings to the servers that the builder which was given to {@link #over} builds, for
   * frameworks that build their servers themselves: they keep their {@link Server}, its services,
   * interceptors and filters, whether they are added before or after, and its lifecycle. Executor,
   * limits, codecs and tracers of that builder are not known here: set them on this one, which
   * passes them on. This adds the session service to that builder and sets its binary log; a later
   * change of that log keeps all calls on gRPC. This builder must not be used afterwards. See
   * docs/frameworks.md.
   */
  @Experimental
  public void attach() {
    services.forEach(grpc::addService);
    interceptors.forEach(grpc::intercept);
    if (!transportFilters.isEmpty()) {
      grpc.addTransportFilter(new TransportFilters(transportFilters));
    }
    if (!(fallback instanceof EmptyRegistry)) {
      grpc.fallbackHandlerRegistry(fallback);
    }
    try {
      new ServerAttachment(this::attach).prepare(grpc);
    } catch (UnsupportedOperationException e) { // gRPC serves, as it does without Ringfetch
      Misconfiguration.log("there are no rings beside a server: " + Obstacle.of(e));
    }
  }

  private AttachedServer attach(
      Server server, List<ServerMethodDefinition<?, ?>> methods, Runnable onEnd) {
    final int port = server.getPort(); // throws, before there are fabrics, at the server's end
    final SessionContext context = sessionContext.copy();
    final SessionEndpoint endpoint = endpoint(methods, new EmptyRegistry(), context);
    final Fabrics opened =
        new Fabrics(fabrics, fabricContext.copy(), context, pollers, "ringfetch-server");
    opened.logObstacles();
    return new AttachedServer(server, port, endpoint, opened, onEnd);
  }

  /**
   * Passes to gRPC's builder the settings that it has not got for an earlier server; it keeps them.
   */
  private CallCounter handOver() {
    services.subList(servicesHandedOver, services.size()).forEach(grpc::addService);
    servicesHandedOver = services.size();
    // The gRPC server has the global ones from its own builder, before these.
    interceptors.subList(interceptorsHandedOver, interceptors.size()).stream()
        .map(SessionInterceptor::new)
        .forEach(grpc::intercept);
    interceptorsHandedOver = interceptors.size();
    final CallCounter grpcCalls = new CallCounter();
    grpc.intercept(new SessionInterceptor(grpcCalls));
    if (filtersHandedOver < transportFilters.size()) {
      grpc.addTransportFilter(
          new TransportFilters(
              transportFilters.subList(filtersHandedOver, transportFilters.size())));
      filtersHandedOver = transportFilters.size();
    }
    return grpcCalls;
  }
}
