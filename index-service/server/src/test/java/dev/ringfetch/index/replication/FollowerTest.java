package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.v1.Adopt;
import dev.ringfetch.index.v1.Append;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.SnapshotBegin;
import dev.ringfetch.index.v1.SnapshotEnd;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a member does with each message, and with those that cannot be. */
final class FollowerTest implements UnconnectedPeers, MemberStore {
  private static final long GROUP = 3;
  private static final long LEADER = 8;
  private static final long OTHER = 9;

  private final List<Long> applied = new ArrayList<>();
  private final ReplicaCore core =
      new ReplicaCore(
          new ReplicaContext(
              GROUP,
              Node.newBuilder().setId(1).setIncarnation(1).build(),
              1,
              this,
              this,
              () -> 0,
              () -> 1,
              ReplicaContext.Limits.DEFAULT,
              failure -> {
                throw new AssertionError(failure);
              }));
  private final Follower follower = new Follower(core);
  private MemberMessage answer;

  /** A member of a group without records. */
  private void member() throws GroupStoreException {
    core.reset(0, GroupState.getDefaultInstance());
    core.become(ReplicaState.MEMBER);
  }

  private void send(long from, long epoch, long commit, LeaderMessage.Builder message) {
    answer = null;
    follower.onMessage(from, message.setGroup(GROUP).setEpoch(epoch).setCommit(commit).build(), 0);
    follower.apply(100);
  }

  private static LeaderMessage.Builder adopt(long end) {
    return LeaderMessage.newBuilder().setAdopt(Adopt.newBuilder().setEnd(end));
  }

  private static LeaderMessage.Builder append(long position, int count) {
    ByteString records = ByteString.EMPTY;
    for (int i = 1; i <= count; i++) {
      final byte[] record = new byte[RecordDescriptor.aligned(RecordDescriptor.KEY_OFFSET)];
      new JournalRecord()
          .begin(record, 0, RecordDescriptor.PUT, ByteString.EMPTY, ByteString.EMPTY)
          .partition(GROUP, 0)
          .place(1, position + i)
          .end();
      records = records.concat(ByteString.copyFrom(record));
    }
    return LeaderMessage.newBuilder()
        .setAppend(Append.newBuilder().setPosition(position).setCount(count).setRecords(records));
  }

  private void expect(long gate, long received) {
    assertEquals(gate, answer.getGate());
    assertEquals(received, answer.getReceived());
  }

  @Test
  void memberAppliesUpToTheCommitAndCutsTheRest() throws GroupStoreException {
    member();
    send(LEADER, 5, 0, adopt(0));
    expect(5, 0);
    send(LEADER, 5, 2, append(0, 4));
    expect(5, 4);
    assertEquals(List.of(1L, 2L), applied);
    send(OTHER, 6, 2, adopt(3));
    expect(6, 3);
    send(OTHER, 6, 3, append(3, 2));
    send(OTHER, 6, 3, adopt(3)); // again: nothing is cut that is of this epoch
    expect(6, 5);
    assertEquals(List.of(1L, 2L, 3L), applied);
  }

  @Test
  void otherEpochsAndLeadersAreRefused() throws GroupStoreException {
    member();
    send(LEADER, 5, 0, append(0, 1));
    expect(0, 0);
    send(LEADER, 5, 0, adopt(0));
    send(LEADER, 5, 0, append(0, 2));
    send(OTHER, 6, 0, adopt(2));
    send(LEADER, 5, 2, append(2, 1));
    expect(6, 2);
    send(LEADER, 6, 2, append(2, 1));
    expect(0, 2);
    send(OTHER, 7, 2, append(2, 1));
    expect(6, 2);
    assertEquals(List.of(), applied);
    assertEquals(4, core.counts.refused);
  }

  @Test
  void gapsAndRepetitionsChangeNothing() throws GroupStoreException {
    member();
    send(LEADER, 5, 0, adopt(0));
    send(LEADER, 5, 0, append(0, 2));
    send(LEADER, 5, 0, append(3, 2));
    expect(5, 2);
    send(LEADER, 5, 0, append(-1, 2));
    expect(5, 2);
    send(LEADER, 5, 0, append(0, 2));
    expect(5, 2);
    send(LEADER, 5, 9, append(0, 4));
    expect(5, 4);
    assertEquals(List.of(1L, 2L, 3L, 4L), applied);
  }

  @Test
  void nodeWithoutRecordsShowsNoGate() {
    send(LEADER, 5, 0, adopt(0));
    expect(0, 0);
    assertEquals(ReplicaState.NONE, core.state());
  }

  @Test
  void joinerAppliesNothingAndIsNoMemberBeforeTheSnapshotEnds() {
    final LeaderMessage.Builder begin =
        LeaderMessage.newBuilder().setSnapshotBegin(SnapshotBegin.newBuilder().setPosition(7));
    send(LEADER, 5, 0, begin);
    expect(5, 7);
    send(LEADER, 5, 9, append(7, 3));
    expect(5, 10);
    assertEquals(List.of(), applied);
    send(LEADER, 6, 9, adopt(10));
    expect(5, 10);
    send(
        LEADER,
        5,
        9,
        LeaderMessage.newBuilder().setSnapshotEnd(SnapshotEnd.newBuilder().setPosition(9)));
    assertEquals(List.of(8L, 9L), applied);
    send(LEADER, 6, 9, adopt(10));
    expect(6, 10);
    assertEquals(ReplicaState.MEMBER, core.state());
    send(LEADER, 6, 9, begin); // a member gives nothing up in its own epoch
    expect(6, 10);
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
    applied.add(record.lsn());
  }

  @Override
  public void restore(JournalRecord record) {
    apply(record);
  }

  @Override
  public void follow() {
    applied.clear();
  }
}
