package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupDisk;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.log.RecordLog;
import dev.ringfetch.index.v1.Adopt;
import dev.ringfetch.index.v1.Append;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.EpochBegin;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.Inquiry;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.Recovery;
import dev.ringfetch.index.v1.Resume;
import dev.ringfetch.index.v1.SnapshotBegin;
import dev.ringfetch.index.v1.SnapshotEnd;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a member with a disk answers, and what it is after a restart. */
final class DiskFollowerTest implements Peers, MemberStore {
  private static final long GROUP = 3;
  private static final long SELF = 1;
  private static final long LEADER = 8;
  private static final long OTHER = 9;
  private static final GroupState STATE =
      GroupState.newBuilder()
          .setGroup(GROUP)
          .setDefinition(
              SimulatedDefinition.of(new IndexDefinition(IndexKind.HASH, Durability.DISK, 1, 1, 1)))
          .build();

  private final List<byte[]> disk = new ArrayList<>();
  private final List<Long> applied = new ArrayList<>();
  private long durable;
  private ReplicaContext.Limits limits = ReplicaContext.Limits.DEFAULT;
  private boolean failed;
  private boolean mayFail;
  private final List<String> failures = new ArrayList<>();
  private int refusals; // so many records find no room
  private ReplicaCore core = new ReplicaCore(context());
  private Follower follower = new Follower(core);
  private MemberMessage answer;
  private GroupLog led; // as the leader
  private final List<LeaderMessage> sent = new ArrayList<>();

  private ReplicaContext context() {
    final long before = disk.size();
    return new ReplicaContext(
        GROUP,
        Node.newBuilder().setId(SELF).setIncarnation(1).build(),
        1,
        this,
        this,
        () -> 0,
        () -> 1,
        limits,
        failure -> {
          if (!mayFail) {
            throw new AssertionError(failure);
          }
          failures.add(failure.getMessage());
        },
        new GroupDisk() {
          @Override
          public boolean append(byte[] bytes, int offset, int length, boolean isUrgent) {
            if (refusals > 0) {
              refusals--;
              return false;
            }
            disk.add(ByteString.copyFrom(bytes, offset, length).toByteArray());
            return true;
          }

          @Override
          public long appended() {
            return disk.size() - before;
          }

          @Override
          public long durable() {
            return durable - before;
          }

          @Override
          public boolean isFailed() {
            return failed;
          }

          @Override
          public boolean isShort() {
            return false;
          }

          @Override
          public boolean isFull(int length, int type) {
            return false;
          }

          @Override
          public void onChange(Runnable listener) {
            // The test asks.
          }

          @Override
          public void close() {
            // Nothing to give back.
          }
        });
  }

  private void member() throws GroupStoreException {
    core.reset(0, STATE);
    core.become(ReplicaState.MEMBER);
  }

  private void sync() {
    durable = disk.size();
    core.journal();
    follower.notice();
  }

  /** The process ends, and leaves what is durable; another one begins. */
  private GroupRecovery restart() throws GroupStoreException {
    disk.subList((int) durable, disk.size()).clear();
    applied.clear();
    final GroupRecovery recovery = new GroupRecovery(GROUP, state -> this, limits.waiting());
    final JournalRecord record = new JournalRecord();
    for (final byte[] bytes : disk) {
      assertTrue(record.wrap(bytes, 0, bytes.length));
      recovery.onRecord(record);
    }
    assertTrue(recovery.isPresent());
    core = ReplicaCore.recovered(context(), recovery);
    follower = new Follower(core);
    return recovery;
  }

  private void send(long from, long epoch, long commit, LeaderMessage.Builder message) {
    answer = null;
    follower.onMessage(from, message.setGroup(GROUP).setEpoch(epoch).setCommit(commit).build(), 0);
    follower.apply(100);
    core.journal();
  }

  private static LeaderMessage.Builder adopt(long end) {
    return LeaderMessage.newBuilder().setAdopt(Adopt.newBuilder().setEnd(end));
  }

  private static LeaderMessage.Builder resume(long position) {
    return LeaderMessage.newBuilder().setResume(Resume.newBuilder().setPosition(position));
  }

