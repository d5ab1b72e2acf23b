package dev.ringfetch.index.replication;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The replicas of a node: each group of which the node is or was a member since its process began.
 *
 * <p>One thread calls {@link #work}, which alone uses the coordinator, and brings the time: after
 * each {@link #rest}, or the alarm; in between, {@link #look}. Any threads bring messages, in the
 * order in which they came over each connection, and no more of a connection once one of the next
 * came. None waits.
 */
public final class Replicas implements AutoCloseable {
  /** The shortest node timeout. */
  public static final int NODE_TIMEOUT_MIN_MS = 200;

  /** The longest one: others wait for a leader that is gone several times as long. */
  public static final int NODE_TIMEOUT_MAX_MS = 60_000;

  /** The node timeout unless one is set. */
  public static final Duration NODE_TIMEOUT_DEFAULT =
      Duration.ofNanos(ReplicaContext.Limits.NODE_TIMEOUT_DEFAULT_NS);

  /** A replica waits for a node so many node timeouts at most, where messages come late. */
  public static final int NODE_TIMEOUTS_MOST = Silence.MOST;

  private final NodeContext context;
  private final NodeRest rest;
  private final NodeHeartbeats heartbeats;
  private final UnknownRecords unknown = new UnknownRecords();
  private final ReplicaReports reports;
  private final ReplicaRequests requests;
  private final Map<Long, Replica> replicas = new ConcurrentHashMap<>();
  private final Map<Long, GroupState> groups = new ConcurrentHashMap<>();
  private final EarlierGroups earlier;
  private final StopRecordRemoval stopRecords;

  private final Set<Long> connected = ConcurrentHashMap.newKeySet();
  private volatile Map<Long, Node> living = Map.of();
  private volatile boolean coordinated;
  private volatile boolean isEnding;

  // Of the thread that works.
  private boolean reached;

  private final Coordinator.Listener listener = new Events();

  /** Creates the replicas, of which there is none yet. */
  public Replicas(NodeContext context) {
    this.context = context;
    rest = new NodeRest(context.alarm);
    earlier = new EarlierGroups(replicas, groups, context.errors);
    Objects.requireNonNull(context.self, "self");
    stopRecords =
        new StopRecordRemoval(
            context.stops,
            context.self,
            context.clock,
            new StopRecordRemoval.Removers(context.background, context.alarm),
            context.errors);
    Objects.requireNonNull(context.coordinator, "coordinator");
    Objects.requireNonNull(context.stores, "stores");
    heartbeats = new NodeHeartbeats(context.peers, context.limits, context.clock);
    reports = new ReplicaReports(replicas, context.limits);
    requests =
        new ReplicaRequests(
            replicas.values(),
            context.coordinator,
            stopRecords,
            new PeerConnections(context.peers));
  }

  /**
   * Goes on with what an earlier process has left on the disk. Called before all else, for each
   * group.
   */
  public void recover(GroupRecovery recovery) {
    final GroupState state = recovery.state();
    earlier.add(state);
    replicas.put(state.getGroup(), new Replica(context(state, recovery.store()), recovery, rest));
  }

  /** The replica of a group; null if this node never was a member. */
  public @Nullable Replica find(long group) {
    return replicas.get(group);
  }

  /** All replicas. */
  public Collection<Replica> all() {
    return replicas.values();
  }

  /** The replicas of which the disk may have something, in the order of their groups. */
  List<Replica> onDisk() {
    final Map<Long, Replica> found = new TreeMap<>();
    replicas.values().stream()
        .filter(Replica::isOnDisk)
        .forEach(replica -> found.put(replica.group(), replica));
    // Later: one that becomes unknown is found there, if not before.
    earlier.unknown().forEach(found::putIfAbsent);
    return found.values().stream().filter(Replica::isOnDisk).toList();
  }

  /**
   * Begins to end the node in order: it joins nothing any more, and has others lead what it leads.
   * On the thread that works.
   */
  void beginEnd() {
    synchronized (replicas) { // none is created later
      isEnding = true;
    }
    replicas.values().forEach(Replica::onNodeEnds);
  }

  /**
   * Ends the announcement of a node that ends, unless it leads something yet, and would be missed.
   * On the thread that works.
   */
  void endHandOver() {
    replicas.values().forEach(Replica::onHandOverEnds);
    if (replicas.values().stream().noneMatch(replica -> replica.status().state().isLeader())) {
      context.coordinator.withdraw();
    }
  }

  /**
   * Goes on to end the node in order, and hands nothing over any more. On the thread that works.
   *
   * @return all replicas, which get no more
   */
  Collection<Replica> endInOrder() {
    beginEnd();
    replicas.values().forEach(Replica::onHandOverEnds);
    return List.copyOf(replicas.values());
  }

  /**
   * Claims the record of a group, which this process writes: it is not removed any more. False
   * while that of an earlier process is being removed. On any thread.
   */
  boolean claimStopRecord(long group) {
    return stopRecords.claim(group);
  }

  /** The newest state of a group; null if there is none. */
  public @Nullable GroupState state(long group) {
    return groups.get(group);
  }

  /** The newest state of an index's group; null if the cluster has none. */
  public @Nullable GroupState state(String index) {
    for (final GroupState group : groups.values()) {
      if (group.getIndex().equals(index)) {
        return group;
      }
    }
    return null;
  }

  /** The newest states of all groups. */
  public Collection<GroupState> states() {
    return groups.values();
  }

  /** The nodes that live, as the coordinator knows, by their ids. */
  public Map<Long, Node> living() {
    return living;
  }

  /** Whether the coordinator can be reached. */
  public boolean isCoordinated() {
    return coordinated;
  }

  /** This node is connected to another one as a leader. */
  public void onConnected(long node) {
    connected.add(node);
    heartbeats.onConnected(node);
    replicas.values().forEach(replica -> replica.onConnected(node));
  }

  /** The connection as a leader has ended, or could not be made. */
  public void onDisconnected(long node) {
    connected.remove(node);
    heartbeats.onDisconnected(node);
    replicas.values().forEach(replica -> replica.onDisconnected(node));
  }

  /** The connection of a leader to this node has ended. */
  public void onLeaderGone(long node) {
    heartbeats.onLeaderGone(node);
    replicas.values().forEach(replica -> replica.onLeaderGone(node));
  }

  /**
   * A leader's message has come.
   *
   * @return what the caller runs then, without a lock: it carries the message out, and what others
   *     have left meanwhile
   */
  public Runnable onMessage(long leader, LeaderMessage message) {
    if (message.hasHeartbeat()) {
      return () -> {
        heartbeats.onHeartbeat(leader, message.getHeartbeat(), context.clock.getAsLong());
        reports.take(leader, message.getHeartbeat());
      };
    }
    final GroupState state = groups.get(message.getGroup());
    final boolean isOfOther = Configurations.isLedByOther(state, message.getEpoch(), leader);
    Replica replica = replicas.get(message.getGroup());
    if (replica == null && message.hasSnapshotBegin() && !isOfOther) {
      replica = state == null || !canHave(state) ? null : create(state);
    }
    final boolean joins = message.hasSnapshotBegin() || message.hasResume();
    if (replica != null && !isOfOther && !(isEnding && joins)) {
      replica.onMessage(leader, message);
      return replica::drive;
    }
    return () ->
        context.peers.answer(
            leader,
            MemberMessage.newBuilder()
                .setGroup(message.getGroup())
                .setEpoch(message.getEpoch())
                .build());
  }

  /** Whether a process is announced as a node, or is a member of a group. */
  public boolean isNode(Node process) {
    final Node announced = living.get(process.getId());
    return (announced != null && announced.getIncarnation() == process.getIncarnation())
        || groups.values().stream()
            .anyMatch(
                group ->
                    Configurations.has(group.getEstablished(), process)
                        || Configurations.has(group.getWon(), process));
  }

  /** A member's answer has come. */
  public void onAnswer(long member, MemberMessage answer) {
    if (answer.hasHeartbeat()) {
      heartbeats.onAnswer(member, context.clock.getAsLong());
      reports.take(member, answer.getHeartbeat());
      return;
    }
    final Replica replica = replicas.get(answer.getGroup());
    if (replica != null) {
      replica.onAnswer(member, answer);
    }
  }

  /**
   * Polls the coordinator, makes the replicas' requests, connects, and brings the time.
   *
   * @return number of things that were done
   */
  public int work() {
    rest.work();
    final int polled = context.coordinator.poll(listener);
    if (reached && !coordinated) {
      coordinated(true); // all groups that there are have been delivered
    }
    final long nowNs = context.clock.getAsLong();
    final boolean isOneSilent = heartbeats.work(reports.stuck(nowNs), nowNs);
    final int made = rest.takeNew(nowNs) || isOneSilent ? requests.work(isOneSilent, nowNs) : 0;
    return polled + made + stopRecords.work(replicas::get);
  }

  /** Begins a rest, after {@link #work}; returns the time until which it lasts by the clock. */
  public long rest() {
    final long nowNs = context.clock.getAsLong();
    return heartbeats.plan(rest.begin(replicas.values(), nowNs, heartbeats.restNs(nowNs)));
  }

  /**
   * Takes the results of looks at members' gates, of requests that take time. To be called again
   * soon while there are more: nobody else does, unless something comes.
   *
   * @return whether looks are under way
   */
  public boolean look() {
    return requests.look();
  }

  private void coordinated(boolean now) {
    coordinated = now;
    if (now) {
      earlier.onGroupsKnown(listener::onDropped);
    }
    replicas.values().forEach(replica -> replica.onCoordinated(this::isCoordinated));
  }

  /** Creates a replica, or finds the one that there is; null if the node ends. */
  private @Nullable Replica create(GroupState state) {
    final Replica created;
    synchronized (replicas) {
      final Replica there = replicas.get(state.getGroup());
      if (there != null || isEnding) {
        return there;
      }
      created = new Replica(context(state, context.stores.create(state)), rest);
      replicas.put(state.getGroup(), created);
    }
    if (!groups.containsKey(state.getGroup())) { // dropped meanwhile, and perhaps before the put
      replicas.remove(state.getGroup(), created);
      created.close();
    }
    created.onCoordinated(this::isCoordinated);
    created.onNodes(this::living);
    created.onConnections(connected);
    created.onGroup(state);
    return created;
  }

  private ReplicaContext context(GroupState state, GroupStore store) {
    return new ReplicaContext(
        state.getGroup(),
        context.self,
        partitions(state),
        context.peers,
        store,
        context.clock,
        context.nonces,
        context.limits,
        context.errors,
        IndexDefinition.isOnDisk(state) ? context.disks.apply(state.getGroup()) : null,
        Configurations.awaitedDisks(state),
        context.gates.apply(state.getGroup()),
        heartbeats,
        unknown);
  }

  /** Whether this node can be a member. */
  private boolean canHave(GroupState state) {
    return (context.disks != null || !IndexDefinition.isOnDisk(state)) && !earlier.isTaken(state);
  }

  private static int partitions(GroupState state) {
    final IndexDefinition definition = IndexDefinition.decoded(state.getDefinition());
    if (definition == null) {
      throw new IllegalArgumentException("group=" + state.getGroup() + " has no definition");
    }
    return definition.partitions();
  }

  /** Ends all replicas: their stores serve no more. */
  @Override
  public void close() {
    replicas.values().forEach(Replica::close);
    earlier.close();
  }

  /** The listener of the coordinator. */
  private final class Events implements Coordinator.Listener {
    @Override
    public void onGroup(GroupState state) {
      groups.put(state.getGroup(), state);
      final Replica replica = replicas.get(state.getGroup());
      if (!earlier.hasPutAside(state.getGroup())) {
        stopRecords.onGroup(state, replica, living);
      }
      if (replica != null) {
        replica.onGroup(state);
      } else if (!state.hasEstablished()
          && Configurations.has(state.getWon(), context.self)
          && canHave(state)) {
        create(state);
      }
    }

    @Override
    public void onDropped(long group) {
      groups.remove(group);
      final Replica replica = replicas.remove(group);
      if (replica != null) {
        replica.drop();
      }
      if (!earlier.hasPutAside(group)) {
        stopRecords.remove(group);
      }
    }

    @Override
    public void onDroppedGroups(Collection<Long> newest) {
      earlier.onDroppedGroups(newest, stopRecords::remove);
    }

    @Override
    public void onNodes(Collection<Node> nodes) {
      final Map<Long, Node> byId = new HashMap<>();
      nodes.forEach(node -> byId.put(node.getId(), node));
      living = Collections.unmodifiableMap(byId);
      groups.forEach(
          (group, state) -> {
            if (!earlier.hasPutAside(group)) {
              stopRecords.onGroup(state, replicas.get(group), living);
            }
          });
      replicas.values().forEach(replica -> replica.onNodes(Replicas.this::living));
    }

    @Override
    public void onConnected(boolean reachable) {
      reached = reachable;
      if (!reachable) {
        coordinated(false);
      }
    }
  }
}
