package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.log.RecordLog;
import dev.ringfetch.index.onesided.LogMemoryDescriptor;
import dev.ringfetch.index.onesided.MemberMemory;
import dev.ringfetch.index.onesided.OneSidedPath;
import dev.ringfetch.index.onesided.PeerMemory;
import dev.ringfetch.index.onesided.RemoteLog;
import dev.ringfetch.index.v1.Adopt;
import dev.ringfetch.index.v1.Append;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.LogOffer;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The rules of gates and looks, each with a look that ends when the test says. */
final class OneSidedRulesTest implements UnconnectedPeers {
  private static final long GROUP = 3;
  private static final long EPOCH = 7;
  private static final long LEADER = 8;

  private final Looks looks = new Looks();
  private final OneSidedPath path = new OneSidedPath(looks, EPOCH, 0);
  private final RecordLog log = new RecordLog(64 << 10);
  private final RecordLog.Cursor cursor = log.new Cursor();
  private final GatePage gate = GatePage.in(new DirectRegion(GateDescriptor.LENGTH));
  private int failures;
  private final ReplicaContext context =
      new ReplicaContext(
          GROUP,
          Node.newBuilder().setId(1).setIncarnation(1).build(),
          1,
          this,
          new EmptyStore(),
          () -> 0,
          () -> 1,
          new ReplicaContext.Limits(64 << 10, 64 << 10, 4096),
          failure -> failures++);
  private final ReplicaCore core = new ReplicaCore(context);
  private MemberMessage answer;
  private long gateAtScan = -1;
  private int placements; // that come while the member looks where the records end
  private DirectRegion region;

  /** A member that has offered its memory. */
  private void member() throws GroupStoreException {
    core.reset(0, GroupState.getDefaultInstance());
    core.become(ReplicaState.MEMBER);
    core.moveGate(EPOCH);
    assertNotNull(core.placed().offer(List.of(FabricHint.getDefaultInstance()), EPOCH));
  }

  /** Places a record behind others of its length. */
  private void place(int before) {
    final byte[] record = record();
    final int offset = before * record.length;
    region.putBytes(LogMemoryDescriptor.RING_OFFSET + offset, record, 0, record.length);
    region.putLongRelease(LogMemoryDescriptor.END_OFFSET, offset + record.length);
  }

  private byte[] record() {
    final byte[] record = new byte[RecordDescriptor.aligned(RecordDescriptor.KEY_OFFSET)];
    new JournalRecord()
        .begin(record, 0, RecordDescriptor.PUT, ByteString.EMPTY, ByteString.EMPTY)
        .partition(GROUP, 0)
        .place(1, log.end() + 1)
        .end();
    return record;
  }

  private void append() {
    final byte[] record = record();
    log.add(record, 0, record.length);
  }

  private boolean work(long question) {
    return path.work(cursor, 0, question, 0);
  }

  @Test
  void gateOfEachOtherEpochCountsForNothing() {
    for (final long word : new long[] {EPOCH + 1, EPOCH - 1, 0, -EPOCH}) {
      final OneSidedPath other = new OneSidedPath(looks, EPOCH, 0);
      append();
      assertTrue(other.work(cursor, 0, 1, 0));
      looks.end(word);
      assertFalse(other.work(cursor, 0, 1, 0), "word=" + word);
      assertEquals(0, other.received());
      assertEquals(0, other.confirmed());
    }
  }

  @Test
  void whatComesWhileALookIsUnderWayWaitsForTheNext() {
    append();
    assertTrue(work(0));
    assertEquals(log.bytes(), looks.placedAtLook, "the record comes before the look");
    append();
    assertTrue(work(5));
    assertEquals(1, looks.begun);
    looks.end(EPOCH);
    assertTrue(work(5));
    assertEquals(1, path.received());
    assertEquals(0, path.confirmed());
    assertEquals(2, looks.begun);
    looks.end(EPOCH);
    assertTrue(work(5));
    assertEquals(2, path.received());
    assertEquals(5, path.confirmed());
    assertEquals(2, looks.begun);
  }

  @Test
  void lookWithoutAResultEndsThePath() {
    append();
    assertTrue(path.work(cursor, 0, 0, 1_000));
    assertTrue(path.work(cursor, 0, 0, 300_000_000));
    assertFalse(path.work(cursor, 0, 0, 500_000_000));
    assertEquals(0, path.received());
  }

  @Test
  void lookThatFailsCountsForNothing() {
    append();
    assertTrue(work(0));
    looks.end(EPOCH);
    append();
    assertTrue(work(5));
    assertEquals(1, path.received());
    assertTrue(path.isLooking());
    looks.fail();
    assertFalse(work(5));
    assertEquals(1, path.received());
    assertEquals(0, path.confirmed());
  }

  @Test
  void recordsWaitWhileAsManyRequestsAreUnderWayAsMayBe() {
    append();
    assertTrue(work(0));
    looks.full = true;
    append();
    assertTrue(work(0));
    assertEquals(log.bytes() / 2, looks.placed);
    looks.full = false;
    looks.end(EPOCH);
    assertTrue(work(0));
    assertEquals(1, path.received());
    assertEquals(log.bytes(), looks.placed);
    assertEquals(log.bytes(), looks.placedAtLook);
  }