  private static LeaderMessage.Builder append(long epoch, long position, int count) {
    ByteString records = ByteString.EMPTY;
    for (int i = 1; i <= count; i++) {
      records = records.concat(record(epoch, position + i));
    }
    return LeaderMessage.newBuilder()
        .setAppend(Append.newBuilder().setPosition(position).setCount(count).setRecords(records));
  }

  private static ByteString record(long epoch, long lsn) {
    final byte[] record = new byte[RecordDescriptor.aligned(RecordDescriptor.KEY_OFFSET)];
    new JournalRecord()
        .begin(record, 0, RecordDescriptor.PUT, ByteString.EMPTY, ByteString.EMPTY)
        .partition(GROUP, 0)
        .place(epoch, lsn)
        .end();
    return ByteString.copyFrom(record);
  }

  /** A client of a snapshot, of no index. */
  private static ByteString client(long lsn) {
    final byte[] record = new byte[RecordDescriptor.aligned(RecordDescriptor.KEY_OFFSET)];
    new JournalRecord()
        .begin(record, 0, RecordDescriptor.OPEN_CLIENT, ByteString.EMPTY, ByteString.EMPTY)
        .request(77, 1)
        .place(0, lsn)
        .end();
    return ByteString.copyFrom(record);
  }

  private static LeaderMessage.Builder snapshot(long... members) {
    final Configuration.Builder established = Configuration.newBuilder().setEpoch(6);
    for (final long member : members) {
      established.addMembers(Member.newBuilder().setNode(member).setIncarnation(7));
    }
    return LeaderMessage.newBuilder()
        .setSnapshotBegin(
            SnapshotBegin.newBuilder()
                .setPosition(2)
                .setGroup(STATE.toBuilder().setEstablished(established)));
  }

  @Test
  void positionsCountWhenTheDiskHasThemAndTheEpoch() throws GroupStoreException {
    member();
    send(LEADER, 5, 0, adopt(0));
    assertEquals(0, answer.getDurable());
    sync();
    assertEquals(1, answer.getDurable());
    assertTrue(answer.getUnasked());
    send(LEADER, 5, 0, append(5, 0, 3));
    assertEquals(3, answer.getReceived());
    assertEquals(1, answer.getDurable());
    sync();
    assertEquals(4, answer.getDurable());
    send(OTHER, 6, 0, adopt(2)); // which cuts: what is durable is of another epoch
    assertEquals(2, answer.getReceived());
    assertEquals(0, answer.getDurable());
    sync();
    assertEquals(3, answer.getDurable());
  }

  @Test
  void aRestartFindsLogAndEpochAndObeysNobody() throws GroupStoreException {
    member();
    send(LEADER, 5, 0, adopt(0));
    send(LEADER, 5, 0, append(5, 0, 4));
    send(OTHER, 6, 0, adopt(2));
    send(OTHER, 6, 3, append(6, 2, 2));
    sync();
    send(OTHER, 6, 3, append(6, 4, 1)); // is lost
    restart();
    assertEquals(List.of(), applied); // nobody has told the disk what is committed
    send(OTHER, 6, 4, LeaderMessage.newBuilder().setConfirm(1));
    assertEquals(0, answer.getGate());
    assertEquals(0, answer.getConfirmed());
    send(LEADER, 5, 4, adopt(0));
    assertEquals(6, answer.getGate());
    send(LEADER, 7, 4, LeaderMessage.newBuilder().setInquiry(Inquiry.getDefaultInstance()));
    assertEquals(6, answer.getLogEpoch());
    assertEquals(4, answer.getReceived());
    assertEquals(List.of(), applied); // a question commits nothing
    send(LEADER, 7, 3, resume(3));
    assertEquals(7, answer.getGate());
    assertEquals(3, answer.getReceived());
    assertEquals(List.of(5001L, 5002L, 6003L), applied);
    sync();
    restart();
    send(LEADER, 8, 0, LeaderMessage.newBuilder().setInquiry(Inquiry.getDefaultInstance()));
    assertEquals(7, answer.getLogEpoch());
    assertEquals(3, answer.getReceived());
  }

