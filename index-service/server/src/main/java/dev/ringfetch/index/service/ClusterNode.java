package dev.ringfetch.index.service;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.peers.GrpcPeers;
import dev.ringfetch.index.peers.PeerListener;
import dev.ringfetch.index.replication.Replica;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.GroupState;
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
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

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

  /** How long a creation or removal may take before it is given up. */
  private static final long REQUEST_LIMIT_NS = TimeUnit.SECONDS.toNanos(10);

  private static final long CLOSE_MILLIS = 5_000;

  private final Indexes indexes;
  private final Coordinator coordinator;
  private final int replicaCount;
  private final Node self; // without an address
  private final GrpcPeers peers;
  private final Replicas replicas;
  private final SecureRandom random = new SecureRandom();
  private final Map<String, GroupState> groups = new ConcurrentHashMap<>();
  private final Map<Long, Node> nodes = new ConcurrentHashMap<>();
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Thread thread = new Thread(this::run, "index-cluster");
  private volatile boolean connected;
  private volatile boolean closed;

  /** Requests whose group does not serve yet, or is not gone; of the thread. */
  private final List<Request> waiting = new ArrayList<>();

  /**
   * A creation or removal that waits for its effect.
   *
   * @param dropped whether it is a removal
   */
  private record Request(
      String index, IndexKind kind, boolean dropped, boolean done, Created told, long endNs) {}

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
    self =
        Node.newBuilder()
            .setId(random.nextLong(1, Long.MAX_VALUE))
            .setIncarnation(indexes.memory().epoch())
            .setBootId(bootId)
            .build();
    peers = new GrpcPeers(self, new Arrivals(), shmDirectory);
    this.replicas =
        new Replicas(
            new Replicas.Context(
                self,
                coordinator,
                new Observer(),
                peers,
                (group, replica) -> new ReplicatedIndex(indexes, barrier(replica))));
    coordinator.wakeUp(() -> LockSupport.unpark(thread));
    indexes.join(this);
    thread.setDaemon(true);
  }

  private static Leadership.Barrier barrier(Replica replica) {
    return told -> replica.confirm(told::onConfirmed);
  }

  /** The service by which other nodes reach this one; to be added to the server. */
  public BindableService service() {
    return peers.service();
  }

  /**
   * Takes part in the cluster from now on.
   *
   * @param address at which other nodes and clients reach the server: host and port
   */
  public void start(String address) {
    execute(() -> coordinator.announce(self.toBuilder().setAddress(address).build()));
    thread.start();
  }

  private void execute(Runnable task) {
    tasks.add(task);
    LockSupport.unpark(thread);
  }

  private void run() {
    while (!closed) {
      try {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
          task.run();
        }
        peers.work();
        if (!replicas.work(System.nanoTime())) {
          LockSupport.parkNanos(this, TICK_NS);
        }
        endLate();
      } catch (RuntimeException e) {
        LOGGER.log(Level.ERROR, "a step of the cluster's node has failed", e);
        LockSupport.parkNanos(this, TICK_NS);
      }
    }
  }

  /** What the coordinator tells, besides what the replicas do with it. On the thread. */
  private final class Observer implements Coordinator.Listener {
    @Override
    public void onGroup(GroupState state) {
      groups.put(state.getIndex(), state);
      final boolean serves = state.hasEstablished() && !state.hasWon();
      waiting.removeIf(
          request -> {
            if (!serves || request.dropped || !request.index.equals(state.getIndex())) {
              return false;
            }
            tellCreated(request, state);
            return true;
          });
    }

    @Override
    public void onDropped(long group) {
      groups.values().removeIf(state -> state.getGroup() == group);
    }

    @Override
    public void onNodes(Collection<Node> living) {
      nodes.keySet().retainAll(living.stream().map(Node::getId).toList());
      living.forEach(node -> nodes.put(node.getId(), node));
    }

    @Override
    public void onConnected(boolean reached) {
      connected = reached;
      LOGGER.log(
          reached ? Level.INFO : Level.WARNING,
          reached
              ? "the coordinator is reached"
              : "the coordinator is away: what is served goes on, and no node can take the place of"
                  + " one that fails");
    }
  }

  private static void tellCreated(Request request, GroupState state) {
    final IndexDefinition definition = IndexDefinition.decoded(state.getDefinition());
    if (request.kind != IndexKind.INDEX_KIND_UNSPECIFIED && request.kind != definition.kind()) {
      request.told.onEnd(
          0,
          false,
          Status.ALREADY_EXISTS
              .withDescription(
                  "the index is of another kind: index="
                      + request.index
                      + " kind="
                      + definition.kind())
              .asException());
    } else {
      request.told.onEnd(definition.incarnation(), request.done, null);
    }
  }

  private void endLate() {
    final long nowNs = System.nanoTime();
    waiting.removeIf(
        request -> {
          final boolean late = nowNs - request.endNs >= 0;
          if (late) {
            request.told.onEnd(0, false, noAnswer(request.index));
          }
          return late;
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
    final GroupState group = groups.get(name);
    if (group == null) {
      return;
    }
    final long leader =
        group.hasWon() ? group.getWon().getLeader() : group.getEstablished().getLeader();
    final Node node = nodes.get(leader);
    if (leader == self.getId() || node == null) {
      throw Status.UNAVAILABLE
          .withDescription("the index has no leader now; send again: index=" + name)
          .asException();
    }
    final Metadata trailers = new Metadata();
    trailers.put(Trailers.LEADER, node.getAddress());
    trailers.put(Trailers.NODES, String.join(",", addresses()));
    throw Status.FAILED_PRECONDITION
        .withDescription(
            "another node leads the index: index=" + name + " leader=" + node.getAddress())
        .asException(trailers);
  }

  @Override
  public List<String> addresses() {
    return nodes.values().stream().map(Node::getAddress).sorted().toList();
  }

  @Override
  public void create(String index, IndexKind kind, Created told) {
    execute(() -> begin(index.isEmpty() ? Indexes.DEFAULT_NAME : index, kind, told));
  }

  private void begin(String index, IndexKind kind, Created told) {
    final GroupState known = groups.get(index);
    final long endNs = System.nanoTime() + REQUEST_LIMIT_NS;
    if (known != null) {
      await(new Request(index, kind, false, false, told, endNs), known);
      return;
    }
    final List<Node> chosen = Placement.choose(nodes.values(), index, replicaCount);
    if (chosen.isEmpty()) {
      told.onEnd(0, false, noAnswer(index));
      return;
    }
    coordinator.create(
        first(index, kind, chosen),
        (result, state) -> {
          if (state == null) {
            told.onEnd(0, false, noAnswer(index));
          } else {
            final boolean done = result == Coordinator.Result.DONE;
            await(new Request(index, kind, false, done, told, endNs), state);
          }
        });
  }

  private void await(Request request, GroupState state) {
    if (state.hasEstablished() && !state.hasWon()) {
      tellCreated(request, state);
    } else {
      waiting.add(request);
    }
  }

  private GroupState first(String index, IndexKind kind, List<Node> chosen) {
    final IndexKind served = kind == IndexKind.HASH ? IndexKind.HASH : IndexKind.ORDERED;
    final IndexDefinition definition =
        new IndexDefinition(
            served,
            Durability.MEMORY,
            served == IndexKind.HASH ? indexes.memory().partitions() : 1,
            random.nextLong(),
            StoreMemory.mix(random.nextLong()) | 1);
    final Configuration.Builder configuration =
        Configuration.newBuilder()
            .setLeader(chosen.get(0).getId())
            .setNonce(random.nextLong());
    for (final Node node : chosen) {
      configuration.addMembers(
          Member.newBuilder().setNode(node.getId()).setIncarnation(node.getIncarnation()));
    }
    return GroupState.newBuilder()
        .setIndex(index)
        .setDefinition(definition.encoded())
        .setReplicas(replicaCount)
        .setWon(configuration)
        .build();
  }

  @Override
  public void drop(String index, Created told) {
    execute(
        () -> {
          final GroupState known = groups.get(index.isEmpty() ? Indexes.DEFAULT_NAME : index);
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
  public DescribeClusterResponse describe() {
    final DescribeClusterResponse.Builder response =
        DescribeClusterResponse.newBuilder()
            .setNode(self.getId())
            .setCoordinatorReached(connected);
    nodes.values().stream()
        .sorted(Comparator.comparing(Node::getAddress))
        .forEach(
            node ->
                response.addNodes(
                    NodeDescription.newBuilder()
                        .setNode(node.getId())
                        .setAddress(node.getAddress())));
    for (final GroupState group : new TreeMap<>(groups).values()) {
      response.addGroups(describe(group));
    }
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
    final Replica.Status status = replica == null ? null : replica.status();
    for (final Member member : newest.getMembersList()) {
      final MemberDescription.Builder described =
          MemberDescription.newBuilder().setNode(member.getNode());
      if (status != null) {
        described.setLag(status.lag(member.getNode()));
      }
      description.addMembers(described);
    }
    if (status != null) {
      description.setRole(status.role()).setCommit(status.commit());
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
    LockSupport.unpark(thread);
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    replicas.close();
    peers.close();
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
    public void onLeaderGone(long leader) {
      replicas.onLeaderGone(leader);
    }

    @Override
    public void onMessage(long leader, LeaderMessage message) {
      replicas.onMessage(leader, message);
    }

    @Override
    public void onAnswer(long member, MemberMessage answer) {
      replicas.onAnswer(member, answer);
    }
  }
}
