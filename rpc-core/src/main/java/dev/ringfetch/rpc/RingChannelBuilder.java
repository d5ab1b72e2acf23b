package dev.ringfetch.rpc;

import dev.ringfetch.call.CallbackExecutor;
import dev.ringfetch.call.ClientLimits;
import dev.ringfetch.call.Codecs;
import dev.ringfetch.call.DirectExecutor;
import dev.ringfetch.call.TaskRecord;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.Obstacle;
import dev.ringfetch.session.SessionContext;
import io.grpc.BinaryLog;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ChoiceChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.CompositeChannelCredentials;
import io.grpc.CompressorRegistry;
import io.grpc.DecompressorRegistry;
import io.grpc.ForwardingChannelBuilder2;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ManagedChannelProvider;
import io.grpc.MethodDescriptor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Builder of channels that send calls over a ring where one connects the two processes, and over
 * gRPC otherwise.
 *
 * <p>It is a {@link ManagedChannelBuilder} like any other: settings that it does not override go to
 * the builder of the gRPC channel underneath, which grpc-api's registry supplies (add grpc-netty or
 * grpc-netty-shaded to the application).
 *
 * <pre>{@code
 * ManagedChannel channel =
 *     RingChannelBuilder.forTarget("localhost:8080")
 *         .fabrics(Transport.SHM)
 *         .usePlaintext()
 *         .build();
 * }</pre>
 */
public final class RingChannelBuilder extends ForwardingChannelBuilder2<RingChannelBuilder> {
  private final ManagedChannelBuilder<?> grpc;
  private final String target;

  /**
   * Factories among them, which this builder resolves. Agents add interceptors of their own to a
   * field of this name and type: OpenTelemetry's, Datadog's and Hypertrace's among others.
   */
  private final List<ClientInterceptor> interceptors = new ArrayList<>();

  private final List<ClientInterceptor> globalInterceptors;
  private final List<ClientInterceptor> handshakeInterceptors = new ArrayList<>();
  private final FabricContext fabricContext = new FabricContext();
  private final SessionContext sessionContext =
      new SessionContext()
          .bulkQuota(BulkBudget.PROCESS.quota())
          .acrossProxies(Boolean.getBoolean(Endpoints.PROPERTY));

  private Executor executor; // null: the default
  private int inlineAfter = TaskRecord.RUNS_DEFAULT;
  private long inlineNs = TaskRecord.SHORT_NS_DEFAULT;
  private FabricSelection fabrics = FabricSelection.unlessSet();
  private PlaintextFabrics plaintext = PlaintextFabrics.unlessSet(PlaintextFabrics.CLIENT);
  private CompressorRegistry compressors = CompressorRegistry.getDefaultInstance();
  private DecompressorRegistry decompressors = DecompressorRegistry.getDefaultInstance();
  private boolean requireFabric;
  private long pulseNs; // 0: none
  private long idleTimeoutNs = IdleWatch.DEFAULT_NS;
  private boolean ownsLog = true; // the binary log of the gRPC builder
  private BinaryLog binaryLog; // null: none
  private boolean isGiven; // the gRPC builder is another one's, perhaps with a policy of its own
  private boolean retries = true;
  private String policy; // null: none was set
  private Map<String, ?> serviceConfig;

  private RingChannelBuilder(ManagedChannelBuilder<?> grpc, String target) {
    GrpcVersion.check(); // before what needs it
    this.grpc = grpc;
    this.target = target;
    this.globalInterceptors = GlobalChannelOptions.apply(this, target);
  }

  /** A channel to a target, as {@link ManagedChannelBuilder#forTarget} takes it. */
  public static RingChannelBuilder forTarget(String target) {
    return new RingChannelBuilder(GrpcBuilders.forTarget(target), target);
  }

  /** A channel to a host and port. */
  public static RingChannelBuilder forAddress(String name, int port) {
    return new RingChannelBuilder(GrpcBuilders.forAddress(name, port), name + ":" + port);
  }

  /** A channel with credentials, as {@link Grpc#newChannelBuilder} takes them. */
  public static RingChannelBuilder newChannelBuilder(
      String target, ChannelCredentials credentials) {
    if (credentials instanceof CompositeChannelCredentials composite) {
      return newChannelBuilder(target, composite.getChannelCredentials())
          .intercept(new BundledCredentials(composite.getCallCredentials()));
    }
    if (credentials instanceof ChoiceChannelCredentials choice) {
      return newChannelBuilder(target, choice.getCredentialsList());
    }
    return new RingChannelBuilder(GrpcBuilders.newChannelBuilder(target, credentials), target);
  }

