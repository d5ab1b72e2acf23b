package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.Recoveries;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.v1.Adopt;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.SnapshotBegin;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a process that ends in order leaves of a member, and what the next one has of it. */
final class StopCopyTest implements UnconnectedPeers, MemberStore {
  private static final long GROUP = 3;
  private static final long NODE = 1;
  private static final long INCARNATION = 41;
  private static final long LEADER = 8;
  private static final int LIMIT = 64 << 10;
  private static final GroupState STATE = GroupState.newBuilder().setGroup(GROUP).build();

  private final List<Long> content = new ArrayList<>(); // of the store: LSNs
  private final ArrayDeque<ByteString> pieces = new ArrayDeque<>();
  private boolean walks = true; // else a piece comes later
  private boolean fails; // the store
  private final List<byte[]> left = new ArrayList<>();
  private long nowNs;
  private MemberMessage answer;
  private int stops;
  private final ReplicaContext context = context(INCARNATION);
  private final ReplicaCore core = new ReplicaCore(context);
  private final StopCopy copy = new StopCopy(context, () -> {}, () -> {});

  private ReplicaContext context(long incarnation) {
    return context(incarnation, this);
  }

  private ReplicaContext context(long incarnation, @Nullable Peers peers) {
    return new ReplicaContext(
        GROUP,
        Node.newBuilder().setId(NODE).setIncarnation(incarnation).build(),
        1,
        peers,
        this,
        () -> nowNs,
        () -> 1,
        new ReplicaContext.Limits(LIMIT, LIMIT, 4096),
        failure -> {
          if (!fails) {
            throw new AssertionError(failure);
          }
        });
  }

  private static byte[] record(long epoch, long lsn) {
    final ByteString value = ByteString.copyFrom(new byte[1000]);
    final byte[] record = new byte[JournalRecord.aligned(ByteString.EMPTY, value, 0)];
    new JournalRecord()
        .begin(record, 0, RecordDescriptor.PUT, ByteString.EMPTY, value)
        .partition(GROUP, 0)
        .place(epoch, lsn)
        .end();
    return record;
  }

  private void append(long from, long to) {
    for (long lsn = from; lsn < to; lsn++) {
      final byte[] record = record(core.gate(), lsn);
      core.log().add(record, 0, record.length);
    }
  }

  private void commit(long position) throws GroupStoreException {
    core.commit(position);
    core.apply(1000);
  }

  /** A member in epoch 5 with four records, of which two are committed. */
  private void member() throws GroupStoreException {
    core.reset(0, STATE);
    core.become(ReplicaState.MEMBER);
    core.moveGate(5);
    append(1, 5);
    commit(2);
  }

  /** Has the copy go on; returns whether it is whole. */
  private boolean work() {
    for (int i = 0; i < 500; i++) {
      copy.work(core, true, this::stop);
      final ByteString piece = copy.take();
      if (piece != null) {
        left.add(piece.toByteArray());
      }
    }
    return copy.isDone();
  }

  private void stop() {
    stops++;
    core.leave(ReplicaState.STOPPED);
  }

  private GroupRecovery restart() throws GroupStoreException {
    content.clear();
    final GroupRecovery recovery = new GroupRecovery(GROUP, state -> this, LIMIT);
    final JournalRecord record = new JournalRecord();
    for (final byte[] piece : left) {
      for (int offset = 0; offset < piece.length; ) {
        assertTrue(record.wrap(piece, offset, piece.length));
        recovery.onSnapshotRecord(record);
        offset += RecordDescriptor.aligned(record.length());
      }
    }
    assertFalse(recovery.processes().isEmpty());
    return recovery;
  }

  private static List<Long> to(long end) {
    final List<Long> lsns = new ArrayList<>();
    for (long lsn = 1; lsn < end; lsn++) {
      lsns.add(lsn);
    }
    return lsns;
  }

  private static Member process(long incarnation) {
    return Member.newBuilder().setNode(NODE).setIncarnation(incarnation).build();
  }

  @Test
  void theNextProcessHasEntriesLogAndEpoch() throws Exception {
    member();
    assertTrue(work());
    assertEquals(1, stops);
    final GroupRecovery recovery = restart();
    assertEquals(List.of(1L, 2L), content);
    assertEquals(2, recovery.applied());
    assertEquals(5, recovery.gate());
    assertEquals(List.of(process(INCARNATION)), recovery.processes());
    assertEquals(4, recovery.takeLog().end()); // what the leader has counted, perhaps
  }

  @Test
  void recordsThatComeDuringTheWalkAreThere() throws Exception {
    member();
    walks = false;
    assertFalse(work());
    commit(4);
    for (int i = 0; i < 40; i++) { // some chunks of the log
      append(5 + i, 6 + i);
      commit(5 + i);
    }
    core.moveGate(6);
    walks = true; // over what it found at first
    assertTrue(work());
    final GroupRecovery recovery = restart();
    assertEquals(to(45), content);
    assertEquals(6, recovery.gate());
    assertEquals(44, recovery.applied());
  }