  @Test
  void aCompleteMemberGivesNothingUpForASnapshot() throws GroupStoreException {
    member();
    send(LEADER, 5, 0, adopt(0));
    send(LEADER, 5, 0, append(5, 0, 4));
    sync();
    restart();
    send(OTHER, 6, 2, snapshot(SELF, OTHER));
    assertEquals(4, answer.getReceived());
    assertFalse(answer.getGate() == 6);
    send(OTHER, 6, 2, snapshot(OTHER));
    assertEquals(6, answer.getGate());
    assertEquals(2, answer.getReceived());
  }

  @Test
  void aPartOfASnapshotIsNoLog() throws GroupStoreException {
    send(OTHER, 6, 2, snapshot(OTHER));
    send(OTHER, 6, 2, LeaderMessage.newBuilder().setSnapshot(record(0, 1)));
    send(OTHER, 6, 2, append(6, 2, 1));
    sync();
    assertEquals(0, answer.getDurable());
    restart();
    send(OTHER, 7, 3, LeaderMessage.newBuilder().setInquiry(Inquiry.getDefaultInstance()));
    assertEquals(0, answer.getLogEpoch());
    send(LEADER, 5, 3, snapshot(LEADER)); // the epoch of the snapshot is not forgotten
    assertEquals(0, answer.getReceived());

    send(OTHER, 7, 2, snapshot(OTHER));
    send(OTHER, 7, 2, LeaderMessage.newBuilder().setSnapshot(record(0, 1).concat(client(2))));
    send(OTHER, 7, 2, append(7, 2, 1));
    send(
        OTHER,
        7,
        2,
        LeaderMessage.newBuilder().setSnapshotEnd(SnapshotEnd.newBuilder().setPosition(2)));
    sync();
    assertEquals(4, answer.getDurable());
    restart();
    send(OTHER, 8, 3, LeaderMessage.newBuilder().setInquiry(Inquiry.getDefaultInstance()));
    assertEquals(7, answer.getLogEpoch());
    assertEquals(3, answer.getReceived());
    assertEquals(List.of(1L, 2L), applied);
    final JournalRecord record = new JournalRecord();
    for (final byte[] bytes : disk) { // one journal has the records of all groups
      assertTrue(record.wrap(bytes, 0, bytes.length));
      assertEquals(GROUP, record.index());
    }
  }

  @Test
  void aNodeThatRestartsAsItJoinsTakesASnapshotInTheSameEpoch() throws GroupStoreException {
    member();
    send(LEADER, 5, 0, adopt(0));
    send(LEADER, 5, 0, append(5, 0, 4));
    sync();
    restart();
    send(OTHER, 6, 3, resume(3));
    sync();
    restart();
    send(OTHER, 6, 3, LeaderMessage.newBuilder().setInquiry(Inquiry.getDefaultInstance()));
    assertEquals(6, answer.getLogEpoch());
    send(OTHER, 6, 3, snapshot(SELF, OTHER)); // it is no member's
    assertEquals(0, answer.getGate());
    assertEquals(3, answer.getReceived());
    send(OTHER, 6, 3, snapshot(OTHER));
    assertEquals(6, answer.getGate());
    assertEquals(2, answer.getReceived());
    sync();
    restart(); // there is a part of a snapshot, and nothing of the log before it
    send(OTHER, 6, 3, LeaderMessage.newBuilder().setInquiry(Inquiry.getDefaultInstance()));
    assertEquals(0, answer.getLogEpoch());
    assertEquals(0, answer.getReceived());
  }

