package dev.ringfetch.index.replication;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.Recoveries;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The duty cycle of a replica: follows the coordinator's state of the group, obeys or leads, and
 * proposes epochs when a leader or a member seems to be dead.
 *
 * <p>Which epoch counts is decided by the coordinator and the gates alone; times decide only when a
 * replica tries. The replica's owner only.
 */
final class ReplicaCycle {
  /** Records that are applied in one cycle. */
  private static final int APPLY_LIMIT = 4096;

  private final ReplicaContext context;
  private final Runnable drive;
  private final ReplicaCore core;
  private final Follower follower;
  private final AwaitedLeader awaited;
  private final Candidacy candidacy;
  private final ReplicaOutput output;
  private final Proposals proposals;
  private final ReplicaCopies copies;
  private boolean coordinated;
  private boolean toldOlderState;
  private @Nullable GroupState group; // null until one was seen
  private @Nullable Leader leader; // null unless this replica has won
  private final EarlierStopRecord stopRecord;

  /**
   * Creates the cycle.
   *
   * @param recovery what an earlier process has left on the disk; null: nothing
   */
  ReplicaCycle(ReplicaContext context, GroupRecovery recovery, Runnable drive) {
    this.context = context;
    this.drive = drive;
    stopRecord = new EarlierStopRecord(recovery, context.isAlone());
    core = recovery == null ? new ReplicaCore(context) : ReplicaCore.recovered(context, recovery);
    follower = new Follower(core);
    output = new ReplicaOutput(now());
    awaited = new AwaitedLeader(context.limits().nodeTimeoutNs(), now());
    candidacy = new Candidacy(context, core, awaited);
    proposals = new Proposals(core, candidacy, output, now());
    copies = new ReplicaCopies(core, this::isForgotten, this::stop);
  }

  ReplicaState state() {
    return core.state();
  }

  /** The log of the partitions while the store serves; else null. */
  LeaderLog serving() {
    return core.serving();
  }

  /** Whether a look at a member's gate is under way: a cycle is due soon. */
  boolean isLooking() {
    return leader != null && leader.isLooking();
  }

  // Events from outside.

  void onMessage(long from, LeaderMessage message) {
    if (core.state() == ReplicaState.STOPPED
        || Completeness.isUnsure(core, group, stopRecord.mayCount())
        || (!message.hasInquiry() && Configurations.isOver(group, message.getEpoch()))) {
      context.peers().answer(from, follower.refusal(message));
      return;
    }
    follower.onMessage(from, message, now());
    endLeading();
    if (core.state().isFollower() && follower.leader() == from && !isSuperseded(from)) {
      awaited.heard(from, now());
    }
  }

  /** Whether another leader is waited for, that has won a later epoch than this replica obeys. */
  private boolean isSuperseded(long from) {
    return group != null
        && group.getWon().getEpoch() > core.gate()
        && group.getWon().getLeader() != from;
  }

  void onAnswer(long from, MemberMessage answer) {
    if (leader != null) {
      leader.onAnswer(from, answer, now());
    }
  }

  void onConnected(long node) {
    candidacy.onConnected(node);
    if (leader != null) {
      leader.onConnected(node);
    }
  }

  void onDisconnected(long node) {
    candidacy.onDisconnected(node);
    if (leader != null) {
      leader.onDisconnected(node);
    }
  }

  /** A node says that its replica does its part in an epoch no more: it left it, or is stuck. */
  void onReported(long node, long epoch) {
    if (leader != null && epoch == leader.epoch()) {
      leader.onReported(node);
    } else if (epoch == core.gate() && node == follower.leader()) {
      awaited.onGone(node);
    }
  }

  /** The stream of a node that leads has ended. */
  void onLeaderGone(long node) {
    awaited.onGone(node);
  }

  void onNodes(Map<Long, Node> nodes) {
    candidacy.onNodes(nodes, this::isMember);
    output.change();
    if (group != null && group.hasEstablished() && core.state() != ReplicaState.STOPPED) {
      leaveUnless(group);
      lookAtStopRecord(group);
    }
  }

  private void lookAtStopRecord(GroupState state) {
    stopRecord.onEstablished(state.getEstablished(), candidacy.isGone(state.getEstablished()));
  }

  void onCoordinated(boolean reachable) {
    coordinated = reachable;
  }

  void onDropped() {
    copies.drop();
    core.drop();
    stop();
  }

  void confirm(Confirmation chain) {
    if (leader != null && core.state() == ReplicaState.LEADING) {
      leader.confirmations().add(chain, now());
    } else {
      final Confirmations none = new Confirmations();
      none.add(chain, now());
      none.refuse();
      output.answer(none);
    }
  }

