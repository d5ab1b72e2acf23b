package dev.ringfetch.index.replication;

import dev.ringfetch.index.log.RecordLog;
import dev.ringfetch.index.onesided.OneSidedPath;
import dev.ringfetch.index.onesided.RemoteLog;
import dev.ringfetch.index.v1.Adopt;
import dev.ringfetch.index.v1.Append;
import dev.ringfetch.index.v1.DiskRoom;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The progress of another replica in an epoch, as its leader knows it, and the messages to it.
 *
 * <p>Used by the owner of the leader's replica alone.
 */
final class MemberProgress {
  private static final Logger LOGGER = System.getLogger(MemberProgress.class.getName());

  /** Limit of unanswered messages; further records wait and share the next message. */
  static final int WINDOW = 4;

  private static final long HEARTBEAT_NS = ReplicaContext.Limits.HEARTBEAT_NS;

  /** Time without progress after which a disk counts as full; longer than a sync on a busy disk. */
  static final long DISK_NS = 5_000_000_000L;

  /** Same, for a disk whose node reports that it has no room. */
  static final long FULL_NS = 4 * HEARTBEAT_NS;

  private final ReplicaCore core;
  private final long node;
  private final long epoch;
  private final RecordLog.Cursor cursor;
  private final Silence silence;
  private final MemberIdling idling;
  private Connection connection;
  private MemberState state = MemberState.UNKNOWN;

  private boolean wasComplete; // lacked nothing when work began last

  /** Whether it gets a snapshot. */
  private boolean joins;

  /** Null: records go by messages. */
  private OneSidedPath oneSided;

  /** Memory that the member has offered, until it is reached; null: none. */
  private CompletableFuture<RemoteLog> connecting;

  private long placed; // position up to which the gate has counted records
  private long sentBefore; // messages, when the last path by memory ended

  private long received;
  private long durable = -1;
  private long applied;
  private long confirmed;
  private long asked;
  private long sent; // messages over this connection
  private long answers; // to them
  private long recordsSent; // the last of them that had records
  private long sentNs;
  private long adoptNs;
  private long progressNs;
  private long countedNs;
  private DiskRoom diskRoom = DiskRoom.DISK_ROOM_UNSPECIFIED;
  private boolean ends; // its node
  private long sentBeforeQuestion = -1; // whether it has answered

  private enum Connection {
    /** There was none in this epoch. */
    AWAITED,
    OPEN,
    ENDED
  }

  MemberProgress(ReplicaCore core, long node, long epoch, boolean connected, long nowNs) {
    this.core = core;
    this.node = node;
    this.epoch = epoch;
    connection = connected ? Connection.OPEN : Connection.AWAITED;
    cursor = core.log().new Cursor();
    silence = new Silence(core.context().limits().nodeTimeoutNs(), nowNs);
    idling = new MemberIdling(core.context().heartbeats().ofMember(node), silence);
    progressNs = nowNs;
    countedNs = nowNs;
    sentNs = nowNs - HEARTBEAT_NS;
    adoptNs = nowNs - HEARTBEAT_NS;
  }

  long node() {
    return node;
  }

  /** Its idling, in which no message is sent. */
  MemberIdling idling() {
    return idling;
  }

  long received() {
    return received;
  }

  long applied() {
    return applied;
  }

  /** Position up to which its records count: those on its disk, where that matters; -1: none. */
  long counted() {
    return !isAdopted() ? -1 : core.countsByDisk() ? Math.min(received, durable) : received;
  }

  /** Whether it obeys this epoch, and so has no record that the leader lacks. */
  boolean isAdopted() {
    return state == MemberState.PROBING || state == MemberState.REPLICATING;
  }

  boolean isConnected() {
    return connection == Connection.OPEN;
  }

  private void become(MemberState next) {
    if (!state.allows(next)) {
      throw new IllegalStateException("node=" + node + " state=" + state + " next=" + next);
    }
    state = next;
  }

  private void fail() {
    become(MemberState.FAILED);
    close();
  }

