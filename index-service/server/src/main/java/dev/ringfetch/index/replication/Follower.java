package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.log.RecordLog;
import dev.ringfetch.index.v1.Adopt;
import dev.ringfetch.index.v1.Append;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.LogOffer;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Resume;
import dev.ringfetch.index.v1.SnapshotBegin;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The follower side of a replica: obeys the leader of its gate's epoch, and answers each message.
 *
 * <p>The replica's owner only.
 */
final class Follower {
  private final ReplicaCore core;
  private final JournalRecord view = new JournalRecord();
  private long leader; // of the gate's epoch; 0: unknown, or this one
  private @Nullable PeerHeartbeats idle; // of the leader, which is idle; null: it is busy
  private long idleEpoch;
  private long confirmed;
  private boolean restored; // the snapshot is complete
  private int held; // unanswered pieces of the snapshot: the disk lags behind
  private long noticed = -1; // position that the leader knows to be durable
  private List<FabricHint> fabrics = List.of(); // of the leader, until memory was offered

  Follower(ReplicaCore core) {
    this.core = core;
  }

  /** The leader whose messages moved the gate; 0 if there is none. */
  long leader() {
    return leader;
  }

  /**
   * Notes that the replica obeys no leader: it has won the gate's epoch, or the group continues
   * without it.
   */
  void obeyNobody() {
    leader = 0;
    confirmed = 0;
    fabrics = List.of();
  }

  /** Takes a leader's message, and answers. */
  void onMessage(long from, LeaderMessage message, long nowNs) {
    takePlaced(); // first: what comes by messages may follow it
    boolean taken;
    try {
      taken = take(from, message);
    } catch (GroupStoreException e) {
      core.context().errors().onError(e);
      core.leave(ReplicaState.NONE);
      taken = false;
    }
    if (taken) {
      noteActivity(from, message.getBusy(), nowNs);
      core.commit(message.getCommit());
    } else {
      core.counts.refused++;
    }
    core.journal();
    if (taken && message.hasSnapshotBegin()) {
      held = 0; // the leader waits for no answer to an earlier snapshot
    }
    if (taken && message.hasSnapshot() && core.isDiskBehind()) {
      held++; // other messages are answered: the node lives
      return;
    }
    final MemberMessage.Builder answer = answer(from, message.getEpoch(), false);
    if (taken && !message.hasAdopt()) { // memory takes time, for which no new epoch waits
      offerMemory(answer);
    }
    core.context().peers().answer(from, answer.build());
  }

  private void noteActivity(long from, boolean isBusy, long nowNs) {
    if (isBusy) {
      core.activity().note(nowNs);
      idle = null;
    } else {
      idle = core.context().heartbeats().ofLeader(from);
      idle.onConnected(); // by the stream of this message
      idleEpoch = core.gate();
    }
  }

  /**
   * Relies on the heartbeats of an idle leader's node, and tells that node if this replica obeys
   * the leader no more.
   */
  void rely(AwaitedLeader awaited, long nowNs) {
    final boolean obeys = leader != 0 && core.state().isFollower() && core.gate() == idleEpoch;
    if (idle != null && !(obeys && leader == idle.node())) {
      idle.fail(core.context().group(), idleEpoch);
      idle = null;
    }
    awaited.relyOn(idle, nowNs);
  }

  /** The answer of a replica that obeys nobody, to a message. */
  MemberMessage refusal(LeaderMessage message) {
    return MemberMessage.newBuilder()
        .setGroup(core.context().group())
        .setEpoch(message.getEpoch())
        .build();
  }

  /** Takes all placed records, as far as there is room. */
  private void takePlaced() {
    while (core.takePlaced()) {}
  }

