package dev.ringfetch.index.service;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.direct.NodeAddress;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.host.BackgroundThreads;
import dev.ringfetch.index.journal.StopFiles;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.log.NodeRecovery;
import dev.ringfetch.index.node.AcceptedLosses;
import dev.ringfetch.index.node.ClusterDescription;
import dev.ringfetch.index.node.CoordinatorContact;
import dev.ringfetch.index.node.CoordinatorSyncs;
import dev.ringfetch.index.node.GroupLeadership;
import dev.ringfetch.index.node.IndexCatalog;
import dev.ringfetch.index.node.IndexCreations;
import dev.ringfetch.index.node.NewGroups;
import dev.ringfetch.index.node.NodeQuestions;
import dev.ringfetch.index.node.OnlyNode;
import dev.ringfetch.index.peers.FabricMemory;
import dev.ringfetch.index.peers.GrpcPeers;
import dev.ringfetch.index.peers.PeerProcesses;
import dev.ringfetch.index.peers.ReplicaArrivals;
import dev.ringfetch.index.replay.ReplayLanes;
import dev.ringfetch.index.replication.HandOver;
import dev.ringfetch.index.replication.NodeContext;
import dev.ringfetch.index.replication.OrderlyStop;
import dev.ringfetch.index.replication.ReplicaSnapshots;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import io.grpc.BindableService;
import io.grpc.ChannelCredentials;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.agrona.ErrorHandler;
import org.jspecify.annotations.Nullable;

/**
 * A node of a cluster: has a replica of each group that it is a member of, and knows where all
 * others are led. One thread of its own drives what the coordinator and the time bring; what other
 * nodes send is carried out on the threads of the transport.
 *
 * <p>Safe for use by many threads.
 */
public final class ClusterNode implements AutoCloseable {
  /** Nodes that have each index, unless set. */
  public static final int REPLICAS_DEFAULT = 3;

  private static final Logger LOGGER = System.getLogger(ClusterNode.class.getName());

  /** How long the node's thread may stand in a step before an end goes on without it. */
  private static final long BEGIN_STOP_NS = TimeUnit.SECONDS.toNanos(30);

  private final Indexes indexes;
  private final Coordinator coordinator;
  private final NodeStart nodeStart;
  private final Node self; // without an address
  private final GrpcPeers peers;
  private final ReplayLanes lanes = new ReplayLanes(); // for the recovery
  private final NodeRecovery recovery;
  private final NodeContext context = new NodeContext();
  private final Replicas replicas;
  private final GroupLeadership leadership;
  private final IndexCreations creations;
  private final CoordinatorSyncs syncs;
  private final @Nullable StopFiles stops; // null: the node has no data directory
  private final NodeThread thread = new NodeThread(this::work, this::endCalls);
  private final IndexCatalog catalog;
  private final @Nullable Path shmDirectory; // null: the default
  private @Nullable ReplicationPath path; // null: not chosen
  private @Nullable FabricMemory memory;
  private final BackgroundThreads connector = new BackgroundThreads("index-memory-connector");
  private final BackgroundThreads synced = new BackgroundThreads("index-catch-up");
  private final BackgroundThreads remover = new BackgroundThreads("index-stop-remover");
  private boolean isHandedOver; // of the thread that ends the node
  private final CompletableFuture<Void> handedOver = new CompletableFuture<>();

  // Of the thread.
  private @Nullable OnlyNode only; // null: there may be other nodes
  private @Nullable HandOver handingOver; // null: none has begun, or it has ended
  private CoordinatorContact contact; // null where there are no other nodes

  /**
   * Creates the node of these indexes, which are not recovered yet.
   *
   * @param coordinator is this node's from now on
   * @param replicas nodes that an index should have which is created here
   * @param bootId of the host
   * @param shmDirectory of the rings between nodes; null for the default
   */
  public ClusterNode(
      Indexes indexes, Coordinator coordinator, int replicas, String bootId, Path shmDirectory) {
    this(
        indexes,
        coordinator,
        new NodeStart.OfCluster(indexes.memory()),
        replicas,
        bootId,
        shmDirectory);
  }