  /** The coordinator has a newer state of the group. */
  void onGroup(GroupState state) {
    if (core.state() == ReplicaState.STOPPED
        || (group != null && state.getVersion() < group.getVersion())) {
      return;
    }
    final long wonBefore = group == null ? 0 : group.getWon().getEpoch();
    group = state;
    output.change();
    if (!toldOlderState && Completeness.isOlderState(core, state)) {
      toldOlderState = true;
      context.errors().onError(OwnLog.olderState(core, state));
    }
    if (state.hasEstablished()) {
      leaveUnless(state);
      lookAtStopRecord(state);
    } else if (core.state() == ReplicaState.NONE
        && core.gate() == 0
        && Configurations.has(state.getWon(), context.self())) {
      beginEmpty(state);
    }
    final Configuration won = state.getWon();
    if (state.hasWon() && won.getEpoch() > core.gate() && Completeness.mayWin(core, group)) {
      if (Configurations.leads(won, context.self())) {
        if (proposals.mayLead(won)) {
          adopt(state);
        }
      } else if (won.getEpoch() > wonBefore) {
        awaited.await(won.getLeader(), now());
        proposals.awaitUntil(now() + awaited.silence().limitNs() + candidacy.delayNs(state));
      }
    }
    if (leader != null
        && !leader.isEstablished()
        && state.getEstablished().getEpoch() == leader.epoch()) {
      leader.establish(state);
      if (core.state() == ReplicaState.LEADING) {
        context.store().reconfigured(state);
      }
    }
  }

  /** Whether the record of an earlier process is to be removed. */
  boolean isStopRecordVoid() {
    return stopRecord.isVoid();
  }

  /** The record of an earlier process is gone. */
  void onStopRecordRemoved() {
    stopRecord.onRemoved();
  }

  /** Gives the group up if a later configuration than this replica obeys does without it. */
  private void leaveUnless(GroupState state) {
    final Configuration established = state.getEstablished();
    if (core.isRestarted() && Completeness.isOfUse(core, state, candidacy.isGone(established))) {
      return;
    }
    if (core.state() == ReplicaState.MEMBER
        && core.hasDisk()
        && Recoveries.isRecovered(established, context.self().getId())) {
      return; // the group goes on with its log, and it has lived all the time
    }
    if (established.getEpoch() > core.gate()
        && core.state() != ReplicaState.NONE
        && !Configurations.has(established, context.self())) {
      if (Completeness.mayStepBack(core, state)) {
        core.stepBack();
        follower.obeyNobody();
      } else {
        core.leave(ReplicaState.NONE);
        endLeading();
      }
    }
  }

  /** A group that never served has no records: each member is complete. */
  private void beginEmpty(GroupState state) {
    try {
      core.reset(0, state);
      core.become(ReplicaState.MEMBER);
      awaited.await(state.getWon().getLeader(), now());
    } catch (GroupStoreException e) {
      context.errors().onError(e);
    }
  }

  private void adopt(GroupState won) {
    final long obeyed = core.gate();
    core.moveGate(won.getWon().getEpoch());
    if (core.state() == ReplicaState.NONE) { // what was placed is lost
      endLeading();
      return;
    }
    core.cutBeforeRecovery(won, obeyed);
    stopRecord.onWon();
    core.counts.wins++;
    if (leader == null) {
      leader = new Leader(core, won, drive, candidacy::isConnected, now());
    } else {
      leader.begin(won, now());
    }
    for (final long node : candidacy.down()) {
      leader.onDisconnected(node);
    }
    follower.obeyNobody();
    if (core.state() != ReplicaState.LEADING) {
      core.become(ReplicaState.ADOPTING);
    }
    awaited.forget();
  }

  private void endLeading() {
    if (leader != null && !core.state().isLeader()) {
      leader.close();
      output.answer(leader.confirmations());
      leader = null;
    }
  }

  /** A request of this replica has ended. */
  void onAnswer(Coordinator.Result result, GroupState state) {
    output.onRequestAnswered();
    if (result != Coordinator.Result.DONE) {
      proposals.onFailed(now());
    }
    if (state != null) {
      onGroup(state);
    }
    if (core.state() == ReplicaState.WINNING) {
      core.become(ReplicaState.MEMBER);
    }
  }

  // The cycle.

  /** The copies that the node has begun. */
  ReplicaCopies copies() {
    return copies;
  }

  /** The orderly end of the node; this replica's turn comes later. */
  NodeEnd nodeEnd() {
    return core.nodeEnd();
  }

  /** Whether the node ends, and nobody is to lead in the place of this replica, or does. */
  boolean hasHandedOver() {
    return core.nodeEnd().hasBegun()
        && (leader == null
            || !coordinated
            || !(output.isRequesting() || leader.mayBeSucceeded(group, candidacy.living(), now())));
  }

  /** Whether the records of this directory count nowhere any more. */
  private boolean isForgotten() {
    return group != null
        && Completeness.isForgotten(core, group, candidacy.isGone(group.getEstablished()));
  }

