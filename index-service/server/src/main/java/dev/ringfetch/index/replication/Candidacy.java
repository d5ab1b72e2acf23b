package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The candidacy of a member for the place of a leader that seems to be dead: after which time it
 * proposes itself, and with which members, by the nodes that it sees.
 *
 * <p>This decides only when a replica tries: the coordinator and the gates decide which epoch
 * counts. The replica's owner only.
 */
final class Candidacy {
  /** The next member of a configuration waits so much longer before it proposes itself. */
  private static final long RANK_NS = 40_000_000;

  /** A replica that only its disk makes complete waits so long for the processes that lived. */
  private static final long COLD_NS = 3_000_000_000L;

  private final ReplicaContext context;
  private final ReplicaCore core;
  private final AwaitedLeader awaited;
  private final Set<Long> connected = new HashSet<>();
  private final Set<Long> down = new HashSet<>(); // the connection ended
  private Map<Long, Node> living = Map.of();

  /** Those of the group's members that lived once: one that the coordinator lost may live still. */
  private final Map<Long, Node> known = new HashMap<>();

  Candidacy(ReplicaContext context, ReplicaCore core, AwaitedLeader awaited) {
    this.context = context;
    this.core = core;
    this.awaited = awaited;
  }

  void onConnected(long node) {
    connected.add(node);
    down.remove(node);
  }

  void onDisconnected(long node) {
    connected.remove(node);
    down.add(node);
  }

  /**
   * Takes the nodes that live.
   *
   * @param isMember whether a node is one of the group's
   */
  void onNodes(Map<Long, Node> nodes, Predicate<Node> isMember) {
    living = nodes;
    known.values().removeIf(isMember.negate());
    known.putAll(nodes);
    down.retainAll(nodes.keySet());
  }

  boolean isConnected(long node) {
    return connected.contains(node);
  }

  /** The nodes whose connections have ended. */
  Set<Long> down() {
    return down;
  }

  Map<Long, Node> living() {
    return living;
  }

  /** The nodes to which this replica needs connections, as long as it does its part. */
  Map<Long, Node> wanted(Predicate<Node> isMember) {
    final Map<Long, Node> wanted = new HashMap<>();
    final boolean doesPart =
        core.state() != ReplicaState.NONE
            && core.state() != ReplicaState.JOINING
            && core.state() != ReplicaState.STOPPED;
    for (final Node node : known.values()) {
      if (doesPart && node.getId() != context.self().getId() && isMember.test(node)) {
        wanted.put(node.getId(), node);
      }
    }
    return wanted;
  }

  /** Whether no directory of a configuration is announced, or no process if it is in memory. */
  boolean isGone(Configuration configuration) {
    return Configurations.isGone(configuration, living, context.self(), core.hasDisk());
  }

  /** Time by which this replica proposes itself later than the first that may. */
  long delayNs(GroupState group) {
    return rank(group) * RANK_NS;
  }

  /** Whether it is this replica's turn to propose itself, by what it has heard of the leader. */
  boolean isDue(GroupState group, long nowNs) {
    return isOnlyMember(group)
        || (awaited.judge(nowNs)
            && (!isCompleteByDisk(group) || mayStartCold(group, nowNs))
            && awaited.suspectedNs(nowNs) >= delayNs(group));
  }

  /** Whether no other node has the group: nobody else leads it, or will. */
  private boolean isOnlyMember(GroupState group) {
    final Configuration base = Configurations.base(group);
    return base.getMembersCount() == 1 && base.getMembers(0).getNode() == context.self().getId();
  }

  /** Whether this replica, which may win, is complete by its disk alone: it has restarted since. */
  private boolean isCompleteByDisk(GroupState group) {
    return !Configurations.has(Configurations.base(group), context.self());
  }

  /**
   * Whether no process of the configuration seems to live any more, and those of its directories
   * that come back have come.
   */
  private boolean mayStartCold(GroupState group, long nowNs) {
    boolean areBack = true;
    for (final Member member : Configurations.base(group).getMembersList()) {
      final Node node = living.get(member.getNode());
      areBack &= node != null && node.getIncarnation() != member.getIncarnation();
    }
    return areBack
        || (awaited.silence().sinceNs(nowNs) > COLD_NS && (!core.writesLater() || isEnded(group)));
  }

  /** Whether no process of the configuration is announced: one that is may have more. */
  private boolean isEnded(GroupState group) {
    return Configurations.isGone(Configurations.base(group), living, context.self(), false);
  }

  /** The members without those that are taken for dead, this replica included. */
  List<Member> members(GroupState group) {
    final List<Member> members = new ArrayList<>();
    final Configuration base = Configurations.base(group);
    for (final Member member : base.getMembersList()) {
      if (member.getNode() == context.self().getId()) {
        members.add(Configurations.member(context.self()));
      } else if (mayCountBack(group, member)) {
        members.add(Configurations.member(living.get(member.getNode())));
      } else if (seemsAlive(base, member)) {
        members.add(member);
      }
    }
    return members;
  }

  /**
   * Whether a member is there again in another process, which may be complete, as this one is. Not
   * where only the leader's disk counts: others may have forgotten what they gave up.
   */
  private boolean mayCountBack(GroupState group, Member member) {
    final Node node = living.get(member.getNode());
    return isCompleteByDisk(group)
        && (core.countsByDisk() || !core.hasDisk())
        && node != null
        && node.getIncarnation() != member.getIncarnation()
        && node.getDisk();
  }

  private boolean seemsAlive(Configuration base, Member member) {
    final long node = member.getNode();
    return node != base.getLeader()
        && node != awaited.node()
        && !down.contains(node)
        && Configurations.is(member, living.get(node));
  }

  /** Number of the members that are to propose themselves earlier: all, if this node ends. */
  private long rank(GroupState group) {
    final Configuration base = Configurations.base(group);
    long rank = 0;
    for (final Member member : base.getMembersList()) {
      if (member.getNode() == context.self().getId()) {
        if (!core.nodeEnd().hasBegun()) {
          return rank;
        }
      } else if (seemsAlive(base, member) || mayCountBack(group, member)) {
        rank++;
      }
    }
    return rank;
  }
}