  ClusterNode(
      Indexes indexes,
      Coordinator coordinator,
      NodeStart nodeStart,
      int replicas,
      String bootId,
      @Nullable Path shmDirectory) {
    if (replicas < 1) {
      throw new IllegalArgumentException("replicas=" + replicas);
    }
    this.indexes = indexes;
    this.nodeStart = nodeStart;
    this.coordinator = coordinator;
    this.shmDirectory = shmDirectory;
    final IndexMemory memory = indexes.memory();
    final DataDirectory data = memory.data();
    final Node.Builder node =
        Node.newBuilder()
            .setId(data == null ? new SecureRandom().nextLong(1, Long.MAX_VALUE) : data.node())
            .setIncarnation(memory.process())
            .setDisk(data != null)
            .setBootId(bootId);
    PeerProcesses.self().ifPresent(node::setProcess);
    self = node.build();
    stops = data == null ? null : new StopFiles(new HostDisk(data.path()), data.origin());
    final NodeRecovery read = new NodeRecovery(this::store, ClusterNode::onError);
    recovery = nodeStart.wasAlone() ? read.alone() : read;
    memory.ofNode(recovery, isCopied -> nodeStart.onRead(recovery, isCopied));
    peers = new GrpcPeers(self, new ReplicaArrivals(this::replicas), shmDirectory);
    context
        .self(self)
        .coordinator(coordinator)
        .peers(isAlone() ? null : peers)
        .stores(this::store)
        .disks(data == null ? null : group -> new JournalDisk(memory.openJournal()))
        .stops(stops)
        .background(remover)
        .alarm(thread::wake)
        .errors(ClusterNode::onError);
    if (!isAlone()) {
      context.gates(memory.openGates(self.getId())::open);
    }
    this.replicas = new Replicas(context);
    leadership = new GroupLeadership(self.getId(), this.replicas);
    final NewGroups groups = new NewGroups(this.replicas, memory.durability(), memory.partitions);
    syncs = new CoordinatorSyncs(coordinator, thread::wake, System::nanoTime, synced);
    creations =
        new IndexCreations(this.replicas, coordinator, syncs, groups, replicas, thread::execute);
    final AcceptedLosses losses =
        new AcceptedLosses(
            this.replicas,
            coordinator,
            syncs,
            groups,
            thread::execute,
            new NodeQuestions(peers::channel));
    catalog =
        new NodeCatalog(
            indexes,
            this.replicas,
            self.getId(),
            isAlone(),
            new NodeCatalog.Requests(
                syncs,
                creations,
                losses,
                new ClusterDescription(
                    self.getId(),
                    this.replicas,
                    memory::openJournal,
                    stops,
                    data == null ? 0 : data.writtenMs())));
    coordinator.wakeUp(thread::wake);
    indexes.join(this);
  }

  private GroupStore store(GroupState group) {
    return new ReplicatedIndex(
        indexes,
        told -> leadership.confirm(group.getGroup(), told),
        grant -> leadership.describeGates(group.getGroup(), grant),
        lanes,
        isAlone());
  }

  private static void onError(Throwable failure) {
    LOGGER.log(Level.ERROR, "a replica has failed", failure);
  }

  /**
   * Chooses how records get from leaders to members; {@link ReplicationPath#AUTO} over {@link
   * IndexMemoryContext#FABRICS_DEFAULT} unless called. Called once at most, before the start.
   *
   * @param fabrics over which they are placed in memory, the preferred one first
   * @throws IOException where records are to be placed in memory and no fabric can be used
   */
  public ClusterNode replication(ReplicationPath chosen, List<String> fabrics) throws IOException {
    path = chosen;
    if (chosen == ReplicationPath.RPC) {
      return this;
    }
    try {
      memory = FabricMemory.open(fabrics, shmDirectory, connector);
      peers.memory(memory);
    } catch (IOException e) {
      if (chosen == ReplicationPath.ONE_SIDED) {
        throw new IOException("no one-sided replication: " + e.getMessage(), e);
      }
      LOGGER.log(Level.INFO, "replication by calls alone: " + e.getMessage());
    }
    return this;
  }