  /** A leader that saw the gate open has placed its record before the scan. */
  @Test
  void memberClosesItsGateAndThenTakesWhatIsThere() throws GroupStoreException {
    member();
    core.takePlaced();
    assertEquals(EPOCH, gateAtScan);
    place(0);
    core.moveGate(EPOCH + 1);
    assertEquals(0, gateAtScan);
    assertEquals(1, core.log().end());
    assertEquals(ReplicaState.MEMBER, core.state());
  }

  @Test
  void leaderThatGoesOnPlacingDoesNotProlongTheScan() throws GroupStoreException {
    member();
    place(0);
    placements = 5;
    core.moveGate(EPOCH + 1);
    assertEquals(1, core.log().end());
    assertEquals(4, placements);
  }

  @Test
  void memberThatLosesWhatWasPlacedIsNoneAnyMore() throws GroupStoreException {
    member();
    place(0);
    core.takePlaced();
    assertEquals(ReplicaState.MEMBER, core.state());
    region.putLongRelease(LogMemoryDescriptor.END_OFFSET, -1);
    assertFalse(core.takePlaced());
    assertEquals(ReplicaState.NONE, core.state());
    assertEquals(0, gate.epoch());
    assertEquals(1, failures);
  }

  @Test
  void memberThatLosesWhatWasPlacedObeysNoLaterLeader() throws GroupStoreException {
    member();
    place(0);
    region.putLongRelease(LogMemoryDescriptor.END_OFFSET, Long.MAX_VALUE);
    core.moveGate(EPOCH + 1);
    assertEquals(EPOCH + 1, core.gate());
    assertEquals(ReplicaState.NONE, core.state());
    new Follower(core)
        .onMessage(
            LEADER,
            LeaderMessage.newBuilder()
                .setEpoch(EPOCH + 2)
                .setAdopt(Adopt.getDefaultInstance())
                .build(),
            0);
    assertEquals(0, answer.getGate());
    assertEquals(1, failures);
  }

  @Test
  void memberThatLosesWhatWasPlacedLeadsNothing() {
    final Configuration first =
        Configuration.newBuilder()
            .setEpoch(EPOCH)
            .setLeader(LEADER)
            .addMembers(Member.newBuilder().setNode(LEADER).setIncarnation(1))
            .addMembers(Configurations.member(context.self()))
            .build();
    final ReplicaCycle cycle = new ReplicaCycle(context, null, () -> {});
    cycle.onGroup(GroupState.newBuilder().setVersion(1).setWon(first).build());
    final Adopt.Builder adopt = Adopt.newBuilder().addFabrics(FabricHint.getDefaultInstance());
    cycle.onMessage(LEADER, message().setAdopt(adopt).build());
    cycle.onMessage(LEADER, message().setAppend(Append.getDefaultInstance()).build());
    assertTrue(answer.hasOffer());
    region.putLongRelease(LogMemoryDescriptor.END_OFFSET, -1);
    cycle.onGroup(
        GroupState.newBuilder()
            .setVersion(2)
            .setEstablished(first)
            .setWon(first.toBuilder().setEpoch(EPOCH + 1).setLeader(1).removeMembers(0))
            .build());
    assertEquals(ReplicaState.NONE, cycle.state());
    assertEquals(EPOCH + 1, cycle.status().gate());
    cycle.work();
    assertEquals(ReplicaState.NONE, cycle.state());
    assertEquals(1, failures);
  }

  @Test
  void aReplicaThatEndsInOrderHasWhatWasPlacedBeforeItsGateWasClosed() throws GroupStoreException {
    member();
    place(0);
    assertTrue(core.closeForGood());
    assertEquals(0, gateAtScan);
    assertEquals(1, core.log().end());
  }

  @Test
  void aReplicaWhosePlacedRecordsAreLostLeavesNothing() throws GroupStoreException {
    member();
    region.putLongRelease(LogMemoryDescriptor.END_OFFSET, -1);
    assertFalse(core.closeForGood());
    assertEquals(ReplicaState.NONE, core.state());
  }

  private static LeaderMessage.Builder message() {
    return LeaderMessage.newBuilder().setGroup(GROUP).setEpoch(EPOCH);
  }

  @Override
  public PeerMemory memory() {
    return new PeerMemory() {
      @Override
      public List<FabricHint> hints() {
        return List.of();
      }

      @Override
      public MemberMemory open() {
        return new ScannedMemory();
      }

      @Override
      public CompletableFuture<RemoteLog> connect(LogOffer offer) {
        return CompletableFuture.completedFuture(looks);
      }
    };
  }

  /** Memory that notes what the gate is when its member looks for records. */
  private final class ScannedMemory implements MemberMemory {
    @Override
    public Offered offer(List<FabricHint> hints, int length) {
      region =
          new DirectRegion(length) {
            @Override
            public long getLongAcquire(int index) {
              if (index == LogMemoryDescriptor.END_OFFSET) {
                gateAtScan = gate.epoch();
              }
              final long value = super.getLongAcquire(index);
              if (index == LogMemoryDescriptor.END_OFFSET && placements > 0) {
                placements--;
                place((int) value / record().length);
              }
              return value;
            }
          };
      return new Offered(region, gate, LogOffer.getDefaultInstance());
    }

    @Override
    public void withdraw() {}

    @Override
    public void close() {}
  }

  @Override
  public void answer(long leader, MemberMessage message) {
    answer = message;
  }
}
