package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Inquiry;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.Resume;
import dev.ringfetch.index.v1.SnapshotBegin;
import dev.ringfetch.index.v1.SnapshotEnd;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The transfer of a group to a joining node: a snapshot in pieces, and in parallel the records
 * since its begin. It ends at the latest with the epoch in which it began.
 *
 * <p>Used by the owner of the leader's replica alone.
 */
final class SnapshotTransfer {
  /** A node that lacks no more records is caught up: they are sent within an epoch's change. */
  private static final long LAG_LIMIT = 4096;

  /** After so many node timeouts without an answer the node is given up: it has to be reached. */
  private static final int TIMEOUTS = 4;

  /** After so long without a step forward it is given up, although the node answers. */
  static final long STALL_NS = TimeUnit.SECONDS.toNanos(10);

  private final ReplicaCore core;
  private final Node node;
  private final GroupState group;
  private final Runnable drive;
  private final MemberProgress progress;
  private final Silence silence;
  private @Nullable GroupSnapshot snapshot; // null: the node was not told, or needs none
  private boolean isAsked; // what it has
  private boolean isAnswered;
  private long shared = -1; // position up to which the node has the group's log; -1: it has none
  private ByteString piece; // could not be sent
  private long begin = -1; // position that the snapshot has at least
  private long end = -1; // position that the node has to apply; -1 before all was sent
  private long steppedNs; // when a piece was sent or, after all of them, the node has got further
  private @Nullable String failure; // null: it has not failed
  private boolean recordsFirst;

  SnapshotTransfer(
      ReplicaCore core,
      Node node,
      GroupState group,
      Runnable drive,
      boolean connected,
      long nowNs) {
    this.core = core;
    this.node = node;
    this.group = group;
    this.drive = drive;
    silence = new Silence(TIMEOUTS * core.context().limits().nodeTimeoutNs(), nowNs);
    steppedNs = nowNs;
    progress =
        new MemberProgress(core, node.getId(), group.getEstablished().getEpoch(), connected, nowNs);
  }

  Node node() {
    return node;
  }

  MemberProgress progress() {
    return progress;
  }

  /** Why it is to be given up, for people; null if it goes on. */
  @Nullable String failure(long nowNs) {
    if (failure != null) {
      return failure;
    }
    if (progress.hasFailed()) {
      return "the node has lost what it had";
    }
    if (silence.isOver(nowNs)) {
      return progress.isConnected() ? "the node does not answer" : "the node is not reached";
    }
    if (nowNs - steppedNs > STALL_NS && !isReady()) {
      return "the node gets no further";
    }
    if (snapshot != null && snapshot.isFailed()) {
      return "the index has ended the snapshot";
    }
    return core.log().bytes() > core.context().limits().tail()
        ? "the node takes records more slowly than they come"
        : null;
  }

  private void fail(String reason) {
    if (failure == null) {
      failure = reason;
    }
  }

  /** Whether the node can become a member: no commit waits for what its disk lacks yet. */
  boolean isReady() {
    return end >= 0
        && progress.applied() >= end
        && progress.counted() >= end
        && core.log().end() - progress.counted() <= LAG_LIMIT;
  }

  /** Position up to which records need not be kept for the node. */
  long floor() {
    return begin < 0 ? Long.MAX_VALUE : progress.received();
  }

  /** Counts a time in which the leader did nothing as no silence of the node, nor a stall. */
  void excuse(long nowNs, long stoodNs) {
    silence.excuse(nowNs, stoodNs);
    steppedNs = Math.min(nowNs, steppedNs + stoodNs);
    progress.excuse(nowNs, stoodNs);
  }

  void onConnected() {
    loseConnection();
    progress.onConnected();
  }

  void onDisconnected() {
    loseConnection();
    progress.onDisconnected();
  }

  private void loseConnection() {
    if (begin >= 0) { // what was under way is lost
      fail("the connection has ended");
    }
  }

  void onAnswer(MemberMessage answer, long nowNs) {
    silence.heard(nowNs);
    if (begin < 0 && answer.getUnasked()) {
      return;
    }
    if (begin < 0 && isAsked) {
      progress.answered();
      if (answer.getEpoch() == group.getEstablished().getEpoch()) {
        isAnswered = true;
        if (answer.getGate() > answer.getEpoch()) {
          fail("the node obeys a later leader");
        }
        shared = // a log of this epoch is not resumed in it
            answer.getLogEpoch() == 0 || answer.getLogEpoch() >= answer.getEpoch()
                ? -1
                : Configurations.shared(group, answer.getLogEpoch(), answer.getReceived());
        if (shared < answer.getApplied()) {
          shared = -1; // it has carried out what all others have lost
        }
      }
      return;
    }
    if (begin >= 0
        && answer.getEpoch() == group.getEstablished().getEpoch()
        && answer.getGate() != answer.getEpoch()) {
      fail("the node has given up what it got, or refuses it");
      return;
    }
    final long before = progress.received() + progress.applied();
    progress.onAnswer(answer, nowNs);
    if (end >= 0 && progress.received() + progress.applied() > before) {
      steppedNs = nowNs;
    }
  }

  /** Sends what is due. */
  void work(long nowNs) {
    if (!progress.isConnected()) {
      return;
    }
    if (begin < 0) {
      if (core.hasDisk() && !isAnswered) {
        isAsked =
            isAsked
                || progress.send(
                    progress.message().setInquiry(Inquiry.getDefaultInstance()), nowNs);
      } else if (shared >= core.log().base() && shared <= core.log().end()) {
        resume(nowNs);
      } else {
        begin(nowNs);
      }
    } else if (progress.isAdopted()) {
      recordsFirst = !recordsFirst; // else pieces take all that may be under way
      if (recordsFirst) {
        progress.sendRecords(nowNs);
        sendPieces(nowNs);
      } else {
        sendPieces(nowNs);
        progress.sendRecords(nowNs);
      }
      progress.heartbeat(nowNs);
    }
  }

  /** The node goes on with its own log, of which this one has the rest. */
  private void resume(long nowNs) {
    final Resume message = Resume.newBuilder().setPosition(shared).setGroup(group).build();
    if (progress.send(progress.message().setResume(message), nowNs)) {
      begin = shared;
      end = core.commit();
      progress.join(shared);
    }
  }

  private void begin(long nowNs) {
    final long position = core.commit();
    final SnapshotBegin message =
        SnapshotBegin.newBuilder().setPosition(position).setGroup(group).build();
    if (progress.send(progress.message().setSnapshotBegin(message), nowNs)) {
      begin = position;
      progress.join(position);
      snapshot = core.context().store().snapshot(drive);
    }
  }

  private void sendPieces(long nowNs) {
    while (end < 0 && progress.mayGetMore()) {
      if (piece == null) {
        piece = snapshot.next();
      }
      if (piece == null) {
        if (snapshot.isFailed()) { // as failure() says
          return;
        }
        final long position = core.commit(); // all that the snapshot has is committed
        if (progress.send(
            progress.message().setSnapshotEnd(SnapshotEnd.newBuilder().setPosition(position)),
            nowNs)) {
          end = position;
        }
        return;
      }
      if (!piece.isEmpty()) {
        if (!progress.send(progress.message().setSnapshot(piece), nowNs)) {
          return;
        }
        core.counts.pieces++;
        steppedNs = nowNs;
      }
      final boolean wasEmpty = piece.isEmpty();
      piece = null;
      if (wasEmpty) {
        return;
      }
    }
  }

  /** Gives the snapshot up. */
  void close() {
    if (snapshot != null) {
      snapshot.close();
      snapshot = null;
    }
  }
}
