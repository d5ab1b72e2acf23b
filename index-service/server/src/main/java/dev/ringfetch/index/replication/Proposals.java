package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The proposals of a replica to the coordinator: the configuration with which it, or a successor,
 * is to lead, and the establishment of the epoch that it has won. A request that failed is followed
 * by a pause.
 *
 * <p>The replica's owner only.
 */
final class Proposals {
  /** Pause after a request that failed. */
  private static final long RETRY_NS = 100_000_000;

  private final ReplicaCore core;
  private final Candidacy candidacy;
  private final ReplicaOutput output;
  private long notBeforeNs;

  Proposals(ReplicaCore core, Candidacy candidacy, ReplicaOutput output, long nowNs) {
    this.core = core;
    this.candidacy = candidacy;
    this.output = output;
    notBeforeNs = nowNs;
  }

  /** Makes no request before this time, as another leader is awaited. */
  void awaitUntil(long timeNs) {
    notBeforeNs = timeNs;
  }

  /** A request has failed. */
  void onFailed(long nowNs) {
    notBeforeNs = Math.max(notBeforeNs, nowNs + RETRY_NS);
  }

  /**
   * Makes the request that is due, if there is one. None may be under way.
   *
   * @param leader null unless this replica has won
   * @param mayEstablish whether the epoch that was won may be established
   */
  void work(GroupState group, @Nullable Leader leader, boolean mayEstablish, long nowNs) {
    if (leader == null) {
      workAsMember(group, nowNs);
    } else if (group.getWon().getEpoch() == leader.epoch() && leader.mayEstablish()) {
      if (mayEstablish && isDue(nowNs)) {
        output.request(new Proposal(begun(group, leader), null));
      }
    } else if (Completeness.mayWin(core, group) && isDue(nowNs)) {
      workAsLeader(group, leader, nowNs);
    }
  }

  private boolean isDue(long nowNs) {
    return nowNs - notBeforeNs >= 0;
  }

  private void workAsMember(GroupState group, long nowNs) {
    if (core.state() == ReplicaState.MEMBER
        && Completeness.mayWin(core, group)
        && candidacy.isDue(group, nowNs)
        && isDue(nowNs)) {
      win(group, self(), candidacy.members(group));
      if (output.isRequesting()) {
        core.become(ReplicaState.WINNING);
      }
    }
  }

  private void workAsLeader(GroupState group, Leader leader, long nowNs) {
    final boolean superseded = group.getWon().getEpoch() > leader.epoch();
    if (superseded && (leader.ownDisk().hasNoRoom(nowNs) || core.nodeEnd().handsOver())) {
      return; // it could not establish an epoch, or is not to
    }
    final long successor = superseded ? 0 : leader.successor(candidacy.living(), nowNs);
    if (successor != 0) {
      final List<Member> others = leader.proposed(nowNs);
      others.removeIf(member -> member.getNode() == self());
      win(group, successor, others);
    } else if (superseded || leader.needsChange(nowNs)) {
      win(group, self(), leader.proposed(nowNs));
    }
  }

  /** The group's state, with the position at which this replica's epoch began. */
  private static GroupState begun(GroupState group, Leader leader) {
    return group.toBuilder()
        .setWon(group.getWon().toBuilder().setBegin(leader.beginning()))
        .build();
  }

  private void win(GroupState group, long leading, List<Member> members) {
    final Configuration proposed =
        Configuration.newBuilder()
            .setLeader(leading)
            .addAllMembers(members)
            .setNonce(core.context().nonces().getAsLong())
            .build();
    if (mayLead(proposed)) {
      output.request(new Proposal(group, proposed));
    }
  }

  /** Whether others' records of stops would not be void with this one's, which may fail. */
  boolean mayLead(Configuration configuration) {
    return !core.nodeEnd().hasBegun()
        || configuration.getMembersCount() > 1
        || !Configurations.leads(configuration, core.context().self())
        || core.serving() != null;
  }

  private long self() {
    return core.context().self().getId();
  }
}
