package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.onesided.MemberMemory;
import dev.ringfetch.index.onesided.PeerMemory;
import dev.ringfetch.index.onesided.RemoteLog;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.LogOffer;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a leader makes of a member's answers, and of those of a node that joins. */
final class MemberProgressTest implements IdlePeers, MemberStore {
  private static final long GROUP = 3;
  private static final long EPOCH = 7;
  private static final Node MEMBER = Node.newBuilder().setId(8).setIncarnation(1).build();

  private final Looks looks = new Looks();
  private final ReplicaContext context =
      new ReplicaContext(
          GROUP,
          Node.newBuilder().setId(1).setIncarnation(1).build(),
          1,
          this,
          this,
          () -> 0,
          () -> 1,
          new ReplicaContext.Limits(2048, 64 << 10, 4096), // several pieces of the log
          failure -> {
            throw new AssertionError(failure);
          });
  private final ReplicaCore core = new ReplicaCore(context);
  private LeaderMessage last = LeaderMessage.getDefaultInstance(); // to the member
  private int snapshots;

  @BeforeEach
  void lead() throws GroupStoreException {
    core.reset(0, GroupState.getDefaultInstance());
    core.become(ReplicaState.MEMBER);
    core.moveGate(EPOCH);
  }

  private static MemberMessage.Builder answer(long received) {
    return MemberMessage.newBuilder()
        .setGroup(GROUP)
        .setEpoch(EPOCH)
        .setGate(EPOCH)
        .setReceived(received);
  }

  private void append() {
    final byte[] record = new byte[RecordDescriptor.aligned(RecordDescriptor.KEY_OFFSET)];
    new JournalRecord()
        .begin(record, 0, RecordDescriptor.PUT, ByteString.EMPTY, ByteString.EMPTY)
        .partition(GROUP, 0)
        .place(EPOCH, core.log().end() + 1)
        .end();
    core.log().add(record, 0, record.length);
  }

  /** Its gate has counted records since that were placed, and are kept no longer. */
  @Test
  void anAnswerThatComesLateIsNoLoss() {
    final MemberProgress member = new MemberProgress(core, MEMBER.getId(), EPOCH, true, 0);
    member.onAnswer(answer(0).setOffer(LogOffer.getDefaultInstance()).build(), 0);
    for (int i = 0; i < 40; i++) {
      append();
    }
    member.work(0, 0, 0);
    looks.end(EPOCH);
    member.work(0, 0, 0);
    assertEquals(40, member.received());
    core.log().release(40);
    assertTrue(core.log().base() > 0, "records are kept that the member has");
    member.onAnswer(answer(0).build(), 0);
    assertFalse(member.hasFailed());
    assertEquals(40, member.received());
  }

  @Test
  void aMemberThatTellsOfRecordsThatDoNotExistCountsNoMore() {
    final MemberProgress member = new MemberProgress(core, MEMBER.getId(), EPOCH, true, 0);
    append();
    member.onAnswer(answer(1).build(), 0);
    assertEquals(1, member.counted());
    member.onAnswer(answer(2).build(), 0);
    assertTrue(member.hasFailed());
    assertTrue(member.isSuspect(0));
    assertEquals(-1, member.counted());
    member.onAnswer(answer(1).build(), 0); // too late
    assertTrue(member.hasFailed());
    assertFalse(member.isQuiet());
    member.work(0, 0, 0);
  }

  @Test
  void theAnswerOfAMemberThatObeysALaterLeaderDoesNotCount() {
    final MemberProgress member = new MemberProgress(core, MEMBER.getId(), EPOCH, true, 0);
    append();
    member.onAnswer(answer(1).setGate(EPOCH + 1).build(), 0);
    assertFalse(member.isAdopted());
    assertEquals(-1, member.counted());
  }

  /** No cycle was due while it lacked nothing. */
  @Test
  void aMemberThatWasIdleForLongIsNotStuck() {
    final MemberProgress member = new MemberProgress(core, MEMBER.getId(), EPOCH, true, 0);
    member.onAnswer(answer(0).build(), 0);
    member.work(0, 0, 0);
    append();
    final long hourNs = 3_600_000_000_000L;
    member.work(0, 0, hourNs);
    assertFalse(member.isDiskStuck(hourNs));
    assertFalse(member.isStuck(hourNs));
    member.work(0, 0, hourNs + 2 * MemberProgress.DISK_NS);
    assertTrue(member.isDiskStuck(hourNs + 2 * MemberProgress.DISK_NS));
  }