  /** Notifies a waiting leader: more records are durable, or the disk has room. */
  void notice() {
    while (held > 0 && !core.isDiskBehind()) {
      held--;
      core.context().peers().answer(leader, answer(leader, core.gate(), false).build());
    }
    if (core.countsByDisk()
        && leader != 0
        && core.state().isFollower()
        && core.durable() != noticed) {
      core.context().peers().answer(leader, answer(leader, core.gate(), true).build());
    }
  }

  private MemberMessage.Builder answer(long to, long epoch, boolean unasked) {
    final boolean obeys = core.state().isFollower() && to == leader;
    noticed = obeys ? core.durable() : noticed;
    return MemberMessage.newBuilder()
        .setGroup(core.context().group())
        .setEpoch(epoch)
        .setGate(obeys ? core.gate() : shownGate(epoch))
        .setDurable(obeys && core.hasDisk() ? core.durable() + 1 : 0)
        .setLogEpoch(core.isRestarted() ? core.gate() : 0)
        .setUnasked(unasked)
        .setDiskRoom(core.diskRoom())
        .setEnds(core.nodeEnd().hasBegun())
        .setReceived(core.log().end())
        .setApplied(core.applied())
        .setConfirmed(confirmed);
  }

  /**
   * Offers the leader memory for its records, once in an epoch, to a member alone. Where records
   * count when they are durable, members have to answer anyway.
   */
  private void offerMemory(MemberMessage.Builder answer) {
    if (fabrics.isEmpty() || core.hasDisk() || core.state() == ReplicaState.JOINING) {
      return;
    }
    final LogOffer offer = core.placed().offer(fabrics, core.gate());
    fabrics = List.of();
    if (offer != null) {
      answer.setOffer(offer);
    }
  }

  /** The gate as others may see it, which is not theirs: no epoch if they would take it for it. */
  private long shownGate(long epoch) {
    return core.gate() == epoch || core.state() == ReplicaState.NONE ? 0 : core.gate();
  }

  private boolean take(long from, LeaderMessage message) throws GroupStoreException {
    final long epoch = message.getEpoch();
    return switch (message.getKindCase()) {
      case ADOPT ->
          epoch > core.gate()
              ? adopt(from, epoch, message.getAdopt())
              : isObeyed(from, epoch) && core.state() != ReplicaState.JOINING;
      case SNAPSHOT_BEGIN -> begin(from, epoch, message.getSnapshotBegin());
      case APPEND -> isObeyed(from, epoch) && append(message.getAppend());
      case CONFIRM -> {
        final boolean obeyed = isObeyed(from, epoch);
        confirmed = obeyed ? message.getConfirm() : confirmed;
        yield obeyed;
      }
      case SNAPSHOT -> isObeyed(from, epoch) && isRestoring() && restore(message.getSnapshot());
      case SNAPSHOT_END -> {
        final boolean ends = isObeyed(from, epoch) && isRestoring();
        restored |= ends;
        if (ends) {
          core.restored();
        }
        yield ends;
      }
      case RESUME -> resume(from, epoch, message.getResume());
      case INQUIRY, INTRODUCTION, HEARTBEAT, KIND_NOT_SET -> false;
    };
  }

  private boolean isObeyed(long from, long epoch) {
    return core.state().isFollower() && epoch == core.gate() && from == leader;
  }

  private boolean isRestoring() {
    return core.state() == ReplicaState.JOINING && !restored;
  }

  private boolean adopt(long from, long epoch, Adopt adopt) {
    final long end = adopt.getEnd();
    final ReplicaState state = core.state();
    if (state == ReplicaState.LEADING) {
      core.moveGate(epoch); // in any case: this one leads no more
      core.leave(ReplicaState.NONE);
      return false;
    }
    if (state == ReplicaState.NONE || isRestoring() || end < core.applied()) {
      return false;
    }
    moveGate(from, epoch);
    if (core.state() == ReplicaState.NONE) {
      return false; // what was placed is lost
    }
    fabrics = adopt.getFabricsList();
    if (end < core.log().end()) {
      core.cut(end);
      core.counts.cuts++;
    }
    if (state != ReplicaState.MEMBER) {
      core.become(ReplicaState.MEMBER);
    }
    return true;
  }