  @Test
  void whatWasReadAtTheStartKeepsNoRecordsThatComeLater()
      throws GroupStoreException, InterruptedException {
    limits = new ReplicaContext.Limits(4 << 10, 4 << 10, 1 << 10);
    member();
    send(LEADER, 5, 0, adopt(0));
    send(LEADER, 5, 0, append(5, 0, 4));
    sync();
    final GroupRecovery recovery = restart();
    send(OTHER, 6, 4, resume(4));
    send(OTHER, 6, 4, append(6, 4, 5));
    final WeakReference<byte[]> records = lastRecords();
    for (int end = 9; end < 200; end += 5) {
      send(OTHER, 6, end, append(6, end, 5));
      sync();
    }
    assertTrue(core.log().base() > 9);
    for (int i = 0; i < 100 && records.get() != null; i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertNull(records.get());
    assertTrue(recovery.isPresent()); // and was not freed itself
  }

  private WeakReference<byte[]> lastRecords() {
    final RecordLog.Cursor cursor = core.log().new Cursor();
    assertTrue(cursor.seek(core.log().end()));
    return new WeakReference<>(cursor.array());
  }

  @Test
  void aFailedDiskTakesNoSnapshot() {
    failed = true;
    send(OTHER, 6, 2, snapshot(OTHER));
    assertEquals(0, answer.getGate());
  }

  private static LeaderMessage.Builder piece(ByteString records) {
    return LeaderMessage.newBuilder().setSnapshot(records);
  }

  private void work() {
    answer = null;
    core.journal();
    follower.notice();
  }

  @Test
  void aSnapshotWaitsForTheDisksRoom() throws GroupStoreException {
    refusals = 100;
    send(OTHER, 6, 2, snapshot(OTHER));
    assertEquals(6, answer.getGate());
    send(OTHER, 6, 2, piece(record(0, 1)));
    assertNull(answer);
    send(OTHER, 6, 2, append(6, 2, 1));
    assertEquals(6, answer.getGate()); // it lives
    assertEquals(3, answer.getReceived());
    work();
    assertNull(answer);
    assertEquals(List.of(), disk);
    refusals = 0;
    work();
    assertEquals(6, answer.getGate());
    assertFalse(answer.getUnasked());
    work();
    assertNull(answer); // one answer to each message

    refusals = 1; // what follows does not pass it
    send(OTHER, 6, 2, piece(record(0, 2).concat(record(0, 3))));
    refusals = 100;
    send(OTHER, 6, 2, piece(record(0, 4)));
    refusals = 1;
    send(
        OTHER,
        6,
        3,
        LeaderMessage.newBuilder().setSnapshotEnd(SnapshotEnd.newBuilder().setPosition(2)));
    sync();
    assertEquals(4, answer.getDurable());
    restart();
    assertEquals(List.of(1L, 2L, 3L, 4L), applied);
    send(LEADER, 8, 0, LeaderMessage.newBuilder().setInquiry(Inquiry.getDefaultInstance()));
    assertEquals(6, answer.getLogEpoch());
    assertEquals(3, answer.getReceived());
  }

  @Test
  void aSnapshotThatBeginsAnewIsBehindWhatWaited() throws GroupStoreException {
    refusals = 100;
    send(OTHER, 6, 2, snapshot(OTHER));
    send(OTHER, 6, 2, piece(record(0, 1)));
    refusals = 0;
    send(OTHER, 6, 2, snapshot(OTHER));
    work();
    assertNull(answer); // nobody waits for the answer to the first piece
    send(OTHER, 6, 2, piece(record(0, 5)));
    send(
        OTHER,
        6,
        2,
        LeaderMessage.newBuilder().setSnapshotEnd(SnapshotEnd.newBuilder().setPosition(2)));
    sync();
    restart();
    assertEquals(List.of(5L), applied);
  }

  @Test
  void aSnapshotWaitsForTheDisksSyncs() {
    send(OTHER, 6, 2, snapshot(OTHER));
    final ByteString value = ByteString.copyFrom(new byte[1 << 20]);
    int pieces = 0;
    while (answer != null) {
      assertTrue(++pieces < 100, "it goes on without a sync");
      final byte[] record = new byte[JournalRecord.aligned(ByteString.EMPTY, value, 0)];
      new JournalRecord()
          .begin(record, 0, RecordDescriptor.PUT, ByteString.EMPTY, value)
          .partition(GROUP, 0)
          .place(0, pieces)
          .end();
      send(OTHER, 6, 2, piece(ByteString.copyFrom(record)));
    }
    assertTrue(pieces > 4, "each piece waits: " + pieces);
    work();
    assertNull(answer);
    durable = disk.size();
    work();
    assertEquals(6, answer.getGate());
  }

  @Test
  void aFailedDiskEndsASnapshotThatWaits() {
    refusals = 100;
    send(OTHER, 6, 2, snapshot(OTHER));
    send(OTHER, 6, 2, piece(record(0, 1)));
    assertNull(answer);
    core.leave(ReplicaState.NONE); // as the cycle does then
    work();
    assertEquals(0, answer.getGate());
  }

  @Test
  void nothingFollowsTheEndOfAGroup() throws GroupStoreException {
    member();
    send(LEADER, 5, 0, adopt(0));
    core.drop();
    send(LEADER, 5, 0, append(5, 0, 1));
    send(LEADER, 6, 0, adopt(0));
    send(OTHER, 7, 2, snapshot(OTHER));
    assertEquals(6, answer.getGate());
    final JournalRecord record = new JournalRecord();
    final byte[] last = disk.get(disk.size() - 1);
    assertTrue(record.wrap(last, 0, last.length));
    assertEquals(RecordDescriptor.GROUP_END, record.type());
  }

  @Test
  void logsThatWereLeftBehindAreCutWhereTheNextEpochBegan() {
    final GroupState.Builder state = GroupState.newBuilder();
    state.addBegins(EpochBegin.newBuilder().setEpoch(5).setPosition(10));
    state.addBegins(EpochBegin.newBuilder().setEpoch(8).setPosition(20));
    assertEquals(10, Configurations.shared(state.build(), 4, 12));
    assertEquals(20, Configurations.shared(state.build(), 5, 25));
    assertEquals(20, Configurations.shared(state.build(), 6, 25)); // was never established
    assertEquals(7, Configurations.shared(state.build(), 6, 7));
    assertEquals(25, Configurations.shared(state.build(), 8, 25));
    for (int epoch = 9; epoch < 40; epoch++) {
      state.addBegins(EpochBegin.newBuilder().setEpoch(epoch).setPosition(30));
    }
    while (state.getBeginsCount() > 32) {
      state.removeBegins(0);
    }
    assertEquals(-1, Configurations.shared(state.build(), 6, 25)); // earlier ones are not known
    assertEquals(25, Configurations.shared(state.build(), 9, 25));
    state.getRecoveryBuilder().setEpoch(9);
    assertEquals(-1, Configurations.shared(state.build(), 9, 25)); // what it has may be lost
    assertEquals(30, Configurations.shared(state.build(), 10, 40));
  }

  /** The group in a configuration of these nodes, of another process of this one if it is 0. */
  private static GroupState established(int version, long epoch, long incarnation, long... nodes) {
    final Configuration.Builder configuration =
        Configuration.newBuilder().setEpoch(epoch).setLeader(nodes[0]);
    for (final long node : nodes) {
      configuration.addMembers(Member.newBuilder().setNode(node).setIncarnation(incarnation));
    }
    return STATE.toBuilder()
        .setVersion(version)
        .setReplicas(1)
        .setEstablished(configuration)
        .addBegins(EpochBegin.newBuilder().setEpoch(5))
        .build();
  }

  /** A replica that obeys the leader, in an epoch that is not established. */
  private ReplicaCycle obeying(long epoch) {
    final ReplicaCycle cycle = new ReplicaCycle(context(), null, () -> {});
    final GroupState first =
        established(1, 5, 1, LEADER, SELF).toBuilder().clearEstablished().build();
    cycle.onGroup(
        first.toBuilder().setWon(established(1, 5, 1, LEADER, SELF).getEstablished()).build());
    cycle.onMessage(LEADER, message(epoch, adopt(0)));
    cycle.work();
    assertEquals(epoch, cycle.status().gate());
    return cycle;
  }

  private static LeaderMessage message(long epoch, LeaderMessage.Builder content) {
    return content.setGroup(GROUP).setEpoch(epoch).build();
  }

  @Test
  void aProcessThatHasLivedGoesOnOnlyIfItsDirectoryIsTheRecoveredOne() {
    final GroupState recovered = established(2, 9, 0, SELF);
    ReplicaCycle cycle = obeying(6);
    assertEquals(6, cycle.status().log().epoch());
    assertFalse(cycle.status().log().mayHaveMore());
    cycle.onGroup(recovered);
    assertEquals(ReplicaState.MEMBER, cycle.state());
    assertTrue(cycle.status().log().isWhole());
    cycle = obeying(7);
    cycle.onGroup(established(2, 9, 0, OTHER));
    assertEquals(ReplicaState.NONE, cycle.state());
  }

  @Test
  void aMemberWithoutWhichTheGroupGoesOnKeepsItsLogIfThatIsOfUse() {
    final GroupState lacking = established(2, 9, 1, OTHER).toBuilder().setReplicas(2).build();
    ReplicaCycle cycle = obeying(6);
    cycle.onGroup(lacking);
    assertEquals(ReplicaState.MEMBER, cycle.state());
    assertEquals(0, cycle.status().leader());
    assertFalse(cycle.status().log().isWhole());
    assertEquals(6, cycle.status().log().epoch());
    cycle = obeying(6);
    final GroupState.Builder without = lacking.toBuilder();
    without.getRecoveryBuilder().setCount(1).setEpoch(6);
    cycle.onGroup(without.build()); // and gave it up
    assertEquals(ReplicaState.NONE, cycle.state());
    cycle = obeying(6);
    cycle.onGroup(established(2, 9, 1, OTHER)); // and is whole
    assertEquals(ReplicaState.NONE, cycle.state());
  }

  @Test
  void aLeaderOfAnEpochThatIsOverIsNotObeyed() {
    final ReplicaCycle cycle = obeying(6);
    cycle.onGroup(established(2, 9, 0, SELF));
    cycle.onMessage(LEADER, message(7, adopt(0)));
    cycle.work();
    assertEquals(6, cycle.status().gate());
    assertEquals(0, answer.getGate());
    cycle.onMessage(LEADER, message(10, adopt(0)));
    cycle.work();
    assertEquals(10, cycle.status().gate());
  }

  private ReplicaCycle restarted() throws GroupStoreException {
    member();
    send(LEADER, 5, 0, adopt(0));
    send(LEADER, 5, 0, append(5, 0, 4));
    sync();
    final GroupRecovery recovery = new GroupRecovery(GROUP, state -> this);
    final JournalRecord record = new JournalRecord();
    for (final byte[] bytes : disk) {
      assertTrue(record.wrap(bytes, 0, bytes.length));
      recovery.onRecord(record);
    }
    recovery.onRecord(control(RecordDescriptor.GROUP_COMMIT, 5, 4));
    return new ReplicaCycle(context(), recovery, () -> {});
  }

  @Test
  void anOlderStateOfADirectoryObeysNobody() throws GroupStoreException {
    final ReplicaCycle cycle = restarted();
    mayFail = true;
    cycle.onGroup(established(2, 9, 7, OTHER, SELF)); // which the directory had, and has not
    assertTrue(failures.toString().contains("is an older state"), failures::toString);
    cycle.onMessage(OTHER, message(10, adopt(4)));
    cycle.work();
    assertEquals(5, cycle.status().gate());
    assertEquals(0, answer.getGate());
  }

  @Test
  void aLogIsKeptWhileNobodyLivesThatHasMore() throws GroupStoreException {
    final ReplicaCycle cycle = restarted();
    cycle.onGroup(established(2, 9, 1, OTHER)); // whole without this directory
    assertEquals(ReplicaState.MEMBER, cycle.state());
    assertEquals(5, cycle.status().log().epoch());
    assertFalse(cycle.status().log().isWhole());
    cycle.onNodes(Map.of(OTHER, Node.newBuilder().setId(OTHER).setIncarnation(2).build()));
    assertEquals(ReplicaState.NONE, cycle.state());
    assertTrue(cycle.status().log().mayHaveMore());
  }

  @Test
  void aLogThatHasAppliedWhatWasGivenUpIsNone() throws GroupStoreException {
    final ReplicaCycle cycle = restarted();
    final long applied = cycle.status().applied();
    assertTrue(applied > 1, () -> "applied=" + applied);
    final GroupState.Builder again = established(2, 9, 1, OTHER).toBuilder();
    again.getRecoveryBuilder().setCount(1).setEpoch(6);
    again.addBegins(EpochBegin.newBuilder().setEpoch(6).setPosition(applied));
    cycle.onGroup(again.build());
    assertEquals(5, cycle.status().log().epoch());
    assertEquals(applied, cycle.status().log().position());
    again.setVersion(3).addBegins(EpochBegin.newBuilder().setEpoch(8).setPosition(1));
    cycle.onGroup(again.build()); // the group went on without what this has
    assertEquals(0, cycle.status().log().epoch());
    assertTrue(cycle.status().log().mayHaveMore());
  }

  @Test
  void recordsThatCannotBeThereAreRefused() {
    final GroupRecovery recovery = new GroupRecovery(GROUP, state -> this);
    final byte[] bytes = record(5, 1).toByteArray();
    final JournalRecord record = new JournalRecord().at(bytes, 0);
    assertThrows(GroupStoreException.class, () -> recovery.onRecord(record));
    assertFalse(recovery.isPresent());
  }

  @Test
  void aLogThatCannotBeIsGivenUpButNotWhomItObeyed() throws GroupStoreException {
    member();
    send(LEADER, 5, 0, adopt(0));
    send(LEADER, 5, 0, append(5, 0, 4));
    sync();
    final GroupRecovery recovery = new GroupRecovery(GROUP, state -> this);
    final JournalRecord record = new JournalRecord();
    for (final byte[] bytes : disk) {
      assertTrue(record.wrap(bytes, 0, bytes.length));
      recovery.onRecord(record);
    }
    assertThrows(GroupStoreException.class, () -> recovery.onRecord(epoch(6, 99)));
    recovery.onRecord(epoch(7, 2));
    recovery.onRecord(record);
    assertTrue(recovery.isPresent());
    assertFalse(recovery.hasLog());
    core = ReplicaCore.recovered(context(), recovery);
    follower = new Follower(core);
    assertEquals(ReplicaState.NONE, core.state());
    send(OTHER, 6, 2, snapshot(OTHER)); // of an epoch that was left
    assertEquals(7, core.gate());
    assertEquals(0, answer.getLogEpoch());
    assertEquals(ReplicaState.NONE, core.state());
    send(OTHER, 7, 2, snapshot(OTHER));
    assertEquals(7, answer.getGate());
  }

  private static JournalRecord epoch(long epoch, long position) {
    return control(RecordDescriptor.GROUP_EPOCH, epoch, position);
  }

  private static JournalRecord control(int type, long epoch, long position) {
    final ByteString value = RecordDescriptor.value(position);
    final byte[] bytes = new byte[JournalRecord.aligned(ByteString.EMPTY, value, 0)];
    new JournalRecord()
        .begin(bytes, 0, type, ByteString.EMPTY, value)
        .partition(GROUP, 0)
        .place(epoch, 0)
        .end();
    return new JournalRecord().at(bytes, 0);
  }

  private MemberProgress progress(int records) {
    for (int i = 1; i <= records; i++) {
      final byte[] bytes = record(7, i).toByteArray();
      core.log().add(bytes, 0, bytes.length);
    }
    return new MemberProgress(core, 9, 7, true, 0);
  }

  private static MemberMessage.Builder answer(long received, long onDisk) {
    return MemberMessage.newBuilder()
        .setEpoch(7)
        .setGate(7)
        .setReceived(received)
        .setDurable(onDisk + 1);
  }

  @Test
  void aMembersRecordsCountForTheLeaderWhenTheMembersDiskHasThem() {
    final MemberProgress member = progress(3);
    member.onAnswer(answer(3, -1).build(), 0);
    assertEquals(-1, member.counted());
    member.onAnswer(answer(3, 2).build(), 0);
    assertEquals(2, member.counted());
  }

  /** Its log would lead once the process restarts: nothing may begin without it. */
  @Test
  void joinerWithALogOnDiskMayHaveMore() throws GroupStoreException {
    final ReplicaCycle cycle = restarted();
    cycle.onNodes(Map.of(OTHER, Node.newBuilder().setId(OTHER).setIncarnation(1).build()));
    cycle.onGroup(established(2, 9, 1, OTHER).toBuilder().setReplicas(2).build());
    cycle.onMessage(OTHER, message(9, resume(4)));
    cycle.onMessage(OTHER, message(9, append(9, 4, 1000)));
    cycle.work();
    cycle.onNodes(Map.of()); // the leader's directory is lost
    cycle.work();
    assertEquals(ReplicaState.JOINING, cycle.state());
    assertEquals(0, cycle.status().log().epoch());
    assertTrue(cycle.status().log().mayHaveMore());
  }

  /** The commit of a leader that is lost may lie behind the log with which the group goes on. */
  @Test
  void writesOfARecoveredLeaderDoNotWaitForTheCommitOfTheLostOne() throws GroupStoreException {
    final ReplicaCycle cycle = restarted();
    final GroupState lacking = established(2, 9, 1, OTHER).toBuilder().setReplicas(2).build();
    cycle.onNodes(Map.of(OTHER, Node.newBuilder().setId(OTHER).setIncarnation(1).build()));
    cycle.onGroup(lacking);
    cycle.onMessage(OTHER, message(9, resume(4)));
    cycle.onMessage(OTHER, message(9, append(9, 4, 1)).toBuilder().setCommit(10).build());
    cycle.work();
    final Configuration two = established(3, 10, 1, OTHER, SELF).getEstablished();
    cycle.onGroup(lacking.toBuilder().setVersion(3).setWon(two).build());
    cycle.onMessage(OTHER, message(10, adopt(10)));
    cycle.work();
    cycle.onNodes(Map.of());
    final GroupState recovered =
        established(4, 11, 0, SELF).toBuilder()
            .setReplicas(2)
            .setRecovery(Recovery.newBuilder().setCount(1).setEpoch(10))
            .build();
    cycle.onGroup(recovered);
    final Configuration won = established(5, 12, 1, SELF).getEstablished();
    cycle.onGroup(recovered.toBuilder().setVersion(5).setWon(won).build());
    cycle.work();
    durable = disk.size();
    cycle.onGroup(
        recovered.toBuilder()
            .setVersion(6)
            .setEstablished(won)
            .addBegins(EpochBegin.newBuilder().setEpoch(12).setPosition(5))
            .build());
    for (int i = 0; i < 5; i++) {
      cycle.work();
      durable = disk.size();
    }
    assertEquals(ReplicaState.LEADING, cycle.state());
    assertTrue(led.append(RecordDescriptor.OPEN_CLIENT, 7, 1, is -> {}));
    for (int i = 0; i < 5; i++) {
      cycle.work();
      durable = disk.size();
    }
    assertEquals(6, cycle.status().end());
    assertEquals(6, cycle.status().commit());
  }

  @Test
  void whatAMemberHasRefusedIsSentAgain() {
    final MemberProgress member = progress(3);
    member.onAnswer(answer(0, 0).setUnasked(true).build(), 0);
    member.sendRecords(0);
    member.sendRecords(0);
    assertEquals(1, sent.size());
    member.onAnswer(answer(0, 0).build(), 1);
    member.sendRecords(1);
    assertEquals(2, sent.size());
    assertEquals(3, sent.get(1).getAppend().getCount());
  }

  // The rest of the replica.

  @Override
  public void connect(Node node) {
    throw new AssertionError(node);
  }

  @Override
  public void disconnect(long node) {
    throw new AssertionError(node);
  }

  @Override
  public boolean send(long node, LeaderMessage message) {
    sent.add(message);
    return true;
  }

  @Override
  public void answer(long leader, MemberMessage message) {
    answer = message;
  }

  @Override
  public void clear(GroupState group) {
    applied.clear();
  }

  @Override
  public void apply(JournalRecord record) {
    applied.add(record.epoch() * 1000 + record.lsn());
  }

  @Override
  public void restore(JournalRecord record) {
    applied.add(record.lsn());
  }

  @Override
  public void lead(GroupLog log, GroupState group) {
    led = log;
  }

  @Override
  public void follow() {
    applied.clear();
  }
}
