package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.DiskRoom;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The leader side of a replica, in an epoch that it has won: notifies the members, sends them
 * records, commits records that all of them have, confirms reads, and adds nodes to the group.
 *
 * <p>The replica's owner only.
 */
final class Leader {
  private static final Logger LOGGER = System.getLogger(Leader.class.getName());

  /** The failure in a row at which a node that cannot join is logged, once. */
  private static final int SAID_FAILURE = 2;

  /** Of members' looks in a cycle. */
  private static final int LOOK_POLLS = 100;

  private final ReplicaCore core;
  private final Runnable drive;
  private final LongPredicate connected;
  private final Confirmations confirmations = new Confirmations();
  private final Map<Long, MemberProgress> members = new HashMap<>();
  private final Rejoins rejoins = new Rejoins();
  private MemberProgress[] all = {};
  private GroupState group;
  private Configuration configuration;
  private boolean established;

  /** Position of the last record when the epoch began: what members have beyond, they cut. */
  private long begin;

  private SnapshotTransfer transfer;
  private final OwnDiskProgress ownDisk;

  /**
   * Begins an epoch that was won, and to which the gate was moved.
   *
   * @param drive drives the replica, on any thread
   * @param connected whether there is a connection to a node
   */
  Leader(ReplicaCore core, GroupState won, Runnable drive, LongPredicate connected, long nowNs) {
    this.core = core;
    this.drive = drive;
    this.connected = connected;
    ownDisk = new OwnDiskProgress(core);
    begin(won, nowNs);
  }

  /** Begins another epoch that this replica has won, and to which the gate was moved. */
  void begin(GroupState won, long nowNs) {
    if (transfer != null && Configurations.hasNode(won.getWon(), transfer.node().getId())) {
      core.counts.joins++;
      rejoins.joined(transfer.node(), nowNs);
    }
    endTransfer();
    if (configuration != null) {
      for (final Member member : configuration.getMembersList()) {
        if (!Configurations.hasNode(won.getWon(), member.getNode())) {
          rejoins.left(member, nowNs);
        }
      }
    }
    group = won;
    configuration = won.getWon();
    established = false;
    if (core.serving() != null) {
      core.serving().endAlone(core.log());
      core.serving().epoch(configuration.getEpoch());
    }
    begin = core.log().end();
    ownDisk.begin(nowNs);
    members.values().forEach(MemberProgress::close);
    members.clear();
    for (final Member member : configuration.getMembersList()) {
      final long node = member.getNode();
      if (node != configuration.getLeader()) {
        members.put(
            node,
            new MemberProgress(core, node, configuration.getEpoch(), connected.test(node), nowNs));
      }
    }
    all = members.values().toArray(MemberProgress[]::new);
    confirmations.askAgain();
  }

  long epoch() {
    return configuration.getEpoch();
  }

  Configuration configuration() {
    return configuration;
  }

  boolean isEstablished() {
    return established;
  }

  Confirmations confirmations() {
    return confirmations;
  }

  /** The transfer under way; null if there is none. */
  @Nullable SnapshotTransfer transfer() {
    return transfer;
  }

  /** The lags of the members, in the order of the configuration, and of a node that joins. */
  List<ReplicaStatus.MemberLag> lags() {
    final List<ReplicaStatus.MemberLag> lags = new ArrayList<>();
    for (final Member member : configuration.getMembersList()) {
      final MemberProgress progress = members.get(member.getNode());
      if (progress != null) {
        lags.add(progress.lag(false));
      }
    }
    if (transfer != null) {
      lags.add(transfer.progress().lag(true));
    }
    return List.copyOf(lags);
  }

  /** The epoch is established: it commits from now on. */
  void establish(GroupState state) {
    group = state;
    established = true;
  }

  /** Position of the last record when the epoch began. */
  long beginning() {
    return begin;
  }

  /** Whether the epoch may be established: all members obey it, and have all from before it. */
  boolean mayEstablish() {
    return !established
        && members.values().stream()
            .allMatch(member -> member.isAdopted() && member.counted() >= begin)
        && core.durable() >= begin;
  }

  void onConnected(long node) {
    final MemberProgress member = members.get(node);
    if (member != null) {
      member.onConnected();
    } else if (transfer != null && transfer.node().getId() == node) {
      transfer.onConnected();
    }
  }

  void onDisconnected(long node) {
    final MemberProgress member = members.get(node);
    if (member != null) {
      member.onDisconnected();
    } else if (transfer != null && transfer.node().getId() == node) {
      transfer.onDisconnected();
    }
  }

  /** The node of a member says that the member does its part no more. */
  void onReported(long node) {
    final MemberProgress member = members.get(node);
    if (member != null) {
      member.idling().onReported();
    }
  }

