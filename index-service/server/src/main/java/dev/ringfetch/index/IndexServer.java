package dev.ringfetch.index;

import dev.ringfetch.index.service.ClusterNode;
import dev.ringfetch.index.service.DirectAccessService;
import dev.ringfetch.index.service.HostMemory;
import dev.ringfetch.index.service.IndexAdminService;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.IndexService;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.service.Rehearsal;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.MalformedRequests;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import dev.ringfetch.rpc.Transport;
import io.grpc.ServerBuilder;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The server program of indexes: the Index service, gRPC's health service and server reflection.
 *
 * <p>It runs until a signal ends it (SIGTERM, SIGINT). Then it says NOT_SERVING, takes no further
 * calls, lets those in flight finish for up to {@value #GRACE_SECONDS} seconds, closes its index
 * memory to direct readers, and ends. Indexes without durability end with it.
 *
 * <p>Exit codes: 1 if it cannot listen, or not use its memory, its data directory or the fabric
 * that an option names, or if the data directory is taken from it while it serves, 2 if the command
 * line is wrong, the JVM's own after a signal.
 */
@Command(
    name = "index-server",
    description = "Serves key-value indexes, with gRPC health and reflection.",
    versionProvider = VersionResource.class,
    abbreviateSynopsis = true,
    sortOptions = false)
public final class IndexServer implements Callable<Integer> {
  /**
   * The service that health is asked for about writes: NOT_SERVING once the disk has failed, and
   * indexes that are kept on it take none any more. Reads go on, so other services are SERVING.
   */
  public static final String WRITING = IndexGrpc.SERVICE_NAME + ".writing";

  /** How long calls in flight may take to finish after the signal. */
  static final int GRACE_SECONDS = 30;

  /** How long it may take to end the calls that did not finish. */
  private static final int ABORT_SECONDS = 5;

  /** How often a server that need not write looks whether its data directory is still its own. */
  private static final int OWNER_CHECK_SECONDS = 1;

  @Mixin private ConfigOptions config;
  @Mixin private LogOptions log;

  @Mixin private ListenOptions listening;

  @Mixin private final MetricsOptions metrics = new MetricsOptions();

  @Option(
      names = "--direct",
      fallbackValue = "true",
      description = "Run handlers on the threads of the transport.")
  private boolean direct;

  @Mixin private final StoreOptions store = new StoreOptions();

  @Option(
      names = "--direct-reads",
      paramLabel = "MODE",
      defaultValue = "UNLESS_INTERCEPTED",
      description = "Grants of index memory: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
  private DirectAccessService.Mode directReads;

  @Option(
      names = "--fabric",
      paramLabel = "NAMES",
      hideParamSyntax = true,
      split = "\\s*,\\s*",
      converter = FabricName.class,
      description = "Of rings, the best first: shm, verbs. Default: all.")
  private String[] fabrics;

  @Option(
      names = "--shm-directory",
      paramLabel = "PATH",
      description = "Of files in shared memory. Default: /dev/shm.")
  private Path shmDirectory;

  @Option(
      names = "--spin-time",
      paramLabel = "MICROS",
      converter = AtLeast.Zero.class,
      description = "Polling before a thread sleeps. Default: 50.")
  private Integer spinMicros;

  @Mixin private final ClusterOptions clustering = new ClusterOptions();

  @SuppressWarnings("UnusedVariable") // picocli looks at it
  @Mixin
  private FullHelp help;

  private final ServerHealth health = new ServerHealth();
  private volatile @Nullable String refusal; // why this node cannot take part in the cluster

  /** Begin of the line that says which index at level memory the directory has not, and why. */
  public static final String UNSAVED = "not saved: ";

  /** Begin of the line that says where the server listens: the last one of its start. */
  public static final String ADDRESSES = "addresses: ";

  private final HostMemory host;

  @Spec private CommandSpec spec;

  /** Creates the program, which picocli and the command line of the index run. */
  public IndexServer() {
    this(new HostMemory());
  }

  /** As above, on a host with this memory. */
  IndexServer(HostMemory host) {
    this.host = host;
  }

  /** Runs the program; ends the JVM. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return commandLine(new IndexServer());
  }

  static CommandLine commandLine(IndexServer program) {
    return OptionErrors.printedFor(new CommandLine(program))
        .setDefaultValueProvider(new ServerDefaults(System.getenv()))
        .setCaseInsensitiveEnumValuesAllowed(true);
  }

  /**
   * Adds this program's services to a builder, and returns the builder. Tests can pass a builder of
   * their own, and so can programs with other services. Direct access is added apart.
   */
  public static <B extends ServerBuilder<?>> B addServices(
      B builder, Indexes indexes, HealthStatusManager health) {
    health.setStatus(IndexGrpc.SERVICE_NAME, ServingStatus.SERVING);
    health.setStatus(IndexAdminGrpc.SERVICE_NAME, ServingStatus.SERVING);
    health.setStatus(WRITING, ServingStatus.SERVING);
    builder
        .addService(new IndexService(indexes))
        .addService(new IndexAdminService(indexes))
        .addService(MalformedRequests.refusedBy(health.getHealthService()))
        .addService(MalformedRequests.refusedBy(ProtoReflectionServiceV1.newInstance()));
    return builder;
  }

  /** Serves until the JVM gets a signal to end. Returns the exit code, to picocli. */
  @Override
  public Integer call() throws InterruptedException {
    try (metrics) {
      return config.print() ? CommandLine.ExitCode.OK : run();
    }
  }

  private int run() throws InterruptedException {
    log.apply();
    final IndexMemoryContext context = memoryContext();
    final IndexMemory opened;
    final boolean reads;
    try {
      listening.resolve(clustering.areSet());
      metrics.start(listening, health, store.data());
      opened = IndexMemory.shared(context.journalMetrics(metrics.journal()));
    } catch (IOException e) {
      return failed(e.getMessage());
    }
    final ClusterNode node;
    final Indexes indexes;
    boolean joined = false;
    try {
      reads = opened.hasJournal();
      indexes = Indexes.unrecovered(opened);
      node =
          clustering.areSet()
              ? clustering.join(indexes, listening, replicationFabrics(), shmDirectory)
              : ClusterNode.alone(indexes);
      joined = true;
    } catch (IOException e) {
      return failed(e.getMessage());
    } finally {
      if (!joined) {
        opened.close();
      }
    }
    indexes.beginRecovery(); // beside the loading of the transport's classes
    RingServerBuilder builder = null;
    try {
      builder = builder();
    } finally {
      if (builder == null) {
        node.close();
        indexes.close();
      }
    }
    return serve(builder, opened, indexes, node, reads);
  }

  /** Those of the fabrics that are to be used over which memory is shown, the best first. */
  private List<String> memoryFabrics() {
    return IndexMemoryContext.FABRICS_DEFAULT.stream()
        .filter(name -> fabrics == null || List.of(fabrics).contains(name))
        .toList();
  }

  /** Those over which records reach other nodes' memory: with TLS, no plaintext wire. */
  private List<String> replicationFabrics() {
    return memoryFabrics().stream()
        .filter(name -> listening.tls() == null || name.equals(Transport.SHM))
        .toList();
  }

  /** Options of memory that clients can be granted, over those fabrics that are there. */
  private IndexMemoryContext memoryContext() {
    final IndexMemoryContext context =
        new IndexMemoryContext()
            .host(host)
            .fallback(fabrics == null && shmDirectory == null)
            .onWritingEnded(health::endWriting)
            .progress(new RecoveryReport(spec.commandLine().getOut(), System::nanoTime));
    store.apply(context);
    clustering.check(store.data(), store.adoptsCopy());
    if (fabrics != null) {
      context.fabrics(memoryFabrics().toArray(String[]::new));
    }
    if (shmDirectory != null) {
      context.shmDirectory(shmDirectory);
    }
    return context;
  }

  /**
   * Serves.
   *
   * @param memory of the indexes
   * @param reads whether there is a journal, which takes time to read: meanwhile health says
   *     NOT_SERVING, and other calls end UNAVAILABLE. Else connections wait for the moment that it
   *     takes.
   */
  private int serve(
      RingServerBuilder builder,
      IndexMemory memory,
      Indexes indexes,
      ClusterNode node,
      boolean reads)
      throws InterruptedException {
    metrics.measure(listening.guarded(indexes));
    addServices(builder, indexes, health.grpc());
    node.services().forEach(builder::addService);
    health.start();
    DirectAccessService.addTo(builder, indexes, directReads);
    final StartBarrier barrier = new StartBarrier();
    final RingServer server = builder.addTransportFilter(barrier).build();
    // The port first: without it, the memory of a killed predecessor stays readable.
    try {
      server.start();
    } catch (IOException e) {
      node.close();
      indexes.close();
      return failed("cannot listen on port " + listening.port() + ": " + FailureReason.of(e));
    }
    if (reads) {
      barrier.open();
    }
    String obstacle = "the start has failed";
    boolean started = false;
    try {
      indexes.recoverAndServe();
      started = true;
    } catch (IOException e) {
      obstacle = e.getMessage();
    } catch (IllegalArgumentException e) { // of the gate: it was written by others
      obstacle = "cannot move the gate: " + FailureReason.of(e);
    } finally {
      if (!started) {
        server.shutdownNow();
        node.close();
        indexes.close();
      }
      barrier.open();
    }
    if (!started) {
      return failed(obstacle);
    }
    health.recovered();
    final CountDownLatch stopped = new CountDownLatch(1);
    if (!clustering.areSet()) {
      health.serve();
    } else {
      node.start(
          listening.announced(server.getPort()),
          health::serve,
          reason -> {
            refusal = reason;
            stopped.countDown();
          });
    }
    final Runnable stop =
        () -> {
          if (lostData(memory) == null) { // else all that is there is another server's
            stop(server, indexes, node);
            indexes.close(); // the gate: direct readers turn away
            listening.close();
          }
          stopped.countDown();
        };
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(stop, "index-server-shutdown"));
    } catch (IllegalStateException e) { // the JVM ends already
      stop.run();
      return CommandLine.ExitCode.OK;
    }
    final PrintWriter out = spec.commandLine().getOut();
    out.println("index server listening on port " + server.getPort());
    out.println("rings over: " + server.fabrics());
    out.println("index memory: up to " + indexes.budget());
    out.println(store.line());
    out.print(metrics.lines());
    out.println(ADDRESSES + listening.text(server.getListenSockets()));
    out.flush();
    if (clustering.areSet()) {
      rehearse();
    }
    // Not the server's own awaitTermination: the thread that waits there closes the rings, and the
    // JVM waits for no thread but the hook.
    while (!stopped.await(OWNER_CHECK_SECONDS, TimeUnit.SECONDS)) {
      final IOException lost = lostData(memory);
      listening.refresh();
      if (lost != null) {
        server.shutdownNow();
        node.close();
        return failed("ends, and answers nothing more: " + lost.getMessage());
      }
    }
    return refusal == null ? CommandLine.ExitCode.OK : failed(refusal);
  }

  /** Why the data directory is not this server's any more; null if it is, or there is none. */
  private static @Nullable IOException lostData(IndexMemory memory) {
    try {
      memory.checkOwned();
      return null;
    } catch (IOException e) {
      return e;
    }
  }

  /** Leads an index of nobody once, while this node does not lead yet. */
  private void rehearse() {
    try {
      if (Rehearsal.run()) {
        return;
      }
    } catch (IOException | RuntimeException e) { // the node itself is well
      spec.commandLine().getErr().println("index server: the rehearsal has failed: " + e);
    }
    spec.commandLine().getErr().println("index server: the first fail-over will take longer");
  }

  private int failed(String reason) {
    spec.commandLine().getErr().println("index server: " + reason);
    return CommandLine.ExitCode.SOFTWARE;
  }

  private RingServerBuilder builder() {
    final RingServerBuilder builder = RingServerBuilder.over(listening.builder());
    if (direct) {
      builder.directExecutor();
    }
    if (fabrics != null) {
      builder.fabrics(Stream.of(fabrics).distinct().toArray(String[]::new));
    }
    if (shmDirectory != null) {
      builder.shmDirectory(shmDirectory);
    }
    if (spinMicros != null) {
      builder.spinTime(Duration.of(spinMicros, ChronoUnit.MICROS));
    }
    return builder;
  }

  private void stop(RingServer server, Indexes indexes, ClusterNode node) {
    // Before the port closes, so that clients that watch health go elsewhere while calls still
    // succeed.
    health.stop();
    node.handOver(); // while it serves
    indexes.endWatches(); // which would last as long as their clients
    if (clustering.areSet()) { // others lead from now on: its calls end, and are sent to them
      stop(node);
    }
    server.shutdown();
    try {
      if (!server.awaitTermination(GRACE_SECONDS, TimeUnit.SECONDS)) {
        server.shutdownNow();
        server.awaitTermination(ABORT_SECONDS, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      server.shutdownNow();
    }
    if (!clustering.areSet()) {
      stop(node);
    }
  }

  private void stop(ClusterNode node) {
    // Loggers may have ended.
    node.stop(reason -> spec.commandLine().getErr().println(UNSAVED + reason));
    spec.commandLine().getErr().flush();
  }
}