  /** It would not hear that the last records are committed. */
  @Test
  void aMemberThatHasNotAppliedAllIsNotIdle() {
    final MemberProgress member = new MemberProgress(core, MEMBER.getId(), EPOCH, true, 0);
    append();
    member.work(0, 0, 0);
    member.onAnswer(answer(1).build(), 0);
    long nowNs = 2 * MemberProgress.DISK_NS;
    for (final long applied : new long[] {0, 0, 1}) {
      nowNs += MemberProgress.FULL_NS;
      member.work(0, 0, nowNs); // sends a heartbeat
      member.onAnswer(answer(1).setApplied(applied).build(), nowNs);
      member.work(0, 0, nowNs);
      assertEquals(applied == 1, member.idling().isIdle());
    }
  }

  /** Records may have been under way over the connection that has ended. */
  @Test
  void aMemberIsAskedWhatItHasAfterEachConnection() {
    final MemberProgress member = new MemberProgress(core, MEMBER.getId(), EPOCH, true, 0);
    member.onAnswer(answer(0).build(), 0);
    append();
    member.work(0, 0, 0);
    assertTrue(last.hasAppend());
    member.onDisconnected();
    assertTrue(member.isSuspect(0));
    member.onConnected();
    assertFalse(member.isSuspect(0));
    member.work(0, 0, 0);
    assertTrue(last.hasAdopt(), () -> last.toString());
    assertTrue(member.isAdopted());
    member.onAnswer(answer(0).build(), 0);
    member.work(0, 0, 0);
    assertEquals(1, last.getAppend().getCount());
  }

  /** It answers, and takes records, and so it lives: there may be no end of that. */
  @Test
  void aNodeThatAnswersAndGetsNoFurtherIsGivenUp() {
    final GroupState group =
        GroupState.newBuilder()
            .setGroup(GROUP)
            .setEstablished(Configuration.newBuilder().setEpoch(EPOCH))
            .build();
    final SnapshotTransfer transfer = new SnapshotTransfer(core, MEMBER, group, () -> {}, true, 0);
    final long stepNs = 100_000_000;
    long nowNs = 0;
    while (nowNs + stepNs <= SnapshotTransfer.STALL_NS) {
      transfer.work(nowNs);
      nowNs += stepNs;
      append();
      transfer.onAnswer(answer(core.log().end()).build(), nowNs);
      assertNull(transfer.failure(nowNs), "nowNs=" + nowNs);
    }
    assertEquals(1, snapshots);
    assertEquals("the node gets no further", transfer.failure(nowNs + 1));
  }

  /** It would be given up at once, and asked again ever more rarely. */
  @Test
  void aTimeInWhichTheLeaderStoodStillIsNoSilenceOfANodeThatJoins() {
    final GroupState group =
        GroupState.newBuilder()
            .setGroup(GROUP)
            .setEstablished(Configuration.newBuilder().setEpoch(EPOCH))
            .build();
    final SnapshotTransfer transfer = new SnapshotTransfer(core, MEMBER, group, () -> {}, true, 0);
    final long stoodNs = 2 * SnapshotTransfer.STALL_NS;
    transfer.excuse(stoodNs, stoodNs);
    assertNull(transfer.failure(stoodNs));
    final long limitNs = Silence.MOST * 2_000_000_000L; // as such times may come to the node, too
    assertNull(transfer.failure(stoodNs + SnapshotTransfer.STALL_NS));
    assertNotNull(transfer.failure(stoodNs + limitNs + 1));
  }

  // The store.

  @Override
  public void clear(GroupState group) {}

  @Override
  public void apply(JournalRecord record) {}

  @Override
  public void restore(JournalRecord record) {}

  @Override
  public void follow() {}

  /** A snapshot whose next piece does not come. */
  @Override
  public GroupSnapshot snapshot(Runnable wake) {
    snapshots++;
    return new SuppliedSnapshot(() -> ByteString.EMPTY);
  }

  // Connections.

  @Override
  public PeerMemory memory() {
    return new PeerMemory() {
      @Override
      public List<FabricHint> hints() {
        return List.of();
      }

      @Override
      public MemberMemory open() {
        return null;
      }

      @Override
      public CompletableFuture<RemoteLog> connect(LogOffer offer) {
        return CompletableFuture.completedFuture(looks);
      }
    };
  }

  @Override
  public boolean send(long node, LeaderMessage message) {
    last = message;
    return true;
  }

  @Override
  public void answer(long leader, MemberMessage message) {
    throw new AssertionError();
  }
}