  @Test
  void anotherContentBeginsAnew() throws Exception {
    member();
    walks = false;
    assertFalse(work());
    pieces.add(ByteString.copyFrom(record(0, 1)));
    core.cut(2);
    append(23, 25);
    commit(4);
    core.reset(100, STATE);
    append(101, 103);
    walks = true;
    assertTrue(work());
    final GroupRecovery recovery = restart();
    assertEquals(List.of(), content);
    assertEquals(100, recovery.applied());
    assertEquals(102, recovery.takeLog().end());
  }

  @Test
  void whatIsNotCompleteLeavesNothing() throws Exception {
    assertTrue(work());
    assertEquals(List.of(), left);
    assertEquals(ReplicaState.STOPPED, core.state());
  }

  @Test
  void whatJoinsLeavesNothing() throws Exception {
    core.reset(0, STATE, true);
    core.become(ReplicaState.JOINING);
    assertTrue(work());
    assertEquals(List.of(), left);
    assertEquals(ReplicaState.STOPPED, core.state());
  }

  @Test
  void aProcessThatHasObeyedNobodyLeavesTheRecordThatStands() throws Exception {
    member();
    assertTrue(work());
    final ReplicaCore next = ReplicaCore.recovered(context(42), restart());
    final StopCopy second = new StopCopy(context(42), () -> {}, () -> {});
    second.work(next, true, () -> next.leave(ReplicaState.STOPPED));
    assertTrue(second.isDone());
    assertNull(second.take());
    assertEquals(ReplicaState.STOPPED, next.state());
  }

  @Test
  void whatCannotBeKeptEndsTheReplica() throws Exception {
    member();
    copy.work(core, true, this::stop);
    assertNotNull(copy.take());
    copy.giveUp();
    copy.work(core, true, this::stop);
    assertEquals(1, stops);
    assertFalse(work());
    assertNotNull(copy.failure());
    assertEquals(1, stops);
  }

  @Test
  void aStoreThatFailsEndsTheReplicaInOrder() throws Exception {
    member();
    fails = true;
    assertFalse(work());
    assertNotNull(copy.failure());
    assertEquals(1, stops);
    assertEquals(ReplicaState.STOPPED, core.state());
  }

  @Test
  void aWalkThatGetsNowhereEndsTheCopy() throws Exception {
    member();
    walks = false;
    assertFalse(work());
    assertNull(copy.failure());
    nowNs += StopCopy.PATIENCE_NS + 1;
    assertFalse(work());
    assertNotNull(copy.failure());
    assertEquals(1, stops); // one that goes on would make others' records void
  }

  @Test
  void recordsThatCountAreNotGivenUpForASnapshot() throws Exception {
    member();
    assertTrue(work());
    final ReplicaCore next = ReplicaCore.recovered(context(42), restart());
    final Follower follower = new Follower(next);
    begin(follower, process(INCARNATION));
    assertEquals(ReplicaState.MEMBER, next.state());
    assertEquals(4, next.log().end());
    begin(follower, process(INCARNATION - 1));
    assertEquals(ReplicaState.JOINING, next.state());
    assertEquals(List.of(), next.predecessors());
  }

  /** Its records may be void, and the leader takes it for the successor of a later process. */
  @Test
  void nobodyIsObeyedBeforeTheConfigurationIsKnown() throws Exception {
    member();
    assertTrue(work());
    final ReplicaCycle cycle = new ReplicaCycle(context(44), restart(), () -> {});
    final LeaderMessage adopt =
        LeaderMessage.newBuilder()
            .setGroup(GROUP)
            .setEpoch(9)
            .setAdopt(Adopt.newBuilder().setEnd(20))
            .build();
    cycle.onMessage(LEADER, adopt);
    assertEquals(0, answer.getGate());
    assertEquals(5, cycle.status().gate());
    final Node leader = Node.newBuilder().setId(LEADER).setIncarnation(1).build();
    final Configuration later =
        Configuration.newBuilder()
            .setEpoch(8)
            .setLeader(LEADER)
            .addMembers(Configurations.member(leader))
            .build();
    cycle.onGroup(STATE.toBuilder().setVersion(3).setEstablished(later).build());
    assertEquals(ReplicaState.MEMBER, cycle.state()); // no member is announced: it may be all
    final ReplicaStatus.Log log = cycle.status().log();
    assertEquals(List.of(5L, INCARNATION), List.of(log.epoch(), log.process()));
    assertFalse(log.isWhole());
    assertFalse(cycle.isStopRecordVoid());
    cycle.onMessage(LEADER, adopt); // of a member that takes it for one of the last configuration
    assertEquals(0, answer.getGate());
    assertEquals(5, cycle.status().gate());
    cycle.onNodes(Map.of(LEADER, leader.toBuilder().setIncarnation(2).build())); // has nothing
    assertEquals(ReplicaState.MEMBER, cycle.state());
    cycle.onNodes(Map.of(LEADER, leader));
    assertEquals(ReplicaState.NONE, cycle.state());
    assertTrue(cycle.isStopRecordVoid());
    cycle.onMessage(LEADER, adopt);
    assertEquals(0, answer.getGate());
  }

