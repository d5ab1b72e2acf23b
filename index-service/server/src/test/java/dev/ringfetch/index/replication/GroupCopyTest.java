package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupDisk;
import dev.ringfetch.index.log.GroupRecords;
import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.log.NodeRecovery;
import dev.ringfetch.index.log.RecordLog;
import dev.ringfetch.index.v1.Adopt;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a snapshot of a node's disk has of a group, and what a restart makes of it. */
final class GroupCopyTest implements UnconnectedPeers, MemberStore {
  private static final long GROUP = 3;
  private static final long LEADER = 8;
  private static final GroupState STATE =
      GroupState.newBuilder()
          .setGroup(GROUP)
          .setIndex("index")
          .setDefinition(
              SimulatedDefinition.of(new IndexDefinition(IndexKind.HASH, Durability.DISK, 1, 1, 1)))
          .build();

  private final List<byte[]> disk = new ArrayList<>();
  private final List<byte[]> copied = new ArrayList<>();
  private final List<Long> content = new ArrayList<>(); // of the store: LSNs
  private final ArrayDeque<ByteString> pieces = new ArrayDeque<>();
  private boolean walks; // else a piece comes later
  private boolean walkFails;
  private Throwable walkThrows; // unchecked; null: it goes on
  private final List<Throwable> errors = new ArrayList<>();
  private int room = Integer.MAX_VALUE;
  private long durable;
  private long nonce;
  private long nowNs;
  private final ReplicaContext context = context();
  private final ReplicaCore core = new ReplicaCore(context);