  /** Does the due work; returns whether more is due. */
  boolean work() {
    if (core.state() == ReplicaState.STOPPED) {
      copies.workOnSnapshot();
      copies.workOnStop(leader, stopRecord);
      follower.rely(awaited, now());
      return false;
    }
    final long nowNs = now();
    excuse(nowNs);
    if (leader != null && leader.isReadAlone()) {
      core.serving().fail();
    } else if (core.isDiskFailed() && core.state() != ReplicaState.NONE) {
      context
          .errors()
          .onError(new GroupStoreException("the disk has failed: group=" + context.group()));
      fail();
    }
    boolean again = follower.apply(APPLY_LIMIT);
    core.journal();
    follower.notice();
    copies.workOnSnapshot();
    if (leader != null) {
      leader.work(candidacy.living(), nowNs);
      leader.confirmations().expire(nowNs);
      again |= serve();
      endLeading();
    }
    if (!output.isRequesting() && coordinated && group != null) {
      proposals.work(group, leader, stopRecord.mayEstablish(), nowNs);
    }
    copies.workOnStop(leader, stopRecord); // last: it may end the replica
    follower.rely(awaited, nowNs);
    core.activity()
        .note(core.log().end(), leader == null ? 0 : leader.confirmations().last(), nowNs);
    core.activity().plan(nowNs, restNs(nowNs), copies.goOn());
    if (core.serving() != null) {
      core.serving().attend(core.activity().isBusy(nowNs));
    }
    return again;
  }

  /** Time at which the next cycle is due if nothing happens before. */
  long dueNs() {
    return core.activity().dueNs();
  }

  /** Time in which nothing is due but for events; 0 if anything is to be seen to. */
  private long restNs(long nowNs) {
    if (core.state() == ReplicaState.NONE || core.state() == ReplicaState.STOPPED) {
      return output.isRequesting() ? 0 : Long.MAX_VALUE;
    }
    final boolean waits =
        output.isRequesting()
            || core.nodeEnd().hasBegun()
            || core.applied() < core.log().end()
            || core.durable() < core.log().end()
            || (group != null && group.getWon().getEpoch() > core.gate());
    if (waits) {
      return 0;
    }
    if (leader != null) {
      return leader.isQuiet() ? leader.restNs(nowNs) : 0;
    }
    final boolean obeys =
        core.state() == ReplicaState.MEMBER && follower.leader() != 0 && awaited.isTrusted();
    return obeys ? awaited.leftNs(nowNs) : 0;
  }

  /**
   * Counts no time as silence of others in which this replica did no cycles itself: the process was
   * stopped, or had no processor, and what came meanwhile is not read yet.
   */
  private void excuse(long nowNs) {
    final long stoodNs = core.activity().stoodNs(nowNs);
    if (stoodNs > 0) {
      awaited.silence().excuse(nowNs, stoodNs);
      if (leader != null) {
        leader.excuse(nowNs, stoodNs);
      }
    }
  }

  /** Applies the rest of an epoch that is established, and serves then; whether more is due. */
  private boolean serve() {
    if (core.state() != ReplicaState.ADOPTING || !leader.isEstablished() || !stopRecord.isGone()) {
      return false;
    }
    try {
      if (core.apply(APPLY_LIMIT)) {
        return true;
      }
      core.become(ReplicaState.LEADING);
      core.counts.serves++;
      core.serve(group, leader.epoch(), drive);
      return true;
    } catch (GroupStoreException e) {
      context.errors().onError(e);
      core.leave(ReplicaState.NONE); // the members will see that it leads no more
      return false;
    }
  }

  private long now() {
    return context.clock().getAsLong();
  }

  private boolean isMember(Node node) {
    return group != null
        && (Configurations.has(group.getEstablished(), node)
            || Configurations.has(group.getWon(), node)
            || (leader != null && Configurations.has(leader.configuration(), node)));
  }

  /** The nodes to which this replica needs a connection. */
  Map<Long, Node> wanted() {
    final Map<Long, Node> wanted = candidacy.wanted(this::isMember);
    if (leader != null && leader.transfer() != null) {
      wanted.put(leader.transfer().node().getId(), leader.transfer().node());
    }
    return wanted;
  }

  /** The output of the cycles so far, for the owner to give to others. */
  ReplicaOutput output() {
    if (leader != null) {
      output.answer(leader.confirmations());
    }
    return output;
  }

  /** Whether something has changed that others look at, or they have to look again. */
  boolean takeChanged() {
    return output.takeChanged(core.state(), leader == null ? null : leader.transfer(), now());
  }

  /** The status for others. */
  ReplicaStatus status() {
    return new ReplicaStatus(
        core.state(),
        core.gate(),
        leader != null ? context.self().getId() : follower.leader(),
        group,
        leader != null && leader.isEstablished(),
        OwnLog.of(core, group, group != null && Completeness.mayWin(core, group)),
        core.log().end(),
        core.commit(),
        core.applied(),
        leader == null ? List.of() : leader.lags(),
        core.counts.taken(core.placed().damaged()));
  }

  /** Something has failed that should not: the replica is no member any more. */
  void fail() {
    core.leave(ReplicaState.NONE);
    endLeading();
  }

  /** Ends for good. The disk gets what was acknowledged without it. */
  void stop() {
    if (core.serving() != null && core.hasDisk()) {
      core.serving().endAlone(core.log());
      core.journal();
    }
    core.leave(ReplicaState.STOPPED);
    endLeading();
  }
}