  private void moveGate(long from, long epoch) {
    core.moveGate(epoch);
    held = 0; // in the epoch that has ended
    leader = from;
    confirmed = 0;
    fabrics = List.of();
  }

  private boolean begin(long from, long epoch, SnapshotBegin begin) throws GroupStoreException {
    final ReplicaState state = core.state();
    final boolean again =
        epoch == core.gate()
            && (state == ReplicaState.NONE
                || core.isRestarted() // an earlier process has begun to join in this epoch
                || (state == ReplicaState.JOINING && isObeyed(from, epoch)));
    if ((epoch <= core.gate() && !again) || core.isDiskFailed() || isNeeded(begin.getGroup())) {
      return false;
    }
    if (epoch > core.gate()) {
      moveGate(from, epoch);
    }
    leader = from;
    if (state == ReplicaState.LEADING) {
      core.leave(ReplicaState.NONE);
    }
    core.become(ReplicaState.JOINING);
    restored = false;
    core.reset(begin.getPosition(), begin.getGroup(), true);
    return true;
  }

  /** Whether the log of this directory counts in the configuration: it is not given up. */
  private boolean isNeeded(GroupState group) {
    return core.countsByDisk()
        ? Configurations.hasNode(group.getEstablished(), core.context().self().getId())
        : core.standsIn(group.getEstablished());
  }

  /** Continues with the log of an earlier process, as a joining node. */
  private boolean resume(long from, long epoch, Resume resume) {
    final long end = resume.getPosition();
    if (!core.isRestarted()
        || epoch <= core.gate()
        || core.state() != ReplicaState.MEMBER
        || end < core.applied()
        || end > core.log().end()) {
      return false;
    }
    moveGate(from, epoch);
    if (core.log().end() > end) {
      core.cut(end);
      core.counts.cuts++;
    }
    restored = true;
    core.become(ReplicaState.JOINING);
    return true;
  }

  private boolean append(Append append) {
    final int count = append.getCount();
    if (count == 0) {
      return append.getRecords().isEmpty();
    }
    final RecordLog log = core.log();
    final long position = append.getPosition();
    final long last = position + count;
    if (count < 0 || position < 0 || position > log.end()) {
      return false; // a gap
    }
    if (last <= log.end()) {
      return true; // it has come before
    }
    final ReplicaContext.Limits limits = core.context().limits();
    if (log.bytes() > 4L * limits.waiting() + limits.tail()) { // a leader keeps no more
      return false;
    }
    final int skipped = (int) (log.end() - position);
    if (!log.addAll(core.context().group(), append.getRecords(), count, skipped)) {
      final byte[] records = append.getRecords().toByteArray();
      core.context().unknown().look(core.context().group(), records, 0, records.length);
      return false;
    }
    return true;
  }

  private boolean restore(ByteString piece) throws GroupStoreException {
    final byte[] bytes = piece.toByteArray();
    int offset = 0;
    while (offset < bytes.length) {
      if (!view.wrap(bytes, offset, bytes.length)) {
        core.context().unknown().look(core.context().group(), bytes, offset, bytes.length);
        throw new GroupStoreException("a piece of a snapshot is damaged: offset=" + offset);
      }
      core.restore(view);
      offset += RecordDescriptor.aligned(view.length());
    }
    return true;
  }

  /** Applies some records; returns whether there are more. */
  boolean apply(int limit) {
    if (!core.state().isFollower() || isRestoring()) {
      return false;
    }
    try {
      final boolean again = core.takePlaced();
      return core.state() != ReplicaState.NONE && (core.apply(limit) || again);
    } catch (GroupStoreException e) {
      core.context().errors().onError(e);
      core.leave(ReplicaState.NONE);
      return false;
    }
  }
}