  /** Whether it has answered a question, or a later one, in this epoch. */
  boolean hasConfirmed(long question) {
    return isAdopted() && confirmed >= question;
  }

  boolean mayGetMore() {
    return isConnected() && sent - answers < WINDOW;
  }

  /** Whether it is to be taken for dead. */
  boolean isSuspect(long nowNs) {
    return connection == Connection.ENDED || hasFailed() || idling.isSuspect(nowNs);
  }

  /** Whether it has lost what it had, or says what cannot be. */
  boolean hasFailed() {
    return state == MemberState.FAILED;
  }

  /** Whether it lacks records, or its disk does, and has got none for long. */
  boolean isStuck(long nowNs) {
    return nowNs - countedNs > silence.limitNs();
  }

  /** Whether its disk lacks records, and has got none for so long that it must be full. */
  boolean isDiskStuck(long nowNs) {
    return nowNs - countedNs > DISK_NS;
  }

  /** Whether its disk lacks records, and it says that there is no room for them. */
  boolean isDiskFull(long nowNs) {
    return diskRoom == DiskRoom.DISK_ROOM_NONE && nowNs - countedNs > FULL_NS;
  }

  /** The room on its disk, as it says. */
  DiskRoom diskRoom() {
    return diskRoom;
  }

  /** Whether its node has begun to end, by its last answer. */
  boolean isEnding() {
    return ends;
  }

  /**
   * Whether it has answered a message that was sent after the first such question in this epoch: an
   * earlier answer may have been under way for long, and says nothing of its node now.
   */
  boolean hasAnsweredSinceAsked() {
    if (sentBeforeQuestion < 0) {
      sentBeforeQuestion = sent;
    }
    return isAdopted() && answers > sentBeforeQuestion;
  }

  /** Whether nothing is to be sent or awaited but heartbeats and their answers. */
  boolean isQuiet() {
    final long end = core.log().end();
    return isConnected()
        && state == MemberState.REPLICATING
        && connecting == null
        && !isLooking()
        && cursor.position() == end
        && counted() == end;
  }

  /** Time until the next heartbeat is due, or the member may have been silent for too long. */
  long restNs(long nowNs) {
    final long heartbeatNs = core.activity().heartbeatNs(nowNs) - (nowNs - sentNs);
    return idling.isIdle() ? idling.leftNs() : Math.min(heartbeatNs, silence.leftNs(nowNs));
  }

  /** Ignores a pause of the leader when it judges whether the member is silent. */
  void excuse(long nowNs, long stoodNs) {
    silence.excuse(nowNs, stoodNs);
    progressNs = Math.min(nowNs, progressNs + stoodNs);
    countedNs = Math.min(nowNs, countedNs + stoodNs);
  }

  void onConnected() {
    connection = Connection.OPEN;
    probe();
    idling.onConnected();
    sent = 0;
    sentBefore = 0;
    answers = 0;
    sentBeforeQuestion = -1;
    recordsSent = 0;
    asked = 0;
    adoptNs = sentNs - HEARTBEAT_NS;
  }

  void onDisconnected() {
    connection = Connection.ENDED;
    idling.end();
    endConnecting();
    endOneSided();
  }

  /** Asks which records it has, before it gets more. */
  private void probe() {
    if (state == MemberState.REPLICATING) {
      become(MemberState.PROBING);
    }
  }