  /** Uses the first of these credentials that there is a transport for. */
  private static RingChannelBuilder newChannelBuilder(
      String target, List<ChannelCredentials> choice) {
    ManagedChannelProvider.ProviderNotFoundException none = null;
    for (final ChannelCredentials credentials : choice) {
      try {
        return newChannelBuilder(target, credentials);
      } catch (ManagedChannelProvider.ProviderNotFoundException e) {
        none = e;
      }
    }
    throw none;
  }

  /**
   * A channel over a gRPC channel that another builder creates. Call credentials that are bundled
   * with that one's credentials do not reach calls on a ring: give those to {@link
   * #newChannelBuilder}. Interceptors of that builder, such as those of an agent, see the streams
   * of sessions, too, unless {@link #setBinaryLog} is called, perhaps with null.
   *
   * @param grpc builder of the gRPC channel; this builder owns it from here on.
   * @param target name of the target for log lines.
   */
  public static RingChannelBuilder over(ManagedChannelBuilder<?> grpc, String target) {
    final RingChannelBuilder builder = new RingChannelBuilder(grpc, target);
    builder.pulseNs = Pulse.INTERVAL_NS; // the given builder may have keepalive set
    builder.ownsLog = false;
    builder.isGiven = true;
    return builder;
  }

  @Override
  protected ManagedChannelBuilder<?> delegate() {
    return grpc;
  }

  /**
   * Makes falling back to gRPC an error; off by default. Calls wait for the ring, under their
   * deadline, and end UNAVAILABLE where there is none; a call that a ring cannot carry ends
   * UNIMPLEMENTED.
   */
  public RingChannelBuilder requireFabric() {
    this.requireFabric = true;
    return this;
  }

  /**
   * Sets the fabrics that may be used, the best first. Default: the system property {@code
   * ringfetch.fabrics}, and without it all on the class path, by their priority. A fabric that is
   * not named is never used; a name without a provider on the class path is skipped. No name keeps
   * the calls on gRPC.
   *
   * @param names such as {@link Transport#SHM} and {@link Transport#VERBS}.
   * @throws IllegalArgumentException if a name is blank, or given twice.
   */
  public RingChannelBuilder fabrics(String... names) {
    this.fabrics = fabrics.only(names);
    return this;
  }

  /** Sets the providers, instead of those on the class path. */
  RingChannelBuilder providers(List<FabricProvider> providers) {
    this.fabrics = fabrics.of(providers);
    return this;
  }

  /**
   * Sets the fabrics that may carry calls although the channel is encrypted: what a ring carries is
   * plaintext. The server must allow the fabric, too. Default: the system property {@code
   * ringfetch.plaintext.fabrics}, and without it {@code shm}, where only processes of one user
   * meet. No name keeps the calls of an encrypted channel on gRPC.
   */
  public RingChannelBuilder plaintextFabrics(String... names) {
    this.plaintext = PlaintextFabrics.of(PlaintextFabrics.CLIENT, names);
    return this;
  }

  /**
   * Allows a ring although a proxy, a sidecar, a load balancer or a forwarded port between client
   * and server terminates connections or translates addresses; one side is enough. Default: the
   * system property {@code ringfetch.across.proxies}, and without it false, because such an
   * intermediary may send each call to another server, while a ring leads to the server that has
   * opened it. Allow it where all calls go to that server anyway, as through the forwarded port of
   * a container that shares memory with the client.
   */
  public RingChannelBuilder acrossProxies(boolean across) {
    sessionContext.acrossProxies(across);
    return this;
  }

  /**
   * Adds call credentials that belong to the channel's connections: each call over gRPC asks them,
   * and so does the opening of each ring, but no call on a ring. There, the server adds the {@code
   * authorization} header of the opening to the headers of every call. Unlike {@link
   * CompositeChannelCredentials}, which are asked for every call, they cost a call on a ring
   * nothing, so their answer has to hold as long as the ring.
   */
  public RingChannelBuilder sessionCredentials(CallCredentials credentials) {
    final ClientInterceptor bundled = new BundledCredentials(credentials);
    grpc.intercept(bundled);
    handshakeInterceptors.add(bundled);
    return this;
  }

  /**
   * Sets the directory of the shared-memory fabric, the same at both sides. Default: the system
   * property {@code ringfetch.shm.directory}, and without it {@code /dev/shm}.
   */
  public RingChannelBuilder shmDirectory(Path directory) {
    fabricContext.directory(directory);
    return this;
  }