  private ReplicaContext context() {
    return new ReplicaContext(
        GROUP,
        Node.newBuilder().setId(1).setIncarnation(1).build(),
        1,
        this,
        this,
        () -> nowNs,
        () -> nonce += 2,
        ReplicaContext.Limits.DEFAULT,
        failure -> {
          if (failure != walkThrows) {
            throw new AssertionError(failure);
          }
          errors.add(failure);
        },
        new GroupDisk() {
          @Override
          public boolean append(byte[] bytes, int offset, int length, boolean isUrgent) {
            if (room-- <= 0) {
              return false;
            }
            disk.add(ByteString.copyFrom(bytes, offset, length).toByteArray());
            return true;
          }

          @Override
          public long appended() {
            return disk.size();
          }

          @Override
          public long durable() {
            return durable;
          }

          @Override
          public boolean isFailed() {
            return false;
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

  private static byte[] record(int type, long epoch, long lsn) {
    final byte[] record = new byte[RecordDescriptor.aligned(RecordDescriptor.KEY_OFFSET)];
    new JournalRecord()
        .begin(record, 0, type, ByteString.EMPTY, ByteString.EMPTY)
        .partition(GROUP, 0)
        .place(epoch, lsn)
        .end();
    return record;
  }

  private void append(long... lsns) {
    for (final long lsn : lsns) {
      final byte[] record = record(RecordDescriptor.PUT, core.gate(), lsn);
      core.log().add(record, 0, record.length);
    }
    core.journal();
  }

  private void commit(long position) throws GroupStoreException {
    core.commit(position);
    core.apply(100);
    core.journal();
  }

  /** A member in epoch 5 with four records, of which two are committed. */
  private void member() throws GroupStoreException {
    core.reset(0, STATE);
    core.become(ReplicaState.MEMBER);
    core.moveGate(5);
    append(11, 12, 13, 14);
    commit(2);
    walks = true;
  }

  private GroupCopy copy() {
    return new GroupCopy(context, () -> {}, () -> {});
  }

  /** Has the copy go on; returns whether it is whole. */
  private boolean work(GroupCopy copy, boolean isForgotten) {
    for (int i = 0; i < 20; i++) {
      copy.work(core, false, isForgotten);
      final ByteString piece = copy.take();
      if (piece != null) {
        add(piece.toByteArray());
      }
    }
    return copy.isDone();
  }

  private void add(byte[] piece) {
    final JournalRecord record = new JournalRecord();
    for (int offset = 0; offset < piece.length; ) {
      assertTrue(record.wrap(piece, offset, piece.length));
      assertEquals(GROUP, record.index());
      final byte[] one = new byte[RecordDescriptor.aligned(record.length())];
      record.copyTo(one, 0);
      copied.add(one);
      offset += one.length;
    }
  }

  private static JournalRecord view(byte[] bytes) {
    return new JournalRecord().at(bytes, 0);
  }

  /** A restart that has the copy, and the journal from its record of this number on. */
  private GroupRecovery restart(int begin) throws IOException {
    content.clear();
    final NodeRecovery recovery =
        new NodeRecovery(
            state -> this,
            failure -> {
              throw new AssertionError(failure);
            });
    recovery.onSnapshot(Map.of());
    for (final byte[] record : copied) {
      recovery.onSnapshotRecord(view(record), () -> "");
    }
    for (final byte[] record : disk.subList(begin, disk.size())) {
      recovery.onRecord(view(record), () -> "");
    }
    recovery.onEnd();
    return recovery.takeGroups().stream().findFirst().orElse(null);
  }

  private static List<Long> log(GroupRecovery recovery) {
    final RecordLog log = recovery.takeLog();
    final RecordLog.Cursor cursor = log.new Cursor();
    cursor.seek(recovery.applied());
    final List<Long> lsns = new ArrayList<>();
    while (cursor.hasNext()) {
      lsns.add(cursor.next().lsn());
    }
    return lsns;
  }

  /** One whose store cannot have its records is given up, and others go on. */
  @Test
  void theStoresOfGroupsThatAreThereEndTheirRecovery() throws Exception {
    final List<Long> ended = new ArrayList<>();
    final List<Throwable> failures = new ArrayList<>();
    final NodeRecovery recovery =
        new NodeRecovery(
            state ->
                new EmptyStore() {
                  @Override
                  public void recovered() throws GroupStoreException {
                    ended.add(state.getGroup());
                    if (state.getGroup() == 5) {
                      throw new GroupStoreException("no memory");
                    }
                  }
                },
            failures::add);
    for (long group = 4; group <= 6; group++) {
      final ByteString state = STATE.toBuilder().setGroup(group).build().toByteString();
      recovery.onRecord(
          view(GroupRecords.control(group, RecordDescriptor.GROUP_BEGIN, 5, state)), () -> "");
      recovery.onRecord(
          view(
              GroupRecords.control(
                  group, RecordDescriptor.GROUP_EPOCH, 5, RecordDescriptor.value(0))),
          () -> "");
    }
    recovery.onRecord(
        view(GroupRecords.control(4, RecordDescriptor.GROUP_END, 5, ByteString.EMPTY)), () -> "");
    recovery.onEnd();
    assertEquals(List.of(5L, 6L), ended);
    assertEquals(1, failures.size());
    final List<Boolean> given =
        recovery.takeGroups().stream().map(GroupRecovery::isGivenUp).toList();
    assertEquals(List.of(true, false), given);
  }

  @Test
  void aGroupThatASnapshotSawDroppedGivesItsMemoryBack() throws Exception {
    final int[] ends = {0};
    final NodeRecovery recovery =
        new NodeRecovery(
            state ->
                new EmptyStore() {
                  @Override
                  public void follow() {
                    ends[0]++;
                  }
                },
            failure -> {
              throw new AssertionError(failure);
            });
    recovery.onSnapshot(Map.of());
    final byte[] begin =
        GroupRecords.control(GROUP, RecordDescriptor.GROUP_BEGIN, 5, STATE.toByteString());
    recovery.onSnapshotRecord(view(begin), () -> "");
    assertEquals(0, ends[0]);
    final byte[] end = GroupRecords.control(GROUP, RecordDescriptor.GROUP_END, 5, ByteString.EMPTY);
    recovery.onSnapshotRecord(view(end), () -> "");
    assertEquals(1, ends[0]);
    recovery.onEnd();
    assertEquals(0, recovery.takeGroups().size());
  }

  @Test
  void aRestartHasEntriesLogAndEpochFromWhereverTheJournalBegins() throws Exception {
    member();
    assertTrue(work(copy(), false));
    final int end = disk.size();
    append(15);
    core.moveGate(6);
    core.cut(4);
    append(25);
    for (int begin = 0; begin < end; begin++) {
      final GroupRecovery recovery = restart(begin);
      assertTrue(recovery.hasLog());
      assertEquals(6, recovery.gate());
      assertEquals(STATE, recovery.state());
      assertEquals(2, recovery.applied());
      assertEquals(List.of(11L, 12L), content);
      assertEquals(List.of(13L, 14L, 25L), log(recovery));
    }
  }

  @Test
  void theCopyItselfSaysWhomTheNodeObeys() throws Exception {
    member();
    assertTrue(work(copy(), false));
    assertEquals(5, restart(disk.size() - 1).gate());
  }

  @Test
  void entriesMayBeAheadOfTheMarkUpToWhatIsCommitted() throws Exception {
    member();
    walks = false;
    final GroupCopy copy = copy();
    assertFalse(work(copy, false));
    append(15);
    commit(5);
    walks = true;
    assertTrue(work(copy, false));
    final GroupRecovery recovery = restart(0);
    assertEquals(5, recovery.applied());
    assertEquals(List.of(), log(recovery));
    assertEquals(List.of(11L, 12L, 13L, 14L, 15L, 13L, 14L, 15L), content); // which compare LSNs
  }

  @Test
  void aCopyCountsWhenTheDiskHasItsMark() throws Exception {
    member();
    final GroupCopy copy = copy();
    durable = disk.size();
    assertTrue(work(copy, false));
    assertFalse(copy.isDurable());
    durable = disk.size();
    assertTrue(copy.isDurable());
    disk.remove(disk.size() - 1);
    assertThrows(IOException.class, () -> restart(0));
  }

  @Test
  void aCopyWaitsUntilTheLogIsOnItsWayAsFarAsTheEntries() throws Exception {
    member();
    walks = false;
    final GroupCopy copy = copy();
    assertFalse(work(copy, false));
    room = 0;
    append(15);
    commit(5);
    walks = true;
    assertFalse(work(copy, false));
    room = 10;
    core.journal();
    assertTrue(work(copy, false));
    durable = disk.size() - 1L;
    assertFalse(copy.isDurable());
  }

  @Test
  void aCopyBeginsWhenTheLogIsOnItsWayAsFarAsTheStore() throws Exception {
    member();
    room = 0;
    append(15);
    commit(5);
    room = 1; // of two that are needed
    final GroupCopy copy = copy();
    assertFalse(work(copy, false));
    assertEquals(List.of(), copied);
    core.journal();
    room = 1;
    assertTrue(work(copy, false));
    final GroupRecovery recovery = restart(0);
    assertEquals(5, recovery.applied());
    assertEquals(List.of(), log(recovery));
  }

  @Test
  void aCopyBeginsWhenThereIsRoomForItsMark() throws Exception {
    member();
    room = 0;
    final GroupCopy copy = copy();
    assertFalse(work(copy, false));
    assertEquals(List.of(), copied);
    room = 10;
    assertTrue(work(copy, false));
    assertEquals(2, restart(0).applied());
  }

  @Test
  void anotherContentOfTheStoreBeginsTheCopyAnew() throws Exception {
    member();
    walks = false;
    final GroupCopy copy = copy();
    assertFalse(work(copy, false));
    core.leave(ReplicaState.NONE);
    core.moveGate(7);
    core.become(ReplicaState.JOINING);
    core.reset(9, STATE, true);
    walks = true;
    core.restore(view(record(RecordDescriptor.PUT, 0, 31)));
    assertTrue(work(copy, false));
    core.restore(view(record(RecordDescriptor.PUT, 0, 32)));
    core.restored();
    core.journal();
    append(41);
    final GroupRecovery recovery = restart(0);
    assertTrue(recovery.hasLog());
    assertEquals(7, recovery.gate());
    assertEquals(9, recovery.applied());
    assertEquals(List.of(31L, 32L), content);
    assertEquals(List.of(41L), log(recovery));
  }

  @Test
  void recordsThatAreGivenUpBeginTheCopyAnew() throws Exception {
    member();
    walks = false;
    final GroupCopy copy = copy();
    assertFalse(work(copy, false));
    core.moveGate(6);
    core.cut(2);
    append(23);
    commit(3);
    walks = true;
    assertTrue(work(copy, false));
    final GroupRecovery recovery = restart(0);
    assertEquals(3, recovery.applied());
    assertEquals(List.of(11L, 12L, 23L), content);
    assertEquals(List.of(), log(recovery));
  }

  @Test
  void aPartOfALeadersSnapshotIsNoLog() throws Exception {
    core.moveGate(7);
    core.become(ReplicaState.JOINING);
    core.reset(9, STATE, true);
    walks = true;
    core.restore(view(record(RecordDescriptor.PUT, 0, 31)));
    assertTrue(work(copy(), false));
    final GroupRecovery recovery = restart(0);
    assertFalse(recovery.hasLog());
    assertEquals(7, recovery.gate());
  }

  @Test
  void recordsOnTheDiskAloneKeepSnapshotsFromBeingTaken() throws Exception {
    member();
    core.leave(ReplicaState.NONE);
    final GroupCopy copy = copy();
    assertFalse(work(copy, false));
    assertNotNull(copy.failure());
  }

  @Test
  void ofRecordsThatCountNowhereTheCopyHasWhomTheNodeObeyed() throws Exception {
    member();
    core.leave(ReplicaState.NONE);
    assertTrue(work(copy(), true));
    for (int begin = 0; begin < disk.size(); begin++) {
      final GroupRecovery recovery = restart(begin);
      assertFalse(recovery.hasLog());
      assertEquals(5, recovery.gate());
      assertEquals(List.of(), content);
    }
  }

  /** What a restart has of a group after these records, which the coordinator does not name. */
  private GroupCopy copyAfter(GroupRecovery recovery) {
    final GroupCopy copy = copy();
    final ReplicaCore restarted = ReplicaCore.recovered(context, recovery);
    for (int i = 0; i < 20; i++) {
      copy.work(restarted, false, false);
      final ByteString piece = copy.take();
      if (piece != null) {
        add(piece.toByteArray());
      }
    }
    return copy;
  }

  private GroupRecovery recovery(byte[]... records) {
    final GroupRecovery recovery = new GroupRecovery(GROUP, state -> this);
    for (final byte[] record : records) {
      try {
        recovery.onRecord(view(record));
      } catch (GroupStoreException e) {
        assertTrue(recovery.isGivenUp());
      }
    }
    return recovery;
  }

  private static byte[] control(int type, long epoch, ByteString value) {
    return GroupRecords.control(GROUP, type, epoch, value);
  }

  private static byte[] begin(long epoch) {
    return control(RecordDescriptor.GROUP_BEGIN, epoch, STATE.toByteString());
  }

  @Test
  void aPartOfASnapshotKeepsNoSnapshotFromBeingTaken() throws Exception {
    assertTrue(copyAfter(recovery(begin(5), record(RecordDescriptor.PUT, 0, 31))).isDone());
    assertEquals(5, restart(0).gate());
    assertFalse(restart(0).hasLog());
  }

  @Test
  void whomANodeObeyedKeepsNoSnapshotFromBeingTaken() throws Exception {
    final byte[] mark = control(RecordDescriptor.GROUP_MARK, 5, RecordDescriptor.value(9));
    assertTrue(copyAfter(recovery(begin(5), mark)).isDone());
    assertEquals(5, restart(0).gate());
  }

  @Test
  void aLogThatWasNotReadKeepsSnapshotsFromBeingTaken() {
    final byte[] damaged = control(RecordDescriptor.GROUP_EPOCH, 6, RecordDescriptor.value(99));
    final byte[] epoch = control(RecordDescriptor.GROUP_EPOCH, 5, RecordDescriptor.value(4));
    final GroupCopy copy = copyAfter(recovery(begin(5), epoch, damaged));
    assertFalse(copy.isDone());
    assertNotNull(copy.failure());
  }

  private static GroupState state(long established, long... members) {
    final Configuration.Builder configuration =
        Configuration.newBuilder().setEpoch(established).setLeader(LEADER);
    for (final long member : members) {
      configuration.addMembers(Member.newBuilder().setNode(member).setIncarnation(1));
    }
    final GroupState.Builder state = STATE.toBuilder().setVersion((int) established);
    return established == 1
        ? state.setWon(configuration).build()
        : state.setEstablished(configuration).build();
  }

  /** Whether a snapshot can do without the records of a replica that has failed. */
  private boolean isForgotten(ReplicaCycle cycle) {
    final GroupCopy copy = copy();
    cycle.copies().begin(copy);
    for (int i = 0; i < 20; i++) {
      cycle.work();
      copy.take();
    }
    return copy.isDone();
  }

  @Test
  void aDirectoryIsForgottenByAConfigurationAfterItsOwn() {
    final ReplicaCycle cycle = new ReplicaCycle(context, null, () -> {});
    cycle.onGroup(state(1, 1, LEADER));
    cycle.onMessage(
        LEADER, LeaderMessage.newBuilder().setEpoch(6).setAdopt(Adopt.newBuilder()).build());
    assertEquals(6, cycle.status().gate());
    cycle.work();
    cycle.fail();
    assertFalse(isForgotten(cycle));
    cycle.onGroup(state(5, LEADER)); // before it was a member again
    assertFalse(isForgotten(cycle));
    cycle.onGroup(state(6, 1, LEADER));
    assertFalse(isForgotten(cycle));
    cycle.onGroup(state(7, LEADER));
    assertTrue(isForgotten(cycle));
  }

  @Test
  void aCopyBeginsBehindWhatWaitsForRoom() throws Exception {
    core.moveGate(7);
    core.become(ReplicaState.JOINING);
    room = 0;
    core.reset(9, STATE, true); // the begin of the group waits
    room = 1;
    walks = true;
    final GroupCopy copy = copy();
    assertFalse(work(copy, false));
    core.journal();
    room = 10;
    assertTrue(work(copy, false));
    for (int begin = 0; begin < disk.size(); begin++) {
      assertEquals(7, restart(begin).gate());
    }
    assertEquals(RecordDescriptor.GROUP_MARK, view(disk.get(disk.size() - 1)).type());
  }

  @Test
  void aCopyThatGetsNowhereFails() throws Exception {
    member();
    walks = false;
    final GroupCopy copy = copy();
    assertFalse(work(copy, false));
    nowNs += GroupCopy.PATIENCE_NS;
    assertFalse(work(copy, false));
    assertNull(copy.failure());
    nowNs++;
    assertFalse(work(copy, false));
    assertNotNull(copy.failure());
  }

  @Test
  void whatTheWalkThrowsEndsTheCopyAndNotTheReplica() throws Exception {
    member();
    for (final Throwable thrown :
        List.of(new IllegalStateException("no entry"), new OutOfMemoryError("no heap"))) {
      walkThrows = null;
      walks = false;
      final GroupCopy copy = copy();
      assertFalse(work(copy, false));
      walkThrows = thrown;
      assertFalse(work(copy, false));
      assertTrue(copy.failure().contains(thrown.getMessage()), copy.failure());
      assertEquals(List.of(thrown), errors);
      errors.clear();
    }
    walkThrows = null;
    walks = true;
    assertTrue(work(copy(), false)); // the next one
  }

  @Test
  void aPieceMayLieThereForLong() throws Exception {
    member();
    walks = false;
    final GroupCopy copy = copy();
    copy.work(core, false, false);
    nowNs += 2 * GroupCopy.PATIENCE_NS;
    assertFalse(work(copy, false));
    assertNull(copy.failure());
    nowNs += GroupCopy.PATIENCE_NS;
    walks = true;
    assertTrue(work(copy, false));
  }

  @Test
  void aWalkThatFailsAgainAndAgainEndsTheCopy() throws Exception {
    member();
    walks = false;
    walkFails = true;
    final GroupCopy copy = copy();
    assertFalse(work(copy, false));
    assertNotNull(copy.failure());
  }

  @Test
  void aGroupThatWasDroppedIsNotThere() throws Exception {
    member();
    walks = false;
    final GroupCopy copy = copy();
    assertFalse(work(copy, false));
    core.drop();
    core.leave(ReplicaState.STOPPED);
    for (int i = 0; i < 20; i++) {
      copy.work(core, true, false);
      final ByteString piece = copy.take();
      if (piece != null) {
        add(piece.toByteArray());
      }
    }
    assertTrue(copy.isDone());
    for (int begin = 0; begin < disk.size(); begin++) {
      assertNull(restart(begin));
    }
  }

  @Test
  void ofAGroupThatTheSnapshotDoesNotHaveTheJournalHasTheBegin() throws Exception {
    member();
    final List<byte[]> before = List.copyOf(disk);
    core.drop();
    assertNull(restart(2)); // its records, and its end
    disk.clear();
    disk.addAll(before);
    final GroupRecovery recovery = restart(0);
    assertTrue(recovery.hasLog());
    assertEquals(5, recovery.gate());
  }

  // The store.

  @Override
  public void clear(GroupState group) {
    content.clear();
  }

  @Override
  public void apply(JournalRecord record) {
    content.add(record.lsn());
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
    pieces.clear();
    return new GroupSnapshot() {
      private boolean isTaken;

      @Override
      public ByteString next() {
        if (walkThrows instanceof RuntimeException thrown) {
          throw thrown;
        } else if (walkThrows instanceof Error thrown) {
          throw thrown;
        }
        if (!walks) {
          return ByteString.EMPTY;
        }
        if (!isTaken) {
          isTaken = true;
          for (final long lsn : content) {
            pieces.add(ByteString.copyFrom(record(RecordDescriptor.PUT, 0, lsn)));
          }
        }
        return pieces.poll();
      }

      @Override
      public boolean isFailed() {
        return walkFails;
      }

      @Override
      public void close() {
        // Nothing is held.
      }
    };
  }

  // Connections, of which there are none.

  @Override
  public void answer(long leader, MemberMessage answer) {
    // Nobody hears it.
  }
}
