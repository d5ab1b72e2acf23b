package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupDisk;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.EpochBegin;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A leader whose commits do not wait for its disk. */
final class IntervalLeaderTest extends EmptyStore implements IdlePeers, GroupDisk {
  private static final long GROUP = 3;
  private static final int LIMIT = 64 << 10;

  private final List<byte[]> records = new ArrayList<>();
  private final List<Throwable> errors = new ArrayList<>();
  private final List<LeaderMessage> sent = new ArrayList<>();
  private int base; // records that were there as the process began
  private int durable;
  private int urgent; // records up to the last one that is
  private boolean slow;
  private int room = Integer.MAX_VALUE; // records that the disk takes yet
  private boolean full;
  private boolean failed;
  private Replica replica;
  private GroupLog log;
  private CommitLog partition;
  private int replicas = 1;
  private int version;
  private long incarnation;
  private long applied; // LSN
  private long nowNs;

  private void start(GroupRecovery recovery) {
    incarnation++;
    base = records.size();
    final Node self = Node.newBuilder().setId(1).setIncarnation(incarnation).setDisk(true).build();
    final ReplicaContext.Limits limits = new ReplicaContext.Limits(LIMIT, LIMIT, 4096);
    final ReplicaContext context =
        new ReplicaContext(
            GROUP,
            self,
            1,
            this,
            this,
            () -> nowNs,
            () -> 1,
            limits,
            errors::add,
            this,
            AwaitedDisks.NONE,
            GroupGate.NONE,
            new NodeHeartbeats(this, limits, () -> nowNs),
            new UnknownRecords());
    replica = new Replica(context, recovery, new NodeRest(() -> {}));
    replica.onNodes(() -> Map.of(1L, self));
    replica.onCoordinated(() -> true);
  }

  /** Ends the process: what is not durable is lost. */
  private void restart() throws Exception {
    records.subList(durable, records.size()).clear();
    applied = 0;
    final GroupRecovery recovery = new GroupRecovery(GROUP, state -> this, LIMIT);
    final JournalRecord view = new JournalRecord();
    for (final byte[] record : records) {
      assertTrue(view.wrap(record, 0, record.length));
      recovery.onRecord(view);
    }
    start(recovery);
  }

  private GroupState.Builder state() {
    return GroupState.newBuilder()
        .setGroup(GROUP)
        .setReplicas(replicas)
        .addBegins(EpochBegin.newBuilder().setEpoch(7))
        .setVersion(++version)
        .setDefinition(
            SimulatedDefinition.of(
                new IndexDefinition(IndexKind.HASH, Durability.INTERVAL, 1, 1, 1)));
  }

  private Configuration configuration(long epoch, long process) {
    return Configuration.newBuilder()
        .setEpoch(epoch)
        .setLeader(1)
        .addMembers(Member.newBuilder().setNode(1).setIncarnation(process))
        .build();
  }

  /** Leads alone; what was urgent is durable. */
  private void lead(long epoch) {
    final GroupState.Builder won = state().setWon(configuration(epoch, incarnation));
    if (epoch > 7) {
      won.setEstablished(configuration(epoch - 1, incarnation - 1));
    }
    replica.onGroup(won.build());
    sync(urgent);
    replica.onGroup(state().setEstablished(configuration(epoch, incarnation)).build());
    assertTrue(replica.status().isLeading());
  }

  private void sync(int count) {
    durable = count;
    replica.drive();
  }

  private long append() {
    final long lsn = partition.append(put());
    partition.onCycleEnd();
    return lsn;
  }

  private static Write put() {
    return new Write(write -> {})
        .put(ByteString.copyFromUtf8("key"), ByteString.copyFromUtf8("value"));
  }

  @Test
  void commitsWhatTheDiskGetsLater() {
    start(null);
    lead(7);
    assertTrue(partition.isImmediate());
    final int before = records.size();
    assertEquals(1, append());
    assertEquals(1, partition.committed());
    replica.drive();
    assertEquals(before + 1, records.size());
    assertEquals(before, urgent);
    assertEquals(1, partition.committed());
  }

  @Test
  void commitsWhatAllMembersHave() {
    start(null);
    final MemberMessage obeys = leadWithAMember();
    assertFalse(partition.isImmediate());
    append();
    assertEquals(0, partition.committed());
    replica.onAnswer(8, obeys.toBuilder().setReceived(1).build());
    assertEquals(1, partition.committed());
    assertTrue(durable < records.size());
  }