  /**
   * Sets the lengths of the rings that the server is asked for, in bytes. Default: a session begins
   * with 16 KiB each, and another one with 256 KiB each takes its place when its rings have been
   * full several times.
   *
   * @throws IllegalArgumentException if a length is not a power of two from 128 bytes to 16 MiB.
   */
  public RingChannelBuilder ringLengths(int requests, int responses) {
    sessionContext
        .requestRingLength(requests)
        .responseRingLength(responses)
        .initialRingLength(Math.max(requests, responses));
    return this;
  }

  /**
   * Sets the memory beside the rings, out of which the server reads long requests.
   *
   * @param threshold length in bytes beyond which a message is long; default 16 KiB.
   * @param length limit of the memory of a session, in bytes, registered as it is needed; 0 for
   *     none; default 16 MiB.
   * @throws IllegalArgumentException if one of them is negative.
   */
  public RingChannelBuilder bulkMemory(int threshold, int length) {
    sessionContext.bulkThreshold(threshold).bulkLength(length);
    return this;
  }

  /**
   * Sets the limit of {@link #bulkMemory} of all sessions together, over all channels and servers
   * with this budget. Default: {@link BulkBudget#PROCESS}, of 1 GiB. Beyond it, long messages go in
   * frames.
   */
  public RingChannelBuilder bulkBudget(BulkBudget budget) {
    sessionContext.bulkQuota(budget.quota());
    return this;
  }

  /**
   * Sets the length of the longest frame in bytes; longer messages go in several. The smaller
   * length of both sides counts. Default 32 KiB.
   *
   * @throws IllegalArgumentException below 64 bytes.
   */
  public RingChannelBuilder maxFrameLength(int bytes) {
    sessionContext.maxFrameLength(bytes);
    return this;
  }

  /**
   * Sets how answers get to this channel over a fabric between hosts; default {@link
   * ReplyMode#ADAPTIVE}. Without effect between processes that share memory: answers are polled
   * where they are.
   */
  @Experimental
  public RingChannelBuilder replyMode(ReplyMode mode) {
    sessionContext.replyPolicy(mode.policy());
    return this;
  }

  /**
   * Sets the longest time that a waiting thread polls before it sleeps; default 50 us, and none on
   * a machine with one core. See docs/adr/0015-spin-time.md.
   *
   * @throws IllegalArgumentException if it is negative.
   */
  public RingChannelBuilder spinTime(Duration time) {
    sessionContext.spinNs(time.toNanos());
    return this;
  }

  /**
   * Sets the executor of callbacks. Default, and for null: the thread that polls for all channels
   * runs callbacks that have proven short, and a cached pool of daemon threads runs the others. A
   * callback that takes long all the same delays other calls by some tenths of a millisecond. See
   * docs/adr/0051.
   */
  @Override
  public RingChannelBuilder executor(Executor executor) {
    grpc.executor(executor);
    this.executor = executor;
    return this;
  }

  /**
   * For tests: the polling thread runs callbacks after so many runs of at most so many nanoseconds,
   * and from so many in a millisecond.
   */
  RingChannelBuilder inlineCallbacks(int afterRuns, long shortNs, int perMs) {
    this.inlineAfter = afterRuns;
    this.inlineNs = shortNs;
    sessionContext.inlinePerMs(perMs);
    return this;
  }

  private Executor callbackExecutor(SessionContext context) {
    final int runs = inlineAfter;
    final long shortNs = inlineNs;
    return executor != null
        ? executor
        : new CallbackExecutor(
            DefaultExecutor.RETRYING, () -> new TaskRecord(context.clock(), runs, shortNs));
  }

  /**
   * Sets the interval of pings as in gRPC, which sends none by default. While calls are on a ring,
   * a server of this version sends something on the connection, or it would take the pings for
   * abuse.
   */
  @Override
  public RingChannelBuilder keepAliveTime(long time, TimeUnit unit) {
    grpc.keepAliveTime(time, unit);
    pulseNs = Pulse.INTERVAL_NS;
    return this;
  }

  /** For tests: how often the server is to send something. */
  RingChannelBuilder pulse(Duration interval) {
    pulseNs = interval.toNanos();
    return this;
  }

  /**
   * Sets the time without calls after which the ring and the connection over which it was opened
   * end; default 30 minutes, as in gRPC.
   */
  @Override
  public RingChannelBuilder idleTimeout(long value, TimeUnit unit) {
    grpc.idleTimeout(value, unit);
    idleTimeoutNs = unit.toNanos(value);
    return this;
  }

