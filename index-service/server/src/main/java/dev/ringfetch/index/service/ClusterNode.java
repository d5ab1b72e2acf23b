package dev.ringfetch.index.service;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.peers.FabricMemory;
import dev.ringfetch.index.peers.GrpcPeers;
import dev.ringfetch.index.peers.PeerListener;
import dev.ringfetch.index.replication.Confirmation;
import dev.ringfetch.index.replication.NodeRecovery;
import dev.ringfetch.index.replication.Replica;
import dev.ringfetch.index.replication.ReplicaSnapshots;
import dev.ringfetch.index.replication.ReplicaStatus;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GateMember;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.MemberDescription;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.NodeDescription;
import dev.ringfetch.index.v1.Trailers;
import io.grpc.BindableService;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/**
 * A node of a cluster: has a replica of each group that it is a member of, and knows where all
 * others are led. One thread of its own drives what the coordinator and the time bring; what other
 * nodes send is carried out on the threads of the transport.
 *
 * <p>Safe for use by many threads.
 */
public final class ClusterNode implements LeaderDirectory, AutoCloseable {
  /** Nodes that have each index, unless set. */
  public static final int REPLICAS_DEFAULT = 3;

  private static final Logger LOGGER = System.getLogger(ClusterNode.class.getName());

  /** How long the thread sleeps while nothing wakes it. */
  private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(5);

  /** How long a node waits for the coordinator before it says so. */
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(2);

  /** A look at a gate takes some microseconds where a card is fast; else others may run. */
  private static final int LOOK_SPINS = 100;

  private static final int LOOK_YIELDS = 100;
  private static final long LOOK_PARK_NS = TimeUnit.MICROSECONDS.toNanos(20);

  /** How long a creation or removal may take before it is given up. */
  private static final long REQUEST_LIMIT_NS = TimeUnit.SECONDS.toNanos(10);

  private static final long CLOSE_MILLIS = 5_000;

  private final Indexes indexes;
  private final Coordinator coordinator;
  private final int replicaCount;
  private final Node self; // without an address
  private final GrpcPeers peers;
  private final NodeRecovery recovery;
  private final Replicas replicas;
  private final SecureRandom random = new SecureRandom();
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Thread thread = new Thread(this::run, "index-cluster");
  private final Path shmDirectory; // null: the default
  private ReplicationPath path; // null: not chosen
  private FabricMemory memory; // null: none
  private final BackgroundThread connector = new BackgroundThread("index-memory-connector");
  private volatile boolean closed;
  private volatile boolean woken;

  /** Names of indexes that are created for writes. */
  private final Set<String> createdForWrites = ConcurrentHashMap.newKeySet();

  // Of the thread.
  private final IdleStrategy looking =
      new BackoffIdleStrategy(LOOK_SPINS, LOOK_YIELDS, LOOK_PARK_NS, LOOK_PARK_NS);

  private boolean reached;

  /** When to say that the coordinator has not been reached; 0 once it is said, or was reached. */
  private long patientUntilNs;

  private Runnable reachedFirst = () -> {};

  /** Creations whose groups do not serve yet. */
  private final List<Request> waiting = new ArrayList<>();

  /** An index that is to be there. */
  private record Wanted(String name, IndexKind kind, Durability durability) {}