  void onAnswer(long node, MemberMessage answer, long nowNs) {
    final MemberProgress member = members.get(node);
    if (member != null) {
      member.onAnswer(answer, nowNs);
    } else if (transfer != null && transfer.node().getId() == node) {
      transfer.onAnswer(answer, nowNs);
    }
  }

  /** Whether a look at a member's gate is under way: its result is to be taken soon. */
  boolean isLooking() {
    for (final MemberProgress member : all) {
      if (member.isLooking()) {
        return true;
      }
    }
    return false;
  }

  /** Whether the leader has nothing to do but to send heartbeats. */
  boolean isQuiet() {
    boolean quiet = established && transfer == null && confirmations.isEmpty();
    for (final MemberProgress member : all) {
      quiet &= member.isQuiet();
    }
    return quiet;
  }

  /** Time until the next heartbeat is due, or a member may have been silent for too long. */
  long restNs(long nowNs) {
    final boolean lacksMembers = configuration.getMembersCount() < group.getReplicas();
    long restNs = lacksMembers ? core.context().limits().idleHeartbeatNs() : Long.MAX_VALUE;
    for (final MemberProgress member : all) {
      restNs = Math.min(restNs, member.restNs(nowNs));
    }
    return restNs;
  }

  /** Does what is due: takes records, sends, commits, confirms. */
  void work(Map<Long, Node> living, long nowNs) {
    if (core.serving() != null) {
      core.serving().drain(core.log());
    }
    core.journal();
    ownDisk.look(nowNs);
    if (established) {
      confirmations.ask();
      join(living, nowNs);
    }
    final long question = established ? confirmations.question() : 0;
    for (final MemberProgress member : all) {
      member.work(begin, question, nowNs);
    }
    takeResults(question, nowNs);
    if (established) {
      commit();
      if (all.length == 0 && core.serving() != null && core.hasGapOnDisk()) {
        core.serving().beginAlone();
      }
      while (confirm()) { // those that came meanwhile have the next question
        for (final MemberProgress member : all) {
          member.work(begin, confirmations.question(), nowNs);
        }
      }
    }
  }

  /**
   * Waits some microseconds for the looks at all members' gates, in which a fast network answers;
   * other results are taken later.
   */
  private void takeResults(long question, long nowNs) {
    boolean looks = true;
    for (int i = 0; i < LOOK_POLLS && looks; i++) {
      looks = false;
      for (final MemberProgress member : all) {
        if (member.hasResult()) {
          member.work(begin, question, nowNs);
        }
        looks |= member.isLooking();
      }
    }
  }

  private void commit() {
    long position = core.counted();
    boolean isOverQuota = false;
    for (final MemberProgress member : all) {
      isOverQuota |= member.diskRoom() == DiskRoom.DISK_ROOM_OVER_QUOTA;
      position = Math.min(position, member.counted());
    }
    if (core.serving() == null) {
      core.commit(position);
    } else if (position > core.commit() || core.serving().hasRoomToGive(core.passedBytes())) {
      core.commitServed(position);
    }
    if (core.serving() != null) {
      core.serving().durable(core.durable(), core.commit());
      core.serving().membersOverQuota(isOverQuota);
    }
    core.release(Math.min(core.applied(), transfer == null ? Long.MAX_VALUE : transfer.floor()));
  }

  /** Answers barriers if all members have; returns whether others have their question now. */
  private boolean confirm() {
    final long question = confirmations.question();
    if (question == 0
        || core.state() != ReplicaState.LEADING
        || core.gate() != configuration.getEpoch()) {
      return false;
    }
    for (final MemberProgress member : all) {
      if (!member.hasConfirmed(question)) {
        return false;
      }
    }
    confirmations.confirm();
    confirmations.ask();
    return confirmations.question() != 0;
  }

  // Nodes that join.

  private void join(Map<Long, Node> living, long nowNs) {
    if (core.serving() == null || core.isDiskFailed()) {
      return;
    }
    if (transfer != null) {
      final String failure = transfer.failure(nowNs);
      if (failure != null) {
        failJoin(failure, nowNs);
      } else {
        transfer.work(nowNs);
      }
    } else if (configuration.getMembersCount() < group.getReplicas()) {
      final Node node = choose(living, nowNs);
      if (node != null) {
        transfer =
            new SnapshotTransfer(core, node, group, drive, connected.test(node.getId()), nowNs);
      }
    }
  }

  private void failJoin(String reason, long nowNs) {
    core.counts.failedJoins++;
    // One failure is nothing unusual: a connection has ended, say. Later ones are counted.
    if (rejoins.failed(transfer.node(), nowNs) == SAID_FAILURE) {
      LOGGER.log(
          Level.WARNING,
          "a node cannot join an index, and is tried again after pauses that grow up to {0} s:"
              + " index={1} node={2}: {3}",
          TimeUnit.NANOSECONDS.toSeconds(Rejoins.LIMIT_NS),
          group.getIndex(),
          transfer.node().getAddress(),
          reason);
    }
    endTransfer();
  }