  /** Runs callbacks in the polling thread, or in gRPC's threads: for callbacks that never block. */
  @Override
  public RingChannelBuilder directExecutor() {
    grpc.directExecutor();
    this.executor = DirectExecutor.INSTANCE;
    return this;
  }

  @Override
  public RingChannelBuilder intercept(List<ClientInterceptor> interceptors) {
    this.interceptors.addAll(interceptors);
    return this;
  }

  /**
   * As {@link #intercept(List)}, for gRPC's own extensions: such interceptors see the calls on a
   * ring, too, with the target as given to this builder.
   */
  @Override
  protected RingChannelBuilder interceptWithTarget(InterceptorFactory factory) {
    interceptors.add(new InterceptorOfFactory(factory));
    return this;
  }

  @Override
  public RingChannelBuilder intercept(ClientInterceptor... interceptors) {
    return intercept(Arrays.asList(interceptors));
  }

  @Override
  public RingChannelBuilder compressorRegistry(CompressorRegistry registry) {
    grpc.compressorRegistry(registry);
    this.compressors = registry == null ? CompressorRegistry.getDefaultInstance() : registry;
    return this;
  }

  @Override
  public RingChannelBuilder decompressorRegistry(DecompressorRegistry registry) {
    grpc.decompressorRegistry(registry);
    this.decompressors = registry == null ? DecompressorRegistry.getDefaultInstance() : registry;
    return this;
  }

  /**
   * Sets the longest answer in bytes, on rings and over gRPC; default 4 MiB.
   *
   * @throws IllegalArgumentException if it is negative.
   */
  @Override
  public RingChannelBuilder maxInboundMessageSize(int bytes) {
    grpc.maxInboundMessageSize(bytes);
    sessionContext.maxInboundLength(bytes);
    return this;
  }

  /**
   * Sets the longest metadata of an answer in bytes, on rings and over gRPC; default 8 KiB.
   *
   * @throws IllegalArgumentException if it is not positive.
   */
  @Override
  public RingChannelBuilder maxInboundMetadataSize(int bytes) {
    grpc.maxInboundMetadataSize(bytes);
    sessionContext.maxMetadataLength(bytes);
    return this;
  }

  /**
   * The policy picks the backend of each call, on rings as over gRPC, unless the name resolver has
   * a service config of its own: then all calls go over gRPC.
   */
  @Override
  public RingChannelBuilder defaultLoadBalancingPolicy(String policy) {
    grpc.defaultLoadBalancingPolicy(policy);
    this.policy = policy;
    return this;
  }

  /**
   * Holds for calls on rings, too, but for methods with a retry or hedging policy: their calls go
   * over gRPC. So do all calls while the name resolver has a service config of its own.
   */
  @Override
  public RingChannelBuilder defaultServiceConfig(Map<String, ?> config) {
    grpc.defaultServiceConfig(config);
    this.serviceConfig = config;
    return this;
  }

  @Override
  public RingChannelBuilder disableRetry() {
    grpc.disableRetry();
    retries = false;
    return this;
  }

  /** Calls on a ring do not appear in the log. */
  @Override
  public RingChannelBuilder setBinaryLog(BinaryLog log) {
    binaryLog = log;
    ownsLog = true;
    return this;
  }

  @Override
  public RingChannelBuilder enableRetry() {
    grpc.enableRetry();
    retries = true;
    return this;
  }

  private ClientInterceptor resolve(ClientInterceptor interceptor) {
    return interceptor instanceof InterceptorOfFactory made
        ? made.factory().newInterceptor(target)
        : interceptor;
  }

  /** Builds a channel; later settings apply to the next one. */
  @Override
  public RingChannel build() {
    // First: a factory is the application's code and may throw, as long as nothing has been
    // created.
    final List<ClientInterceptor> made = interceptors.stream().map(this::resolve).toList();
    final ServiceConfig config = config();
    final boolean tapped =
        TapProvider.isRegistered()
            && !(isGiven && policy == null && serviceConfig == null)
            && !config.isLate();
    final Backends backends = new Backends(tapped, tapped ? null : config.untapped());
    if (tapped) {
      grpc.defaultServiceConfig(config.tapped(TapProvider.register(backends)));
    }
    final ControlChannel control = ownsLog ? ControlChannel.within(grpc, binaryLog) : null;
    final ChannelAttachment.Factory rings = rings(config, made, globalInterceptors, false);
    final ManagedChannel beneath = grpc.build();
    try {
      final Channel streams = control == null ? beneath : control.of(beneath);
      return rings.create(
          backends,
          beneath,
          streams == beneath // with the builder's interceptors
              ? beneath
              : ClientInterceptors.intercept(streams, handshakeInterceptors));
    } catch (RuntimeException | Error e) {
      beneath.shutdownNow();
      throw e;
    }
  }