  /** A creation that waits until the group serves. */
  private record Request(Wanted wanted, boolean done, Created told, long endNs) {}

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
    if (replicas < 1) {
      throw new IllegalArgumentException("replicas=" + replicas);
    }
    this.indexes = indexes;
    this.coordinator = coordinator;
    replicaCount = replicas;
    this.shmDirectory = shmDirectory;
    final IndexMemory memory = indexes.memory();
    self =
        Node.newBuilder()
            .setId(
                memory.hasSuccessors()
                    ? Math.max(1, memory.origin() & Long.MAX_VALUE)
                    : random.nextLong(1, Long.MAX_VALUE))
            .setIncarnation(memory.epoch())
            .setDisk(memory.hasSuccessors())
            .setBootId(bootId)
            .build();
    final Replicas.StoreFactory stores =
        group -> new ReplicatedIndex(indexes, barrier(group.getGroup()), gates(group.getGroup()));
    recovery = new NodeRecovery(stores, ClusterNode::onError);
    memory.ofNode(recovery);
    peers = new GrpcPeers(self, new Arrivals(), shmDirectory);
    final NodeGates gates = memory.openGates(self.getId());
    this.replicas =
        new Replicas(
            new Replicas.Context()
                .self(self)
                .coordinator(coordinator)
                .peers(peers)
                .stores(stores)
                .disks(memory.hasSuccessors() ? group -> new JournalDisk(memory.journal()) : null)
                .gates(gates::open)
                .alarm(this::wake)
                .errors(ClusterNode::onError));
    coordinator.wakeUp(this::wake);
    indexes.join(this);
    thread.setDaemon(true);
  }

  private Leadership.Barrier barrier(long group) {
    return told -> {
      final Replica replica = replicas.find(group);
      if (replica == null) {
        told.onConfirmed(false);
      } else {
        replica.confirm(new Question(told));
      }
    };
  }

  private Leadership.Gates gates(long group) {
    return grant -> {
      final Replica replica = replicas.find(group);
      final Configuration configuration = replica == null ? null : replica.status().readable();
      if (configuration == null) {
        throw Status.FAILED_PRECONDITION
            .withDescription("no epoch of the index serves here now: group=" + group)
            .asException();
      }
      grant.setGroup(group).setGroupEpoch(configuration.getEpoch());
      for (final Member member : configuration.getMembersList()) {
        final Node node = replicas.living().get(member.getNode());
        if (node == null || node.getIncarnation() != member.getIncarnation()) {
          throw Status.FAILED_PRECONDITION
              .withDescription("a member is not known to live: node=" + member.getNode())
              .asException();
        }
        final GateMember.Builder one =
            GateMember.newBuilder()
                .setNode(node.getId())
                .setIncarnation(node.getIncarnation())
                .setAddress(node.getAddress());
        if (node.getId() == self.getId()) {
          grant.addMembers(0, one);
        } else {
          grant.addMembers(one);
        }
      }
    };
  }

  /** A read that asks whether this node leads. */
  private static final class Question extends Confirmation {
    private final Leadership.Told told;

    Question(Leadership.Told told) {
      this.told = told;
    }

    @Override
    public void onConfirmed(boolean leads) {
      told.onConfirmed(leads);
    }
  }

  private static void onError(Throwable failure) {
    LOGGER.log(Level.ERROR, "a replica has failed", failure);
  }

  private void wake() {
    woken = true; // before: a wait for a look may take the permit
    LockSupport.unpark(thread);
  }

  /**
   * Chooses how records get from leaders to members; {@link ReplicationPath#AUTO} over {@link
   * IndexMemory#FABRICS_DEFAULT} unless called. Called once at most, before the start.
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

  private void choosePath() {
    try {
      replication(ReplicationPath.AUTO, IndexMemory.FABRICS_DEFAULT);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // not where there is a choice
    }
  }

  /** The service by which other nodes reach this one; to be added to the server. */
  public BindableService service() {
    return peers.service();
  }

  /**
   * Takes part in the cluster from now on. Called once, when the indexes serve: clients of an
   * earlier process on the data directory have turned away then.
   *
   * @param address at which other nodes and clients reach the server: host and port
   * @param onReached is run once, when the node has read what the coordinator has; until then it
   *     knows of no index
   * @throws IllegalStateException if the indexes do not serve yet
   */
  public void start(String address, Runnable onReached) {
    if (!indexes.memory().isServed()) {
      throw new IllegalStateException("the indexes do not serve yet: address=" + address);
    }
    if (path == null) {
      choosePath();
    }
    reachedFirst = onReached;
    recovery.takeGroups().forEach(replicas::recover);
    if (indexes.memory().journal() != null) {
      indexes.memory().journal().startSnapshots(wake -> new ReplicaSnapshots(replicas, wake));
    }
    execute(() -> coordinator.announce(self.toBuilder().setAddress(address).build()));
    thread.start();
  }

  private void execute(Runnable task) {
    tasks.add(task);
    wake();
  }

  private void run() {
    patientUntilNs = System.nanoTime() + PATIENCE_NS | 1;
    while (!closed) {
      try {
        woken = false;
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
          task.run();
        }
        peers.work();
        final int done = replicas.work();
        tellWaiting();
        tellReached();
        if (done == 0) {
          rest();
        }
      } catch (Throwable e) { // without this thread the node would be alive and do nothing
        LOGGER.log(Level.ERROR, "a step of the cluster's node has failed", e);
        LockSupport.parkNanos(this, TICK_NS);
      }
    }
  }

  /** Sleeps until something is due; while looks at gates are under way, waits for them instead. */
  private void rest() {
    final long beginNs = System.nanoTime();
    if (!replicas.look()) {
      LockSupport.parkNanos(this, TICK_NS);
      return;
    }
    looking.reset();
    do {
      looking.idle();
    } while (!woken && replicas.look() && System.nanoTime() - beginNs < TICK_NS);
  }

  private void tellReached() {
    final boolean now = replicas.isCoordinated();
    if (now == reached) {
      if (patientUntilNs != 0 && System.nanoTime() - patientUntilNs >= 0) {
        patientUntilNs = 0;
        LOGGER.log(
            Level.WARNING,
            "the coordinator has not been reached yet: until it is, this node knows of no index");
      }
      return;
    }
    reached = now;
    patientUntilNs = 0;
    if (now) {
      reachedFirst.run();
      reachedFirst = () -> {};
      LOGGER.log(Level.INFO, "the coordinator is reached");
    } else {
      LOGGER.log(
          Level.WARNING,
          "the coordinator is away: what is served goes on, and no node can take the place of one"
              + " that fails");
    }
  }

  /** The newest state of an index's group; null if the cluster has none. */
  private GroupState group(String index) {
    for (final GroupState group : replicas.states()) {
      if (group.getIndex().equals(index)) {
        return group;
      }
    }
    return null;
  }

  private static boolean serves(GroupState group) {
    return group.hasEstablished() && !group.hasWon();
  }

  private static void tellCreated(Request request, GroupState state) {
    final IndexDefinition definition = IndexDefinition.decoded(state.getDefinition());
    final Wanted wanted = request.wanted;
    String difference = null;
    if (wanted.kind != IndexKind.INDEX_KIND_UNSPECIFIED && wanted.kind != definition.kind()) {
      difference = "is of another kind: kind=" + definition.kind();
    } else if (wanted.durability != Durability.DURABILITY_UNSPECIFIED
        && wanted.durability != definition.durability()) {
      difference = "has another durability: durability=" + definition.durability();
    }
    if (difference != null) {
      request.told.onEnd(
          0,
          false,
          Status.ALREADY_EXISTS
              .withDescription("the index " + difference + " index=" + wanted.name)
              .asException());
    } else {
      request.told.onEnd(definition.incarnation(), request.done, null);
    }
  }

  private void tellWaiting() {
    if (waiting.isEmpty()) {
      return;
    }
    final long nowNs = System.nanoTime();
    waiting.removeIf(
        request -> {
          final GroupState group = group(request.wanted.name);
          if (group != null && serves(group)) {
            tellCreated(request, group);
            return true;
          }
          if (nowNs - request.endNs >= 0) {
            request.told.onEnd(0, false, noAnswer(request.wanted.name));
            return true;
          }
          return false;
        });
  }

  private static StatusException noAnswer(String index) {
    return Status.UNAVAILABLE
        .withDescription(
            "the coordinator or the nodes do not answer; whether it was done is unknown: index="
                + index)
        .asException();
  }

  @Override
  public void checkElsewhere(String name) throws StatusException {
    final GroupState group = group(name);
    if (group == null) {
      if (!replicas.isCoordinated()) {
        throw Status.UNAVAILABLE
            .withDescription(
                "the coordinator is not reached, so it is unknown whether there is such an index:"
                    + " index="
                    + name)
            .asException();
      }
      return;
    }
    final long leader =
        group.hasWon() ? group.getWon().getLeader() : group.getEstablished().getLeader();
    final Node node = replicas.living().get(leader);
    final Metadata trailers = new Metadata();
    trailers.put(Trailers.NODES, String.join(",", addresses()));
    if (node != null) {
      trailers.put(Trailers.LEADER, node.getAddress()); // this node perhaps, in a moment
    }
    if (leader == self.getId() || node == null) {
      throw Status.UNAVAILABLE
          .withDescription("the index has no leader now; send again: index=" + name)
          .asException(trailers);
    }
    throw Status.FAILED_PRECONDITION
        .withDescription(
            "another node leads the index: index=" + name + " leader=" + node.getAddress())
        .asException(trailers);
  }

  @Override
  public List<String> addresses() {
    return replicas.living().values().stream().map(Node::getAddress).sorted().toList();
  }

  @Override
  public void create(String index, IndexKind kind, Durability durability, Created told) {
    final String name = index.isEmpty() ? Indexes.DEFAULT_NAME : index;
    execute(
        () -> {
          try {
            begin(new Wanted(name, kind, durability), told);
          } catch (RuntimeException e) {
            told.onEnd(0, false, noAnswer(name));
            throw e;
          }
        });
  }

  @Override
  public void createForWrite(String index) {
    if (createdForWrites.add(index)) {
      create(
          index,
          IndexKind.INDEX_KIND_UNSPECIFIED,
          Durability.DURABILITY_UNSPECIFIED,
          (incarnation, created, failure) -> createdForWrites.remove(index));
    }
  }

  private void begin(Wanted wanted, Created told) {
    final String index = wanted.name;
    final GroupState known = group(index);
    final long endNs = System.nanoTime() + REQUEST_LIMIT_NS;
    if (known != null) {
      await(new Request(wanted, false, told, endNs), known);
      return;
    }
    if (replicas.states().size() >= Indexes.MAX_INDEXES) {
      told.onEnd(
          0,
          false,
          Status.RESOURCE_EXHAUSTED
              .withDescription("too many indexes: limit=" + Indexes.MAX_INDEXES + " a cluster")
              .asException());
      return;
    }
    final Durability durability =
        wanted.durability == Durability.DURABILITY_UNSPECIFIED
            ? indexes.memory().durability()
            : wanted.durability;
    final List<Node> able =
        replicas.living().values().stream()
            .filter(node -> node.getDisk() || durability == Durability.MEMORY)
            .toList();
    if (able.isEmpty() && !replicas.living().isEmpty()) {
      told.onEnd(
          0,
          false,
          Status.FAILED_PRECONDITION
              .withDescription("no node has a data directory: durability=" + durability)
              .asException());
      return;
    }
    final List<Node> chosen = Placement.choose(able, index, replicaCount);
    if (chosen.isEmpty()) {
      told.onEnd(0, false, noAnswer(index));
      return;
    }
    coordinator.create(
        first(new Wanted(index, wanted.kind, durability), chosen),
        (result, state) -> {
          if (state == null) {
            told.onEnd(0, false, noAnswer(index));
          } else {
            final boolean done = result == Coordinator.Result.DONE;
            await(new Request(wanted, done, told, endNs), state);
          }
        });
  }

  private void await(Request request, GroupState state) {
    if (serves(state)) {
      tellCreated(request, state);
    } else {
      waiting.add(request);
    }
  }

  private GroupState first(Wanted wanted, List<Node> chosen) {
    final IndexKind served = wanted.kind == IndexKind.HASH ? IndexKind.HASH : IndexKind.ORDERED;
    final IndexDefinition definition =
        new IndexDefinition(
            served,
            wanted.durability,
            served == IndexKind.HASH ? indexes.memory().partitions() : 1,
            random.nextLong(),
            StoreMemory.mix(random.nextLong()) | 1);
    final Configuration.Builder configuration =
        Configuration.newBuilder().setLeader(chosen.get(0).getId()).setNonce(random.nextLong() | 1);
    for (final Node node : chosen) {
      configuration.addMembers(
          Member.newBuilder().setNode(node.getId()).setIncarnation(node.getIncarnation()));
    }
    return GroupState.newBuilder()
        .setIndex(wanted.name)
        .setDefinition(definition.encoded())
        .setReplicas(replicaCount)
        .setWon(configuration)
        .build();
  }

  @Override
  public void drop(String index, Created told) {
    execute(
        () -> {
          final GroupState known = group(index.isEmpty() ? Indexes.DEFAULT_NAME : index);
          if (!replicas.isCoordinated()) {
            told.onEnd(0, false, noAnswer(index));
            return;
          }
          if (known == null) {
            told.onEnd(0, false, null);
            return;
          }
          coordinator.drop(
              known,
              (result, state) -> {
                if (result == Coordinator.Result.DONE) {
                  told.onEnd(
                      IndexDefinition.decoded(known.getDefinition()).incarnation(), true, null);
                } else {
                  told.onEnd(0, false, noAnswer(index));
                }
              });
        });
  }

  @Override
  public List<IndexDescription> ledElsewhere() {
    return replicas.states().stream()
        .filter(group -> indexes.find(group.getIndex()) == null)
        .map(
            group ->
                indexes.describeElsewhere(
                    group.getIndex(), IndexDefinition.decoded(group.getDefinition())))
        .toList();
  }

  @Override
  public DescribeClusterResponse describe() {
    final DescribeClusterResponse.Builder response =
        DescribeClusterResponse.newBuilder()
            .setNode(self.getId())
            .setCoordinatorReached(replicas.isCoordinated());
    replicas.living().values().stream()
        .sorted(Comparator.comparing(Node::getAddress))
        .forEach(
            node ->
                response.addNodes(
                    NodeDescription.newBuilder()
                        .setNode(node.getId())
                        .setAddress(node.getAddress())));
    replicas.states().stream()
        .sorted(Comparator.comparing(GroupState::getIndex))
        .forEach(group -> response.addGroups(describe(group)));
    return response.build();
  }

  private GroupDescription describe(GroupState group) {
    final Configuration newest = group.hasWon() ? group.getWon() : group.getEstablished();
    final GroupDescription.Builder description =
        GroupDescription.newBuilder()
            .setIndex(group.getIndex())
            .setEpoch(newest.getEpoch())
            .setLeader(newest.getLeader())
            .setEstablished(!group.hasWon())
            .setReplicas(group.getReplicas());
    final Replica replica = replicas.find(group.getGroup());
    final ReplicaStatus status = replica == null ? null : replica.status();
    final Map<Long, ReplicaStatus.MemberLag> lags = new HashMap<>();
    if (status != null) {
      description.setRole(status.state().name()).setCommit(status.commit());
      for (final ReplicaStatus.MemberLag member : status.members()) {
        lags.put(member.node(), member);
      }
    }
    for (final Member member : newest.getMembersList()) {
      final MemberDescription.Builder one =
          MemberDescription.newBuilder().setNode(member.getNode());
      final ReplicaStatus.MemberLag lag = lags.get(member.getNode());
      if (lag != null) {
        one.setLag(Math.max(0, status.end() - lag.received())).setReplicatedBy(lag.replicatedBy());
      }
      description.addMembers(one);
    }
    return description.build();
  }

  /** Leaves the cluster: leads nothing any more. Calls may be under way. Idempotent. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    wake();
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!thread.isAlive()) { // else it stands in a step, and ends what it has begun
      waiting.forEach(request -> request.told.onEnd(0, false, noAnswer(request.wanted.name)));
      waiting.clear();
    }
    replicas.close();
    peers.close();
    if (memory != null) {
      memory.close();
    }
    connector.close();
    coordinator.close();
  }

  /** Brings the replicas what other nodes send. */
  private final class Arrivals implements PeerListener {
    @Override
    public void onConnected(long node) {
      replicas.onConnected(node);
    }

    @Override
    public void onDisconnected(long node) {
      replicas.onDisconnected(node);
    }

    @Override
    public boolean isNode(Node leader) {
      return replicas.isNode(leader);
    }

    @Override
    public void onLeaderGone(long leader) {
      replicas.onLeaderGone(leader);
    }

    @Override
    public Runnable onMessage(long leader, LeaderMessage message) {
      return replicas.onMessage(leader, message);
    }

    @Override
    public void onAnswer(long member, MemberMessage answer) {
      replicas.onAnswer(member, answer);
    }
  }
}