  /** Takes an answer. */
  void onAnswer(MemberMessage answer, long nowNs) {
    if (answer.getEpoch() != epoch) {
      return;
    }
    if (!answer.getUnasked()) {
      answers++;
    }
    if (hasFailed()) {
      return;
    }
    if (answer.getGate() != epoch) {
      if (isAdopted() && answer.getGate() < epoch) { // it has lost what it had
        fail();
      }
      return;
    }
    // Answers to an earlier transfer of the same epoch may come before those to this one. Those to
    // messages may lag behind what the gate has counted.
    final long known = joins ? answer.getReceived() : Math.max(received, answer.getReceived());
    if (answer.getReceived() > core.log().end() || known < core.log().base()) {
      fail();
      return;
    }
    final long countedBefore = counted();
    silence.heard(nowNs); // a node that refuses is no member
    idling.onAnswer();
    diskRoom = answer.getDiskRoom();
    ends = answer.getEnds();
    if (answer.getReceived() > received || answer.getReceived() == core.log().end()) {
      progressNs = nowNs;
    }
    if (oneSided == null && answers > sentBefore && answer.getReceived() < placed) {
      fail(); // it has lost what was placed
      return;
    }
    received = known;
    durable = joins ? answer.getDurable() - 1 : Math.max(durable, answer.getDurable() - 1);
    applied = joins ? answer.getApplied() : Math.max(applied, answer.getApplied());
    confirmed = Math.max(confirmed, answer.getConfirmed());
    if (!isInPlace()) {
      recordsSent = 0;
      if (!cursor.seek(received)) {
        fail();
        return;
      }
    }
    if (state != MemberState.REPLICATING) {
      become(MemberState.REPLICATING);
    }
    if (counted() > countedBefore) {
      countedNs = nowNs;
    }
    if (answer.hasOffer() && oneSided == null && connecting == null && !joins && isConnected()) {
      connecting = core.context().peers().memory().connect(answer.getOffer());
    }
  }

  /** Whether the cursor stands at what it has, or at what follows the records under way to it. */
  private boolean isInPlace() {
    return (state == MemberState.REPLICATING || joins)
        && (oneSided != null || answers < recordsSent || received >= cursor.position());
  }

  /** Places records from now on, behind those that the member is known to have. */
  private void beginOneSided() {
    final RemoteLog remote;
    try {
      remote = connecting.join();
    } catch (CompletionException e) { // messages do as well
      LOGGER.log(Level.INFO, "records go by calls: node=" + node + ": " + e.getCause());
      return;
    } finally {
      connecting = null;
    }
    if (cursor.seek(received)) {
      oneSided = new OneSidedPath(remote, epoch, received);
    } else {
      remote.close();
    }
  }

  /** Gives up memory that is not reached yet. */
  private void endConnecting() {
    if (connecting != null && !connecting.cancel(false) && !connecting.isCompletedExceptionally()) {
      connecting.join().close();
    }
    connecting = null;
  }

  /** Sends messages from now on, behind what the member will say that it has. */
  private void endOneSided() {
    if (oneSided != null) {
      placed = oneSided.received();
      sentBefore = sent;
      oneSided.close();
      oneSided = null;
      probe();
      adoptNs = sentNs - HEARTBEAT_NS;
    }
  }

  /** Places records for the member, and looks at its gate; else sends them. */
  private void place(long question, long nowNs) {
    if (!oneSided.work(cursor, core.commit(), question, nowNs)) {
      endOneSided();
      return;
    }
    if (oneSided.received() > received || received == core.log().end()) {
      progressNs = nowNs;
      countedNs = nowNs; // only memory is written so
    }
    received = Math.max(received, oneSided.received());
    confirmed = Math.max(confirmed, oneSided.confirmed());
  }

  /** Whether a look at its gate is under way. */
  boolean isLooking() {
    return oneSided != null && oneSided.isLooking();
  }

  /** Whether a look at its gate has ended whose result was not taken. */
  boolean hasResult() {
    return oneSided != null && oneSided.hasResult();
  }

  /** How records get to the member: {@code rpc}, or {@code one-sided} and the fabric's name. */
  String replicatedBy() {
    return oneSided == null ? "rpc" : "one-sided " + oneSided.fabric();
  }

  /** Describes how far the member is behind its leader. */
  ReplicaStatus.MemberLag lag(boolean joining) {
    return new ReplicaStatus.MemberLag(node, joining, received, applied, replicatedBy());
  }

  /** Whether there is nothing to be told or awaited, for as long as the leader is idle. */
  private boolean isIdle(long nowNs) {
    final boolean isTold = !idling.isToldBusy() && answers >= sent && !joins;
    final boolean rests = !core.activity().isBusy(nowNs) && !core.nodeEnd().hasBegun();
    return isQuiet() && isTold && rests && applied == core.log().end();
  }

