package dev.ringfetch.index.client;

import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;

/** Builder of clients. It needs a target or a channel; the rest has defaults. */
public final class IndexClientBuilder {
  /** Default of {@link #deadline}. */
  public static final Duration DEADLINE_DEFAULT = Duration.ofSeconds(1);

  /**
   * Additional time of calls until the first one is answered, if no deadline is set here. The first
   * call waits for class loading and for the connection; that took 5 seconds beside 22 busy threads
   * on 2 processors. From the first answer on, the usual deadline holds.
   */
  public static final Duration FIRST_CALL_GRACE = Duration.ofSeconds(9);

  /**
   * Default of {@link #maxInFlight}: four such clients fit into the 4,096 writes that may wait for
   * one partition of a server, and an ordered index has one partition. With answers after 1 ms it
   * is a million operations a second.
   */
  public static final int MAX_IN_FLIGHT_DEFAULT = 1_024;

  private String target;
  private ManagedChannel channel;
  private ChannelCredentials credentials; // null: plaintext
  private PasswordCredentials user; // null: none, or that of a certificate
  private Duration deadline; // null: the default, with grace
  private ClientMetrics metrics = ClientMetrics.NONE;
  private ConnectionListener connectionListener; // null: none
  private Executor executor; // null: pools of daemon threads
  private ClientThreads threads; // null: those of the executor
  private Path shmDirectory; // null: the default
  private boolean exactlyOnce = true;
  private int maxInFlight = MAX_IN_FLIGHT_DEFAULT;

  IndexClientBuilder() {}

  /**
   * Sets the server, as {@code host:port} or another target of gRPC. It may be a node of a cluster:
   * the client finds the leader of each index, and follows it. Several nodes, separated by commas,
   * are better, as one may be down. The target may also be the cluster's coordinator, {@code
   * zk://HOST:PORT[,HOST:PORT]/CLUSTER}: the client asks it for the nodes when it is built. That
   * needs {@code ringfetch-index-cluster} on the class path.
   */
  public IndexClientBuilder target(String target) {
    this.target = Objects.requireNonNull(target, "target");
    return this;
  }

  /** Sets the credentials, TLS for example; plaintext unless set. */
  public IndexClientBuilder credentials(ChannelCredentials credentials) {
    this.credentials = Objects.requireNonNull(credentials, "credentials");
    return this;
  }

  /**
   * Sets user and password, for a server with users; none unless set. A client certificate that
   * names a user needs neither. The password goes by TLS, or to a server of this host: elsewhere,
   * operations fail with the status UNAUTHENTICATED.
   *
   * @throws IllegalArgumentException if one of them is empty, or the user's name has a colon.
   */
  public IndexClientBuilder credentials(String user, String password) {
    this.user = new PasswordCredentials(user, password);
    return this;
  }

  /**
   * Sets the channel to the server, instead of a target. The caller closes it. When the client is
   * closed, scans of snapshots are cancelled, and other calls that are under way end by themselves.
   */
  public IndexClientBuilder channel(ManagedChannel channel) {
    this.channel = Objects.requireNonNull(channel, "channel");
    return this;
  }

  /**
   * Sets how long a call may take. Default {@link #DEADLINE_DEFAULT}; a view can set its own. A
   * deadline that is set here holds from the first call on, without {@link #FIRST_CALL_GRACE}.
   */
  public IndexClientBuilder deadline(Duration deadline) {
    View.checkDeadline(deadline);
    this.deadline = deadline;
    return this;
  }

  /** Sets the receiver of measurements. Default: none; see {@link MicrometerMetrics}. */
  public IndexClientBuilder metrics(ClientMetrics metrics) {
    this.metrics = Objects.requireNonNull(metrics, "metrics");
    return this;
  }

  /** Sets the listener for whether the client reaches its server. Default: none. */
  public IndexClientBuilder connectionListener(ConnectionListener listener) {
    this.connectionListener = Objects.requireNonNull(listener, "listener");
    return this;
  }

  /**
   * Sets the executor for the application's code: listeners of watches, functions of asynchronous
   * updates, consumers of asynchronous scans, and dependents of futures. By default, this code runs
   * on pools of daemon threads, which grow when it blocks. A task that the executor refuses runs on
   * such a pool, too. With a channel of the caller's, callbacks of answers run on the channel's own
   * executor.
   *
   * <p>The answers of asynchronous operations arrive on the executor, too: it needs more threads
   * than there are callbacks that wait at the same time. On a single thread, a callback that waits
   * for a future never ends; blocking operations of the client need no thread of the executor.
   */
  public IndexClientBuilder executor(Executor executor) {
    this.executor = Objects.requireNonNull(executor, "executor");
    return this;
  }

