package dev.ringfetch.rpc;

import dev.ringfetch.call.Codecs;
import dev.ringfetch.call.DirectExecutor;
import dev.ringfetch.call.ServerCallContext;
import dev.ringfetch.call.ServerLimits;
import dev.ringfetch.call.TaskRecord;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
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
   * Whether its clients' calls go over a ring although a proxy, a sidecar, a load balancer or a
   * forwarded port between client and server terminates connections or translates addresses. They
   * do not unless set here, at the other side, or by the system property {@code
   * ringfetch.across.proxies}: such an intermediary may send each call to another server, but a
   * ring leads to the server that has opened it. Set it where all calls go to that server anyway,
   * as through the forwarded port of a container that shares memory with the client.
   */
  public RingServerBuilder acrossProxies(boolean across) {
    sessionContext.acrossProxies(across);
    return this;
  }

  /** Directory of the shared-memory fabric, {@code /dev/shm} unless set. */
  public RingServerBuilder shmDirectory(Path directory) {
    fabricContext.directory(directory);
    return this;
  }

  /** Lengths in bytes of a session's rings where the client asks for none that can be granted. */
  public RingServerBuilder ringLengths(int requests, int responses) {
    sessionContext.requestRingLength(requests).responseRingLength(responses);
    return this;
  }

  /**
   * Sets the memory beside the rings, out of which the peer reads long responses.
   *
   * @param threshold length in bytes beyond which a message is long; 16 KiB unless set.
   * @param length of the memory of a session, in bytes, registered as it is needed; 0 for none, 16
   *     MiB unless set.
   */
  public RingServerBuilder bulkMemory(int threshold, int length) {
    sessionContext.bulkThreshold(threshold).bulkLength(length);
    return this;
  }

  /**
   * Sets the limit of {@link #bulkMemory} of all sessions together, over all channels and servers
   * with this budget. Unless set they share {@link BulkBudget#PROCESS}, of 1 GiB. Where it is used
   * up, long messages go in frames.
   */
  public RingServerBuilder bulkBudget(BulkBudget budget) {
    sessionContext.bulkQuota(budget.quota());
    return this;
  }

  /** Longest frame in bytes; longer messages go in several. */
  public RingServerBuilder maxFrameLength(int bytes) {
    sessionContext.maxFrameLength(bytes);
    return this;
  }

  /**
   * Clients in use at the same time over a fabric between hosts, beyond which they take turns; 0
   * for never. Too many at a time, and the network card cannot keep the state of their connections.
   */
  public RingServerBuilder turnThreshold(int clients) {
    sessionContext.turnThreshold(clients);
    return this;
  }

  /** Calls that one client can have under way at once on its ring; others of it go over gRPC. */
  public RingServerBuilder maxStreams(int streams) {
    sessionContext.maxStreams(streams);
    return this;
  }

  /**
   * Names of the fabrics that are served; all there are unless set here or by the system property
   * {@code ringfetch.fabrics}. Of several that a client can use, too, its own order decides. One
   * that is not on the class path is skipped. None at all: the server serves gRPC alone.
   *
   * @throws IllegalArgumentException when a name is blank, or given twice.
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
   * Names of the fabrics on which a client's calls may go although its connection is encrypted;
   * {@code shm} unless set. What a ring carries is plaintext. The client has a say, too.
   */
  public RingServerBuilder plaintextFabrics(String... names) {
    this.plaintext = PlaintextFabrics.of(PlaintextFabrics.SERVER, names);
    return this;
  }

  /** Whether a fabric may carry what belongs to an encrypted connection, as far as set here. */
  public boolean allowsPlaintext(String fabric) {
    return plaintext.names().contains(fabric);
  }

  /**
   * How long a poller polls at most before it sleeps; 50 us unless set. docs/adr/0015 says more.
   */
  public RingServerBuilder spinTime(Duration time) {
    sessionContext.spinNs(time.toNanos());
    return this;
  }

  /** Polling threads; half the cores unless set. */
  public RingServerBuilder pollers(int threads) {
    if (threads < 1) {
      throw new IllegalArgumentException("threads=" + threads);
    }
    this.pollers = threads;
    return this;
  }

  /** Sessions that are open at once; further clients stay on gRPC. */
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
   * Whether the calls of all services pass interceptors, global ones included. A service may have
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
   * Whether handlers of unary calls that have proven to be short run on the polling threads, where
   * neither an executor nor a supplier of executors is set; they do unless set. A handler that
   * takes long all the same delays other calls by some tenths of a millisecond: then another thread
   * continues to poll. docs/adr/0013 says more.
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

  @Override
  public RingServerBuilder maxInboundMessageSize(int bytes) {
    grpc.maxInboundMessageSize(bytes);
    sessionContext.maxInboundLength(bytes);
    return this;
  }

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
    final ServerCallContext calls =
        new ServerCallContext(intercepted, new InterceptedRegistry(fallback, onRings), executor)
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
