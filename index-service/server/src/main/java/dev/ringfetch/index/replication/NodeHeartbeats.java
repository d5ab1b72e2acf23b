package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.FailedReplica;
import dev.ringfetch.index.v1.Heartbeat;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The heartbeats of a node for all its idle groups: it sends one to each node with members of
 * groups that it leads, in an interval, and answers those of other leaders. So idle groups cost
 * nothing, however many there are.
 *
 * <p>A heartbeat speaks for each idle replica of the node but those that it names: replicas that
 * have left their epoch, and replicas whose owner is stuck in a cycle.
 *
 * <p>Messages come, and replicas begin and end to rely, on any thread; the node's thread sends and
 * judges.
 */
final class NodeHeartbeats {
  /** The longest rest where no other node waits for this one: requests end so much late. */
  private static final long ALONE_NS = TimeUnit.SECONDS.toNanos(1);

  private final @Nullable Peers peers; // null: there are no other nodes
  private final ReplicaContext.Limits limits;
  private final Map<Long, PeerHeartbeats> members = new ConcurrentHashMap<>();
  private final Map<Long, PeerHeartbeats> leaders = new ConcurrentHashMap<>();
  private final LongSupplier clock;
  private volatile List<FailedReplica> stuck = List.of();
  private volatile long plannedNs = Long.MAX_VALUE; // when the thread that works is to go on

  NodeHeartbeats(@Nullable Peers peers, ReplicaContext.Limits limits, LongSupplier clock) {
    this.peers = peers;
    this.limits = limits;
    this.clock = clock;
  }

  /** The heartbeats to a node with members of this node's groups, and their answers. */
  PeerHeartbeats ofMember(long node) {
    return of(members, node);
  }

  /** The heartbeats of a node that leads groups of which this one has members. */
  PeerHeartbeats ofLeader(long node) {
    return of(leaders, node);
  }

  /** This node is connected to another one as a leader. */
  void onConnected(long node) {
    ofMember(node).onConnected();
  }

  private PeerHeartbeats of(Map<Long, PeerHeartbeats> all, long node) {
    return all.computeIfAbsent(
        node,
        id ->
            new PeerHeartbeats(
                id, limits.nodeTimeoutNs(), limits.nodeHeartbeatNs(), this::excused));
  }

  /** A time at which a node was heard, later by a pause of this process that goes on yet. */
  private long excused(long heardNs) {
    final long nowNs = clock.getAsLong();
    return Math.min(nowNs, heardNs + Math.max(0, stoodNs(nowNs)));
  }

  private long stoodNs(long nowNs) {
    return nowNs - plannedNs - ReplicaContext.Limits.HEARTBEAT_NS;
  }

  /** The connection to a node as a leader has ended. */
  void onDisconnected(long node) {
    ofMember(node).onDisconnected();
  }

  /** The connection of a leader to this node has ended. */
  void onLeaderGone(long node) {
    ofLeader(node).onDisconnected();
  }

  /** Takes a leader's heartbeat, and answers it. */
  void onHeartbeat(long leader, Heartbeat heartbeat, long nowNs) {
    final PeerHeartbeats peer = ofLeader(leader);
    peer.heard(nowNs, TimeUnit.MILLISECONDS.toNanos(heartbeat.getIntervalMillis()));
    if (stoodNs(nowNs) > limits.nodeTimeoutNs()) {
      return; // the thread that looks for stuck replicas is stuck itself
    }
    final List<FailedReplica> failed = peer.failed();
    final Heartbeat.Builder answer =
        Heartbeat.newBuilder().addAllFailed(failed).addAllFailed(stuck);
    peers.answer(leader, MemberMessage.newBuilder().setHeartbeat(answer).build());
    peer.sent(failed, nowNs);
  }

  /** Takes the answer to a heartbeat. */
  void onAnswer(long member, long nowNs) {
    ofMember(member).heard(nowNs);
  }

  /**
   * Sends what is due, and judges which nodes are silent. By the node's thread.
   *
   * @param stuckReplicas of this node
   * @return whether a node has become silent: replicas are to be driven
   */
  boolean work(List<FailedReplica> stuckReplicas, long nowNs) {
    final long stoodNs = stoodNs(nowNs);
    plannedNs = nowNs;
    stuck = stuckReplicas;
    send(nowNs);
    final boolean isMemberSilent = judge(members.values(), nowNs, stoodNs);
    return judge(leaders.values(), nowNs, stoodNs) || isMemberSilent;
  }

  /** Sends the due heartbeats, and those that are due soon, so that the thread rests once. */
  private void send(long nowNs) {
    final long intervalNs = limits.nodeHeartbeatNs();
    boolean isDue = false;
    for (final PeerHeartbeats peer : members.values()) {
      isDue |= peer.untilNextNs(nowNs, intervalNs) <= 0;
    }
    if (!isDue) {
      return;
    }
    for (final PeerHeartbeats peer : members.values()) {
      if (peer.untilNextNs(nowNs, intervalNs) <= intervalNs / 2) {
        final List<FailedReplica> failed = peer.failed();
        final Heartbeat.Builder heartbeat =
            Heartbeat.newBuilder()
                .setIntervalMillis((int) TimeUnit.NANOSECONDS.toMillis(intervalNs))
                .addAllFailed(failed)
                .addAllFailed(stuck);
        if (peers.send(peer.node(), LeaderMessage.newBuilder().setHeartbeat(heartbeat).build())) {
          peer.sent(failed, nowNs);
        }
      }
    }
  }

  /** Ignores a pause of the thread when it judges which nodes are silent. */
  private static boolean judge(Collection<PeerHeartbeats> peers, long nowNs, long stoodNs) {
    boolean found = false;
    for (final PeerHeartbeats peer : peers) {
      if (stoodNs > 0) {
        peer.excuse(nowNs, stoodNs);
      }
      found |= peer.judge(nowNs);
    }
    return found;
  }

  /** Time until {@link #work} is due. */
  long restNs(long nowNs) {
    long restNs = peers == null ? ALONE_NS : limits.nodeHeartbeatNs();
    for (final PeerHeartbeats peer : members.values()) {
      restNs = Math.min(restNs, peer.untilNextNs(nowNs, limits.nodeHeartbeatNs()));
      restNs = Math.min(restNs, peer.leftNs(nowNs));
    }
    for (final PeerHeartbeats peer : leaders.values()) {
      restNs = Math.min(restNs, peer.leftNs(nowNs));
    }
    return restNs;
  }

  /** The thread rests until this time, which is returned: a later {@link #work} comes late. */
  long plan(long untilNs) {
    plannedNs = untilNs;
    return untilNs;
  }
}