  /** Leads in epoch 7 with node 8, whose answer is returned. */
  private MemberMessage leadWithAMember() {
    final Configuration both =
        configuration(7, incarnation).toBuilder()
            .addMembers(Member.newBuilder().setNode(8).setIncarnation(1))
            .build();
    replica.onConnected(8);
    replica.onGroup(state().setWon(both).build());
    final MemberMessage obeys =
        MemberMessage.newBuilder().setGroup(GROUP).setEpoch(7).setGate(7).build();
    replica.onAnswer(8, obeys);
    sync(urgent);
    replica.onGroup(state().setEstablished(both).build());
    return obeys;
  }

  /** Its store could not go back. */
  @Test
  void aNodeThatHasCarriedOutLostRecordsGetsASnapshot() {
    replicas = 2;
    start(null);
    lead(7);
    final Node other = Node.newBuilder().setId(8).setIncarnation(1).setDisk(true).build();
    replica.onNodes(() -> Map.of(8L, other));
    replica.onConnected(8);
    final MemberMessage.Builder has =
        MemberMessage.newBuilder().setGroup(GROUP).setEpoch(7).setLogEpoch(6).setReceived(3);
    replica.onAnswer(8, has.setApplied(3).build());
    assertEquals(
        List.of(LeaderMessage.KindCase.INQUIRY, LeaderMessage.KindCase.SNAPSHOT_BEGIN),
        sent.stream().map(LeaderMessage::getKindCase).toList());
  }

  /** It has all that was acknowledged, and its own coordinator may be slow. */
  @Test
  void aDirectoryWaitsWhileAnotherMemberIsAnnounced() throws Exception {
    start(null);
    lead(7);
    restart();
    final Node other = Node.newBuilder().setId(8).setIncarnation(1).build();
    replica.onNodes(() -> Map.of(8L, other));
    replica.onGroup(
        state()
            .setEstablished(
                configuration(7, incarnation - 1).toBuilder()
                    .addMembers(Configurations.member(other)))
            .build());
    for (int i = 0; i < 100; i++) {
      nowNs += 200_000_000;
      replica.drive();
    }
    assertNull(replica.takeProposal());
    replica.onNodes(Map::of);
    nowNs += 200_000_000;
    replica.drive();
    assertNotNull(replica.takeProposal());
  }

  /** Nobody drives it later. */
  @Test
  void anIdleLeaderPassesARecordOnAtOnce() {
    start(null);
    lead(7);
    final int before = records.size();
    append(); // it is busy: a cycle is due in a moment
    assertEquals(before, records.size());
    replica.drive();
    assertEquals(before + 1, records.size());
    nowNs += 60_000_000_000L;
    replica.drive();
    append();
    assertEquals(before + 2, records.size());
  }

  @Test
  void versionsThatMayHaveBeenGivenAreNotGivenAgain() throws Exception {
    start(null);
    lead(7);
    for (int i = 1; i <= 3; i++) {
      append();
    }
    replica.drive();
    sync(records.size() - 1); // the last one is lost
    restart();
    lead(8);
    assertEquals(2, applied);
    final long gap = 2 + Journal.LOST_LIMIT + 1;
    assertFalse(partition.isImmediate());
    assertEquals(gap + 1, append());
    assertEquals(gap, partition.committed(), "the log begins there, and the disk does not know");
    assertTrue(urgent >= records.size() - 1, "the gap does not wait for the interval");

    restart(); // without it: nothing was acknowledged
    lead(9);
    sync(urgent);
    assertTrue(partition.isImmediate());
    assertEquals(gap + 1, append());
    assertEquals(gap + 1, partition.committed());

    replica.drive();
    restart(); // with the gap alone
    lead(10);
    assertEquals(gap, applied);
    assertEquals(gap + Journal.LOST_LIMIT + 2, append());
  }

  @Test
  void whatTheDiskHasNotTakenTakesRoom() {
    start(null);
    lead(7);
    slow = true;
    while (partition.hasRoom()) {
      append();
    }
    replica.drive();
    assertFalse(partition.hasRoom(), "all is committed, and waits in memory for the disk");
    final boolean[] told = {false};
    partition.onCommit(() -> told[0] = true);
    slow = false;
    replica.drive();
    assertTrue(partition.hasRoom());
    assertTrue(told[0]);
  }

  @Test
  void aFullDiskRefusesWrites() {
    start(null);
    lead(7);
    full = true;
    assertEquals(CommitLog.FULL, append());
    assertTrue(partition.hasRoom(), "others are refused, too, and do not wait");
    full = false;
    assertEquals(1, append());
  }