  /**
   * Gives rings to the channel that the builder which was given to {@link #over} builds next, for
   * frameworks that build their channels themselves: they keep their {@link ManagedChannel}, its
   * interceptors and its lifecycle. Interceptors see calls on rings, whether they are added before
   * or after. Executor, limits, codecs, idle timeout, load-balancing policy and service config of
   * that builder are not known here: set them on this one, which passes them on. This sets the
   * default service config and the binary log of that builder; a later change of either keeps the
   * channel's calls on gRPC. See docs/frameworks.md.
   *
   * @return the default service config that the builder has from here on, for a framework that sets
   *     one of its own afterwards: it has to set this one.
   * @throws IllegalStateException after {@link #requireFabric}: the channel begins with gRPC.
   */
  @Experimental
  public Map<String, ?> attach() {
    return attached().config();
  }

  /** For tests: as {@link #attach}; returns the attachment, or null where there cannot be rings. */
  ChannelAttachment attachment() {
    return attached().rings();
  }

  private Attached attached() {
    if (requireFabric || !isGiven) {
      throw new IllegalStateException("requireFabric=" + requireFabric + " over=" + isGiven);
    }
    grpc.intercept(interceptors.stream().map(this::resolve).toList());
    final ServiceConfig config = config();
    if (!TapProvider.isRegistered()) {
      return withoutRings(ServiceConfig.UNREGISTERED);
    }
    if (config.isLate()) {
      return withoutRings(config.untapped());
    }
    final ChannelAttachment attachment =
        new ChannelAttachment(target, rings(config, List.of(), List.of(), true));
    try {
      grpc.setBinaryLog(attachment);
    } catch (UnsupportedOperationException e) { // gRPC serves, as it does without Ringfetch
      return withoutRings(Obstacle.of(e));
    }
    final Map<String, ?> tapped = config.tapped(TapProvider.register(attachment));
    grpc.defaultServiceConfig(tapped);
    return new Attached(attachment, tapped);
  }

  private Attached withoutRings(String reason) {
    Misconfiguration.log("there are no rings to " + target + ": " + reason);
    return new Attached(null, serviceConfig == null ? Map.of() : serviceConfig);
  }

  private ServiceConfig config() {
    return new ServiceConfig(
        serviceConfig, policy == null ? ServiceConfig.PICK_FIRST : policy, retries);
  }

  /** Returns the factory of channels with the present settings, over any gRPC channel. */
  private ChannelAttachment.Factory rings(
      ServiceConfig config,
      List<ClientInterceptor> made,
      List<ClientInterceptor> global,
      boolean attached) {
    final SessionContext context = sessionContext.copy();
    final FabricContext directories = fabricContext.copy();
    final FabricSelection selection = fabrics;
    final PlaintextFabrics allowed = plaintext;
    final ChannelCalls calls =
        new ChannelCalls(
            callbackExecutor(context),
            new ClientLimits(context.maxInboundLength(), context.maxMetadataLength()),
            new Codecs(compressors, decompressors),
            made,
            global,
            config);
    final RingPolicy rules = new RingPolicy(requireFabric, idleTimeoutNs, pulseNs, attached);
    return (backends, beneath, control) -> {
      final SharedFabrics shared = SharedFabrics.acquire(selection, directories, context);
      try {
        return new RingChannel(
            backends,
            new ChannelContext(beneath, control, target, shared, context, allowed),
            calls,
            rules);
      } catch (RuntimeException | Error e) {
        shared.release();
        throw e;
      }
    };
  }

  /**
   * What {@link #attach} has given the builder.
   *
   * @param rings or null where there cannot be any.
   */
  private record Attached(ChannelAttachment rings, Map<String, ?> config) {}

  /** Place of an interceptor that its factory makes when a channel is built. */
  private record InterceptorOfFactory(InterceptorFactory factory) implements ClientInterceptor {
    @Override
    public <ReqT, RespT> ClientCall<ReqT, RespT> interceptCall(
        MethodDescriptor<ReqT, RespT> method, CallOptions options, Channel next) {
      throw new IllegalStateException("the builder has not made the interceptor: " + factory);
    }
  }
}