  /** An operator accepts the loss of what was written after it. */
  @Test
  void theGroupMayGoOnWithAnOlderRecord() throws Exception {
    member();
    assertTrue(work());
    final ReplicaCycle cycle = new ReplicaCycle(context(44), restart(), () -> {});
    final GroupState later =
        STATE.toBuilder()
            .setVersion(3)
            .setEstablished(
                Configuration.newBuilder()
                    .setEpoch(8)
                    .setLeader(LEADER)
                    .addMembers(Member.newBuilder().setNode(LEADER).setIncarnation(1)))
            .build();
    cycle.onGroup(later);
    final GroupState.Builder recovered =
        Recoveries.recovered(later, NODE, cycle.status().log().process(), 7, 9).toBuilder();
    recovered.setVersion(4).getEstablishedBuilder().setEpoch(9);
    cycle.onGroup(recovered.build());
    assertEquals(ReplicaState.MEMBER, cycle.state());
    assertTrue(cycle.status().log().isWhole());
    assertFalse(cycle.isStopRecordVoid());
  }

  private static Configuration configuration(long epoch, long incarnation) {
    return Configuration.newBuilder().setEpoch(epoch).addMembers(process(incarnation)).build();
  }

  @Test
  void theRecordCountsUntilALaterConfigurationDoesWithoutItsProcess() throws Exception {
    member();
    assertTrue(work());
    final EarlierStopRecord record = new EarlierStopRecord(restart(), false);
    record.onEstablished(configuration(core.gate(), 43), false); // its own may be yet
    assertTrue(record.mayCount());
    record.onEstablished(configuration(core.gate() + 1, INCARNATION), false);
    assertTrue(record.mayCount());
    record.onEstablished(configuration(core.gate() + 2, 43), true); // lost, perhaps
    assertTrue(record.mayCount());
    record.onEstablished(configuration(core.gate() + 2, 43), false);
    assertTrue(record.isVoid());
    record.onRemoved();
    assertTrue(record.isGone());
  }

  /** Killed before that, it leaves the record as that of the established process. */
  @Test
  void aServerAloneRemovesTheRecordBeforeItEstablishesItself() throws Exception {
    member();
    assertTrue(work());
    final ReplicaCycle cycle = new ReplicaCycle(context(44, null), restart(), () -> {});
    final GroupState.Builder state =
        STATE.toBuilder().setEstablished(configuration(5, INCARNATION).toBuilder().setLeader(NODE));
    final Configuration ofKilled = configuration(8, 43).toBuilder().setLeader(NODE).build();
    cycle.onCoordinated(true);
    cycle.onGroup(state.setVersion(1).setWon(ofKilled).build());
    nowNs += 1_000_000_000; // as where another might live
    cycle.work();
    final Configuration proposed = cycle.output().takeRequest().proposed();
    assertEquals(List.of(process(44)), proposed.getMembersList());
    assertFalse(cycle.isStopRecordVoid());
    final GroupState won = state.setVersion(2).setWon(proposed.toBuilder().setEpoch(9)).build();
    cycle.onAnswer(Coordinator.Result.DONE, won);
    assertTrue(cycle.isStopRecordVoid());
    for (int i = 0; i < 100; i++) {
      nowNs += 100_000_000;
      cycle.work();
      assertNull(cycle.output().takeRequest());
    }
    cycle.onStopRecordRemoved();
    cycle.work();
    final Proposal established = cycle.output().takeRequest();
    assertNull(established.proposed());
    assertEquals(9, established.seen().getWon().getEpoch());
  }

  private void begin(Follower follower, Member member) {
    final GroupState group =
        STATE.toBuilder()
            .setEstablished(Configuration.newBuilder().setEpoch(4).addMembers(member))
            .build();
    follower.onMessage(
        LEADER,
        LeaderMessage.newBuilder()
            .setGroup(GROUP)
            .setEpoch(7)
            .setSnapshotBegin(SnapshotBegin.newBuilder().setPosition(0).setGroup(group))
            .build(),
        nowNs);
    assertNotNull(answer);
  }

  @Override
  public void answer(long leader, MemberMessage message) {
    answer = message;
  }

  @Override
  public void clear(GroupState group) {
    content.clear();
  }

  @Override
  public void apply(JournalRecord record) {
    if (!content.contains(record.lsn())) {
      content.add(record.lsn());
    }
  }

  @Override
  public void restore(JournalRecord record) {
    content.add(record.lsn());
  }

  @Override
  public void follow() {
    content.clear();
  }

  @Override
  public GroupSnapshot snapshot(Runnable wake) {
    if (fails) {
      throw new IllegalStateException("no entries");
    }
    pieces.clear();
    for (final long lsn : content) {
      pieces.add(ByteString.copyFrom(record(0, lsn)));
    }
    return new SuppliedSnapshot(() -> walks ? pieces.poll() : ByteString.EMPTY);
  }
}