  @Test
  void aFailedDiskEndsWritesAndNotReads() {
    start(null);
    lead(7);
    append();
    failed = true;
    replica.drive();
    assertEquals(CommitLog.FAILED, append());
    assertEquals(CommitLog.FAILED, partition.committed());
    assertFalse(log.isAlone(), "a read asks the replica");
    final Boolean[] leads = {null};
    replica.confirm(
        new Confirmation() {
          @Override
          public void onConfirmed(boolean confirmed) {
            leads[0] = confirmed;
          }
        });
    assertEquals(true, leads[0]);
    assertTrue(replica.status().isLeading());
  }

  @Test
  void anOrderlyEndPassesOnWhatWasAcknowledged() {
    start(null);
    lead(7);
    final int before = records.size();
    append();
    replica.close();
    assertEquals(before + 1, records.size());
    assertEquals(CommitLog.FAILED, append());
  }

  /** As where the disk stalls: what was answered waits in memory for it. */
  @Test
  void anOrderlyEndWaitsForTheDisk() {
    start(null);
    lead(7);
    slow = true;
    append();
    append();
    final int before = records.size();
    final StopCopy end = replica.stop(() -> {});
    for (int i = 0; i < 4; i++) {
      nowNs += StopCopy.PATIENCE_NS / 3;
      slow = i != 1;
      replica.drive();
      assertFalse(replica.status().isLeading() && !slow, "it waits no more");
      slow = true;
    }
    assertEquals(before + 2, records.size());
    assertNull(end.failure());
    assertTrue(end.isDone());
    assertEquals(ReplicaState.STOPPED, replica.status().state());
    assertEquals(CommitLog.FAILED, append());
  }

  /** The store refuses writes, but for those that have begun. */
  @Test
  void anOrderlyEndWaitsForWritesThatAreUnderWay() {
    start(null);
    lead(7);
    final int before = records.size();
    room = 0;
    append();
    final StopCopy end = replica.stop(() -> {});
    replica.drive();
    append();
    replica.drive();
    room = 1;
    replica.drive();
    assertFalse(end.isDone());
    room = 1;
    replica.drive();
    assertNull(end.failure());
    assertTrue(end.isDone());
    assertEquals(before + 2, records.size());
  }

  /** The member has what comes later, and a disk that is short of room would never have all. */
  @Test
  void anOrderlyEndBesideAMemberWaitsForWhatWasThereAtFirst() {
    start(null);
    leadWithAMember();
    room = 0;
    append();
    append();
    replica.drive();
    final StopCopy end = replica.stop(() -> {});
    replica.drive();
    for (int i = 0; i < 2; i++) {
      assertFalse(end.isDone());
      append();
      append();
      room = 1;
      nowNs += StopCopy.PATIENCE_NS / 2;
      replica.drive();
    }
    assertNull(end.failure());
    assertTrue(end.isDone());
    assertEquals(ReplicaState.STOPPED, replica.status().state());
  }

  @Test
  void anOrderlyEndSaysWhatTheDiskHasNotTaken() {
    start(null);
    lead(7);
    slow = true;
    append();
    append();
    final StopCopy end = replica.stop(() -> {});
    nowNs += StopCopy.PATIENCE_NS - 1;
    replica.drive();
    assertTrue(replica.status().isLeading());
    nowNs += 2;
    replica.drive();
    assertEquals("its disk does not take what was answered: records=2", end.failure());
    assertEquals(ReplicaState.STOPPED, replica.status().state());
  }

  @Override
  public boolean send(long node, LeaderMessage message) {
    sent.add(message);
    return true;
  }

  // The store.

  @Override
  public GroupSnapshot snapshot(Runnable wake) {
    return new SuppliedSnapshot(() -> ByteString.EMPTY);
  }

  @Override
  public void lead(GroupLog begun, GroupState state) {
    log = begun;
    partition = begun.partition(0, applied);
  }

  @Override
  public void apply(JournalRecord record) {
    applied = Math.max(applied, record.lsn());
  }

  // The disk.

  @Override
  public boolean append(byte[] bytes, int offset, int length, boolean isUrgent) {
    if (slow || full || failed || room == 0) {
      return false;
    }
    room--;
    records.add(ByteString.copyFrom(bytes, offset, length).toByteArray());
    urgent = isUrgent ? records.size() : urgent;
    return true;
  }

  @Override
  public long appended() {
    return (long) records.size() - base;
  }

  @Override
  public long durable() {
    return (long) durable - base;
  }

  @Override
  public boolean isFailed() {
    return failed;
  }

  @Override
  public boolean isShort() {
    return full;
  }

  @Override
  public boolean isFull(int length, int type) {
    return full && type == RecordDescriptor.PUT;
  }

  @Override
  public void onChange(Runnable listener) {
    // The test drives.
  }

  @Override
  public void close() {
    // Nothing to give back.
  }
}
