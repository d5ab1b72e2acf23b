package dev.ringfetch.index.peers;

import dev.ringfetch.index.onesided.PeerMemory;
import dev.ringfetch.index.replication.Peers;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.BindableService;
import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ServerCallExecutorSupplier;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a node. As a leader it connects to each member by a stream, over a ring if one
 * connects the two; as a member it accepts streams of leaders through a {@linkplain #service
 * service}.
 *
 * <p>{@link #work} retries a connection that has ended, or could not be made, after {@value
 * #RETRY_MILLIS} ms while a replica wants it. It also ends the connections to a process that
 * {@linkplain PeerProcesses has ended}. Safe for use by many threads.
 */
public final class GrpcPeers implements Peers, AutoCloseable {
  private static final Logger LOGGER = System.getLogger(GrpcPeers.class.getName());

  static final long RETRY_MILLIS = 50;

  /**
   * Limit of the answers to this node's calls, for the description of a cluster with many groups.
   */
  private static final int ANSWER_LIMIT = 8 << 20;

  private static final int CLOSE_SECONDS = 2;

  /** Interval of the checks of the nodes' processes, a system call each. */
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Pause of this process's work that means that it was suspended or starved. */
  private static final long STOOD_NS = TimeUnit.SECONDS.toNanos(1);

  /** Node timeouts after which a stream counts as silent; replicas notice a silent node earlier. */
  private static final int TIMEOUTS = Replicas.NODE_TIMEOUTS_MOST + 2;

  private final Node self;
  private final PeerListener listener;
  private final @Nullable Path shmDirectory; // null: the default
  private final Map<Long, Route> routes = new ConcurrentHashMap<>();
  private final PeerProcesses processes;
  private final ReplicationService service;
  private volatile PeerMemory memory = PeerMemory.NONE;
  private @Nullable ChannelCredentials credentials; // null: plaintext
  private long silenceNs = TIMEOUTS * Replicas.NODE_TIMEOUT_DEFAULT.toNanos();
  private volatile boolean closed;
  private long workedNs = System.nanoTime(); // of the thread that works
  private long lookedNs = workedNs - LOOK_NS; // at processes

  /** The route to a node, with its present connection. */
  private static final class Route {
    private final ManagedChannel channel;
    private volatile LeaderConnection connection;
    private volatile long retryNs;
    private volatile boolean isDown;

    private volatile boolean reported; // that certificates keep the two apart

    Route(ManagedChannel channel) {
      this.channel = channel;
    }

    /** Logs once if certificates keep the two apart, which only an operator can change. */
    void report(Node node, Status reason) {
      if (!reported && NodeCertificate.isRefused(reason)) {
        reported = true;
        LOGGER.log(
            Level.WARNING,
            "no replication to a node: address={0}: {1}",
            node.getAddress(),
            reason.getDescription());
      }
    }
  }

  /**
   * Creates them; nothing is connected.
   *
   * @param self this node, as announced to others
   * @param shmDirectory of the rings; null for the default
   */
  public GrpcPeers(Node self, PeerListener listener, @Nullable Path shmDirectory) {
    this.self = self;
    this.listener = listener;
    this.shmDirectory = shmDirectory;
    processes = new PeerProcesses(self);
    service = new ReplicationService(self, listener, processes);
  }

  /** Sets the memory between nodes; called before the first connection. */
  public void memory(PeerMemory shared) {
    memory = shared;
  }

  /**
   * Sets the credentials of connections to other nodes, which have to prove themselves, too; called
   * before the first connection.
   */
  public void credentials(ChannelCredentials shown) {
    credentials = shown;
    service.requireProof();
  }

  /** Sets the node timeout of the replicas; called before the first connection. */
  public void nodeTimeout(Duration timeout) {
    silenceNs = TIMEOUTS * timeout.toNanos();
  }

  /** Time without an answer after which a node is tried over another stream. */
  long silenceNs() {
    return silenceNs;
  }

  @Override
  public PeerMemory memory() {
    return memory;
  }

  /** The service through which leaders reach this node. */
  public BindableService service() {
    return service;
  }

  /** The executor of leaders' streams, for the gRPC server that has the service. */
  public static ServerCallExecutorSupplier callExecutor() {
    return StreamThreads::executor;
  }

  @Override
  public void connect(Node node) {
    if (closed) {
      return;
    }
    final Route known = routes.get(node.getId());
    if (known != null && known.connection.peer().equals(node)) {
      if (known.connection.isConnected()) {
        listener.onConnected(node.getId());
      }
      return;
    }
    disconnect(node.getId());
    final Route route = new Route(channel(node));
    routes.put(node.getId(), route);
    start(route, node);
  }

  /** A new connection to a node, for calls of any kind; the caller owns it. */
  public ManagedChannel channel(Node node) {
    final RingChannelBuilder builder =
        credentials == null
            ? RingChannelBuilder.forTarget(node.getAddress()).usePlaintext()
            : RingChannelBuilder.newChannelBuilder(node.getAddress(), credentials);
    if (shmDirectory != null) {
      builder.shmDirectory(shmDirectory);
    }
    return builder.directExecutor().maxInboundMessageSize(ANSWER_LIMIT).build();
  }

  private void start(Route route, Node node) {
    route.isDown = false;
    final LeaderConnection connection =
        new LeaderConnection(
            node,
            listener,
            reason -> {
              route.report(node, reason);
              route.retryNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RETRY_MILLIS);
              route.isDown = true;
            });
    route.connection = connection;
    processes.watch(node);
    connection.start(route.channel, self);
  }

  /** Retries due connections, and gives up silent ones. Called by one thread at a time. */
  public void work() {
    work(System.nanoTime());
  }

  void work(long nowNs) {
    if (nowNs - lookedNs > LOOK_NS) {
      lookedNs = nowNs;
      processes.takeEnded(this::onProcessEnded);
    }
    final boolean stood = nowNs - workedNs > STOOD_NS;
    workedNs = nowNs;
    for (final Route route : routes.values()) {
      if (stood) {
        route.connection.excuse(nowNs);
      } else if (route.connection.isSilent(nowNs, silenceNs)) {
        route.connection.close("the node does not answer");
      }
      if (route.isDown && nowNs - route.retryNs >= 0) {
        route.channel.resetConnectBackoff();
        start(route, route.connection.peer());
      }
    }
  }

  /** Ends the connections to an ended process, some 15 to 60 ms before the kernel does. */
  private void onProcessEnded(Node node) {
    service.end(node);
    final Route route = routes.get(node.getId());
    if (route != null && route.connection.peer().getIncarnation() == node.getIncarnation()) {
      route.connection.close("the node's process has ended");
    }
  }

  @Override
  public void disconnect(long node) {
    final Route route = routes.remove(node);
    if (route != null) {
      route.connection.close("not needed any more");
      route.channel.shutdownNow();
    }
  }

  @Override
  public boolean send(long node, LeaderMessage message) {
    final Route route = routes.get(node);
    return route != null && route.connection.isConnected() && route.connection.send(message);
  }

  @Override
  public void answer(long leader, MemberMessage message) {
    service.answer(leader, message);
  }

  @Override
  public void close() {
    closed = true;
    service.close(); // first, so that leaders see the end at once
    processes.close();
    final List<ManagedChannel> channels = new ArrayList<>();
    for (final Map.Entry<Long, Route> route : routes.entrySet()) {
      channels.add(route.getValue().channel);
      disconnect(route.getKey());
    }
    for (final ManagedChannel channel : channels) {
      try {
        channel.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** The status of a stream that is meant for another process. */
  static Status refused(String description) {
    return Status.FAILED_PRECONDITION.withDescription(description);
  }

  /** Ends a stream, which may have ended. */
  static void end(StreamObserver<?> stream, Status status) {
    try {
      stream.onError(status.asException());
    } catch (IllegalStateException e) {
      // The stream has already ended.
    }
  }
}