  /** Sets the threads, with a clock and a timer of a test. */
  IndexClientBuilder threads(ClientThreads threads) {
    this.threads = threads;
    return this;
  }

  /**
   * Sets whether writes have numbers. Default true: the server carries out a numbered write once,
   * however often it is sent, so the client repeats a write that ends UNAVAILABLE until its
   * deadline, also at the next server on the same data. If false, or if the server is too old for
   * numbers, a failed write is not repeated.
   */
  public IndexClientBuilder exactlyOnce(boolean numbered) {
    this.exactlyOnce = numbered;
    return this;
  }

  /**
   * Sets the limit of the client's operations that are under way by calls. Default {@link
   * #MAX_IN_FLIGHT_DEFAULT}. At the limit, threads of the application wait for a permit, in order
   * and no longer than the deadline of their operation. An operation that gets no permit is not
   * sent, and fails with {@link OverloadedException}. A callback on a thread of the client never
   * waits: it may begin one operation in place of the one that has ended; further ones fail at once
   * at the limit. Direct reads, watches and snapshots do not count.
   *
   * @throws IllegalArgumentException unless it is positive
   */
  public IndexClientBuilder maxInFlight(int operations) {
    if (operations < 1) {
      throw new IllegalArgumentException("maxInFlight=" + operations + " is not positive");
    }
    this.maxInFlight = operations;
    return this;
  }

  /** Sets the directory of shared memory. Default {@code /dev/shm}; must be the server's. */
  public IndexClientBuilder shmDirectory(Path directory) {
    this.shmDirectory = Objects.requireNonNull(directory, "directory");
    return this;
  }

  /**
   * Builds a client. Does not wait for a connection: the first operation does. If the target is a
   * coordinator, waits up to 10 seconds for its answer.
   *
   * @throws IllegalStateException if there is neither a target nor a channel, or both, or a channel
   *     with credentials; or the coordinator names no node.
   */
  public IndexClient build() {
    if ((target == null) == (channel == null)) {
      throw new IllegalStateException("set a target or a channel: target=" + target);
    }
    if (channel != null && (credentials != null || user != null)) {
      throw new IllegalStateException("a channel has credentials of its own");
    }
    final ClientThreads used = threads();
    final Targets targets = channel == null ? Targets.of(target) : null;
    final LeaderChannel cluster =
        channel == null ? new LeaderChannel(targets, this::connect, used) : null;
    final Channel first =
        channel == null ? cluster.nodes().channel(targets.addresses().get(0)) : channel;
    final IndexCalls calls =
        new IndexCalls(
            channel == null && targets.areNodes() ? cluster : first,
            cluster,
            metrics,
            used,
            new ConnectionState(connectionListener, used),
            new InFlightLimit(maxInFlight),
            deadline == null ? FIRST_CALL_GRACE.toNanos() : 0);
    return new IndexClient(
        calls,
        new RepeatedWrites(calls, exactlyOnce),
        new DirectAccess(channel == null ? cluster : channel, shmDirectory, metrics),
        cluster,
        deadline == null ? DEADLINE_DEFAULT : deadline);
  }

  /**
   * Builds the channel of a target, without a client: for calls that a client has no method for. If
   * the target is a cluster, the channel sends each call of the index's services to the leader of
   * its index. It can be the {@link #channel} of a client. The caller closes it.
   *
   * @throws IllegalStateException if there is no target, or its coordinator names no node
   */
  public ManagedChannel buildChannel() {
    if (target == null) {
      throw new IllegalStateException("set a target");
    }
    return new LeaderChannel(Targets.of(target), this::connect, threads());
  }

  private ClientThreads threads() {
    return threads == null ? new ClientThreads(executor) : threads;
  }

  private ManagedChannel connect(String address) {
    final RingChannelBuilder builder =
        credentials == null
            ? RingChannelBuilder.forTarget(address).usePlaintext()
            : RingChannelBuilder.newChannelBuilder(address, credentials);
    if (user != null) {
      builder.sessionCredentials(user);
    }
    if (executor != null) {
      builder.executor(executor);
    }
    return (shmDirectory == null ? builder : builder.shmDirectory(shmDirectory)).build();
  }
}