  /**
   * Creates the only node that there ever is of these indexes: its coordinator is in its data
   * directory, or in memory without one.
   *
   * @throws IOException if its file cannot be read or written, with the reason as its message
   */
  public static ClusterNode alone(Indexes indexes) throws IOException {
    final DataDirectory data = indexes.memory().data();
    final long node = data == null ? 0 : data.node();
    final LocalCoordinator.Truth truth =
        data == null
            ? new LocalCoordinator.Truth()
            : LocalCoordinator.Truth.open(data.path(), node, data.cluster());
    final NodeStart start = new NodeStart.Alone(indexes.memory(), truth, node);
    return new ClusterNode(indexes, truth.connect(), start, 1, DataDirectory.bootId(), null);
  }

  /** Whether there is never another node. */
  boolean isAlone() {
    return nodeStart.isAlone();
  }

  /**
   * Starts the only node, and waits until it leads all that it has.
   *
   * @throws IOException if it does not come to that, with the reason as its message
   */
  void startAlone() throws IOException {
    final CompletableFuture<Void> started = new CompletableFuture<>();
    only = new OnlyNode(replicas, coordinator, creations, () -> started.complete(null));
    begin("", reason -> started.completeExceptionally(new IOException(reason)));
    try {
      thread.orEnd(started).get();
      if (!started.isDone()) {
        throw new IOException("the server ends before it leads its indexes");
      }
    } catch (ExecutionException e) {
      throw new IOException(e.getCause().getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted before the indexes were there", e);
    }
  }

  /** As {@link NodeContext#nodeTimeout}. Called before the start. */
  public ClusterNode nodeTimeout(Duration timeout) {
    context.nodeTimeout(timeout);
    peers.nodeTimeout(timeout);
    return this;
  }

  /** Sets credentials before the start: other nodes must show certificates of their addresses. */
  public ClusterNode credentials(ChannelCredentials shown) {
    peers.credentials(shown);
    return this;
  }

  private void choosePath() {
    try {
      replication(ReplicationPath.AUTO, IndexMemoryContext.FABRICS_DEFAULT);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // not where there is a choice
    }
  }

  /**
   * The services by which other nodes reach this one; to be added to a server that takes messages
   * of 2 MiB.
   */
  public List<BindableService> services() {
    return isAlone() ? List.of() : List.of(peers.service());
  }

  /**
   * Takes part in the cluster from now on. Called once, when the indexes serve: clients of an
   * earlier process on the data directory have turned away then.
   *
   * @param address at which other nodes and clients reach the server: host and port
   * @param onReached is run once, when the node has read what the coordinator has; until then it
   *     knows of no index
   * @param refused receives, on the node's thread, the reason if this process cannot take part: its
   *     directory belongs to another cluster, or another process lives on it, or on a copy of it
   * @throws IllegalArgumentException if no channel can be made to the address
   * @throws IllegalStateException if the indexes do not serve yet
   */
  public void start(String address, Runnable onReached, Consumer<String> refused) {
    if (!NodeAddress.isValid(address)) {
      throw new IllegalArgumentException("not HOST:PORT, or [IPv6]:PORT: address=" + address);
    }
    if (!indexes.memory().isServed()) {
      throw new IllegalStateException("the indexes do not serve yet: address=" + address);
    }
    if (path == null) {
      choosePath();
    }
    contact = new CoordinatorContact(onReached);
    begin(address, refused);
  }

  private void begin(String address, Consumer<String> refused) {
    lanes.close();
    recovery.takeGroups().forEach(replicas::recover);
    if (stops != null) {
      stops.unread().putAll(recovery.unread());
    }
    if (indexes.memory().journal() != null) {
      indexes
          .memory()
          .journal()
          .startSnapshots(
              wake -> new ReplicaSnapshots(replicas, wake, indexes.watches()::progress));
    }
    final NodeAdmission admission = new NodeAdmission(indexes.memory().data(), refused);
    thread.execute(
        () -> coordinator.announce(self.toBuilder().setAddress(address).build(), admission));
    thread.start(replicas);
  }

  private Replicas replicas() {
    return replicas;
  }

  /** Answers the calls that wait for this thread, which does no more for them. */
  private void endCalls() {
    try {
      creations.close();
    } finally {
      syncs.close();
    }
  }

  /** Does the step of the thread; returns the number of things that were done. */
  private int work() {
    peers.work();
    syncs.work();
    final int done = replicas.work();
    if (handingOver != null && handingOver.isDone()) {
      handedOver.complete(null);
    }
    creations.tellWaiting();
    if (only != null) {
      only.work();
    } else {
      contact.tell(replicas.isCoordinated());
    }
    return done;
  }

  IndexCatalog catalog() {
    return catalog;
  }

  /**
   * Begins to end in order: members that go on lead what this node has led, and clients are sent to
   * them. Waits until they do, for two seconds at most. Others are told no more that this node
   * lives. Once.
   */
  public void handOver() {
    if (isAlone()) {
      return;
    }
    isHandedOver = true;
    try {
      final CompletableFuture<?> begun =
          thread.submit(() -> handingOver = new HandOver(replicas, System::nanoTime));
      if (thread.await(begun, HandOver.LIMIT_NS) && thread.await(handedOver, HandOver.LIMIT_NS)) {
        thread.execute(this::endHandOver);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void endHandOver() {
    handingOver.end();
    handingOver = null;
  }

  /**
   * Ends in order: hands over, unless that was done, and leaves the cluster. What the node has of
   * indexes at level memory stands in its data directory then, if it has one, for the next process.
   * Waits for the disk, and returns early where the caller is interrupted: what is not written then
   * is left out.
   *
   * @param unsaved is told, on the caller's thread or the node's, of each index that is left out,
   *     and why
   */
  public void stop(Consumer<String> unsaved) {
    if (!isHandedOver && thread.isRunning()) {
      handOver();
    }
    if (stops != null && thread.isRunning()) {
      final Thread caller = Thread.currentThread();
      final AtomicReference<OrderlyStop> begun = new AtomicReference<>();
      final ErrorHandler told = failure -> unsaved.accept(failure.getMessage());
      nodeStart.onStop(told);
      try {
        final CompletableFuture<?> beginning =
            thread.submit(
                () -> {
                  final Runnable wakeUp = () -> LockSupport.unpark(caller);
                  begun.set(new OrderlyStop(replicas, stops, wakeUp, told));
                });
        if (thread.await(beginning, BEGIN_STOP_NS)) {
          endReplicas(begun.get());
        } else {
          unsaved.accept("indexes at level memory: the node does not come to its end");
        }
      } catch (InterruptedException e) {
        caller.interrupt();
      }
    }
    close();
  }

  private void endReplicas(OrderlyStop stop) throws InterruptedException {
    while (!stop.isDone() && thread.isRunning()) { // each copy ends, or fails
      if (!stop.work()) {
        LockSupport.parkNanos(this, NodeThread.TICK_NS);
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  /** Leaves the cluster: leads nothing any more. Calls may be under way. Idempotent. */
  @Override
  public void close() {
    if (!thread.close()) {
      return; // closed before
    }
    lanes.close(); // the recovery may have failed
    replicas.close();
    peers.close();
    if (memory != null) {
      memory.close();
    }
    connector.close();
    synced.close();
    remover.close();
    coordinator.close();
  }
}