  /** Ends the paths that this has begun: the epoch has ended, or the member has failed. */
  void close() {
    idling.end();
    endConnecting();
    if (oneSided != null) {
      oneSided.close();
      oneSided = null;
    }
  }

  /** A message was answered that is no part of the epoch. */
  void answered() {
    answers++;
  }

  /** Begins to send the records behind a position to a node that gets a snapshot. */
  void join(long position) {
    joins = true;
    received = position;
    if (!cursor.seek(position)) {
      fail();
    }
  }

  /** Sends what is due to a member. */
  void work(long end, long question, long nowNs) {
    final boolean isComplete = counted() == core.log().end();
    if (isComplete || wasComplete) { // it lacked nothing until now, however long its answers take
      countedNs = nowNs;
    }
    wasComplete = isComplete;
    if (!isConnected()) {
      return;
    }
    switch (state) {
      case UNKNOWN, PROBING -> ask(end, nowNs);
      case REPLICATING -> replicate(question, nowNs);
      case FAILED -> heartbeat(nowNs); // until a configuration without it is established
    }
    idling.work(isIdle(nowNs) && diskRoom != DiskRoom.DISK_ROOM_OVER_QUOTA, nowNs);
  }

  private void ask(long end, long nowNs) {
    if (nowNs - adoptNs >= HEARTBEAT_NS && send(message().setAdopt(adopt(end)), nowNs)) {
      adoptNs = nowNs;
    }
  }

  private void replicate(long question, long nowNs) {
    if (connecting != null && connecting.isDone()) {
      beginOneSided();
    }
    if (oneSided != null) {
      place(question, nowNs);
    } else {
      sendRecords(nowNs);
    }
    if (oneSided == null && asked < question && send(message().setConfirm(question), nowNs)) {
      asked = question;
    }
    heartbeat(nowNs);
  }

  private Adopt.Builder adopt(long end) {
    return Adopt.newBuilder().setEnd(end).addAllFabrics(core.context().peers().memory().hints());
  }

  /** Sends records that it has not got, as far as they may be under way. */
  void sendRecords(long nowNs) {
    // The node refuses everything after a refused message, so records are sent again when all
    // messages are answered.
    final boolean goesOn =
        received >= cursor.position() || nowNs - progressNs < HEARTBEAT_NS || recordsSent == 0;
    while (state == MemberState.REPLICATING && goesOn && mayGetMore() && cursor.hasNext()) {
      final long position = cursor.position();
      final Append.Builder append =
          Append.newBuilder().setPosition(position).setRecords(cursor.take());
      append.setCount((int) (cursor.position() - position));
      if (!send(message().setAppend(append), nowNs)) {
        cursor.seek(position);
        return;
      }
      recordsSent = sent;
    }
  }

  /** Sends an empty message if nothing was sent for long, or the leader has become busy. */
  void heartbeat(long nowNs) {
    final boolean hasBegun = core.activity().isBusy(nowNs) && !idling.isToldBusy();
    final long restNs = core.activity().heartbeatNs(nowNs) - (nowNs - sentNs);
    if (hasBegun || (restNs <= 0 && !idling.isIdle())) {
      send(message().setAppend(Append.newBuilder().setPosition(cursor.position())), nowNs);
    }
  }

  LeaderMessage.Builder message() {
    return LeaderMessage.newBuilder()
        .setGroup(core.context().group())
        .setEpoch(epoch)
        .setCommit(core.commit());
  }

  /** Sends a message; returns false if that cannot be now. */
  boolean send(LeaderMessage.Builder message, long nowNs) {
    final boolean busy = core.activity().isBusy(nowNs);
    if (!core.context().peers().send(node, message.setBusy(busy).build())) {
      return false;
    }
    idling.told(busy);
    sent++;
    sentNs = nowNs;
    return true;
  }
}