  private Node choose(Map<Long, Node> living, long nowNs) {
    Node chosen = null;
    long most = 0;
    for (final Node node : living.values()) {
      final long weight = Configurations.weight(core.context().group(), node.getId());
      if (!Configurations.hasNode(configuration, node.getId())
          && node.getId() != core.context().self().getId()
          && (node.getDisk() || !core.hasDisk())
          && !rejoins.isLeftAlone(node, nowNs)
          && (chosen == null || weight > most)) {
        chosen = node;
        most = weight;
      }
    }
    return chosen;
  }

  private void endTransfer() {
    if (transfer != null) {
      transfer.close();
      transfer = null;
    }
  }

  /** Whether there should be other members, by what is known of them. */
  boolean needsChange(long nowNs) {
    for (final MemberProgress member : all) {
      if (isLost(member, nowNs)) {
        return true;
      }
    }
    return established && transfer != null && transfer.isReady();
  }

  /**
   * Whether a member is taken for dead, or does not follow while writers wait for it: for room in
   * the log, or, where the leader's own disk takes records, for the member's.
   */
  private boolean isLost(MemberProgress member, long nowNs) {
    return member.isSuspect(nowNs)
        || (core.hasDisk()
            && (member.isDiskStuck(nowNs) || (member.isDiskFull(nowNs) && !ownDisk.isShort()))
            && ownDisk.standsNs(nowNs) <= core.context().limits().nodeTimeoutNs())
        || (core.serving() != null && !core.serving().hasRoom() && member.isStuck(nowNs));
  }

  /** The members of the next configuration. */
  List<Member> proposed(long nowNs) {
    final List<Member> kept = new ArrayList<>();
    for (final Member member : configuration.getMembersList()) {
      final MemberProgress progress = members.get(member.getNode());
      if (progress == null || !isLost(progress, nowNs)) {
        kept.add(member);
      }
    }
    if (established && transfer != null && transfer.isReady()) {
      kept.add(Configurations.member(transfer.node()));
    }
    return kept;
  }

  /** Ignores a pause of this replica when it judges the silence of others. */
  void excuse(long nowNs, long stoodNs) {
    ownDisk.excuse(nowNs, stoodNs);
    members.values().forEach(member -> member.excuse(nowNs, stoodNs));
    if (transfer != null) {
      transfer.excuse(nowNs, stoodNs);
    }
  }

  /** The progress of the leader's disk. */
  OwnDiskProgress ownDisk() {
    return ownDisk;
  }

  /**
   * Whether the leader's disk has failed, and no other node has the group: then reads go on, and
   * all writes fail.
   */
  boolean isReadAlone() {
    return established && all.length == 0 && core.serving() != null && core.isDiskFailed();
  }

  /**
   * The member that is to lead, as the disk of this leader is full, or its node ends: one that
   * lives and may win, and whose disk has all, or took something a moment ago; 0 if there is none,
   * or no need. Before this disk has stood still for long, a member whose disk will be full soon is
   * none: two of them would hand over to each other. Nor is one whose node ends: where this one
   * does, the member has to have said since that its own goes on.
   */
  long successor(Map<Long, Node> living, long nowNs) {
    final boolean isStuck = ownDisk.isStuck(nowNs);
    final boolean ends = core.nodeEnd().handsOver();
    if (!ends && !ownDisk.hasNoRoom(nowNs)) {
      return 0;
    }
    for (final Member member : configuration.getMembersList()) {
      final MemberProgress progress = members.get(member.getNode());
      if (maySucceed(member, living, nowNs)
          && !progress.isStuck(nowNs)
          && (isStuck || !OwnDiskProgress.isShort(progress.diskRoom()))
          && (!ends || progress.hasAnsweredSinceAsked())) {
        return member.getNode();
      }
    }
    return 0;
  }

  private boolean maySucceed(Member member, Map<Long, Node> living, long nowNs) {
    final MemberProgress progress = members.get(member.getNode());
    return progress != null
        && Configurations.base(group).getMembersList().contains(member)
        && Configurations.is(member, living.get(member.getNode()))
        && !progress.isEnding()
        && !isLost(progress, nowNs);
  }

  /** Whether another one has won, or a member might soon, in the place of this ending leader. */
  boolean mayBeSucceeded(GroupState newest, Map<Long, Node> living, long nowNs) {
    return newest.getWon().getEpoch() > epoch()
        || configuration.getMembersList().stream()
            .anyMatch(member -> maySucceed(member, living, nowNs));
  }

  /** Ends: the replica leads no more. */
  void close() {
    endTransfer();
    members.values().forEach(member -> member.idling().leave(core.context().group(), epoch()));
    members.values().forEach(MemberProgress::close);
    confirmations.refuse();
  }
}
