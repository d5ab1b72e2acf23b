package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.ReportedErrors;
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
import java.util.List;
import org.junit.jupiter.api.Test;

/** A member whose leader is of a later version, and what its log says of that. */
final class UnknownRecordsTest implements UnconnectedPeers, MemberStore {
  /** A type that no record of this version has. */
  static final int LATER = 60;

  private static final long GROUP = 3;
  private static final long LEADER = 8;

  private int errors;
  private long received;
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
              failure -> errors++));
  private final Follower follower = new Follower(core);

  private static ByteString record(int type, long lsn) {
    final byte[] record = new byte[RecordDescriptor.aligned(RecordDescriptor.KEY_OFFSET)];
    new JournalRecord()
        .begin(record, 0, type, ByteString.EMPTY, ByteString.EMPTY)
        .partition(GROUP, 0)
        .place(1, lsn)
        .end();
    return ByteString.copyFrom(record);
  }

  private void send(LeaderMessage.Builder message) {
    follower.onMessage(LEADER, message.setGroup(GROUP).setEpoch(5).build(), 0);
    follower.apply(100);
  }

  private static LeaderMessage.Builder append(long position, ByteString records, int count) {
    return LeaderMessage.newBuilder()
        .setAppend(Append.newBuilder().setPosition(position).setCount(count).setRecords(records));
  }

  @Test
  void oneLineTellsOfTheFirstRecordOfALaterVersion() throws Throwable {
    core.reset(0, GroupState.getDefaultInstance());
    core.become(ReplicaState.MEMBER);
    send(LeaderMessage.newBuilder().setAdopt(Adopt.newBuilder().setEnd(0)));
    final ByteString known = record(RecordDescriptor.PUT, 1);
    final ByteString later = record(LATER, 2);
    final byte[] damaged = later.toByteArray();
    damaged[RecordDescriptor.CRC_OFFSET]++;

    assertEquals(
        List.of(),
        ReportedErrors.lines(
            UnknownRecords.class,
            () -> {
              send(append(0, known, 2));
              send(append(0, known.concat(ByteString.copyFrom(damaged)), 2));
              send(append(0, record(RecordDescriptor.GROUP_END, 1), 1));
            }));
    assertEquals(0, received);
    final List<String> lines =
        ReportedErrors.lines(
            UnknownRecords.class,
            () -> {
              send(append(0, known.concat(later), 2));
              send(append(0, known.concat(later), 2));
              send(append(0, known, 1));
            });
    assertEquals(1, received);
    assertEquals(1, lines.size(), lines::toString);
    assertTrue(lines.get(0).contains("docs/production.md#upgrade"), lines::toString);
    assertTrue(lines.get(0).endsWith("type=60 group=3"), lines::toString);
  }

  @Test
  void thatOfASnapshotIsOneToo() throws Throwable {
    final List<String> lines =
        ReportedErrors.lines(
            UnknownRecords.class,
            () -> {
              send(
                  LeaderMessage.newBuilder()
                      .setSnapshotBegin(SnapshotBegin.newBuilder().setPosition(7)));
              send(
                  LeaderMessage.newBuilder()
                      .setSnapshot(record(RecordDescriptor.PUT, 1).concat(record(LATER, 2))));
            });
    assertEquals(1, errors);
    assertEquals(1, lines.size(), lines::toString);
    assertTrue(lines.get(0).endsWith("type=60 group=3"), lines::toString);
  }

  @Override
  public void answer(long leader, MemberMessage message) {
    received = message.getReceived();
  }

  @Override
  public void clear(GroupState group) {}

  @Override
  public void apply(JournalRecord record) {}

  @Override
  public void restore(JournalRecord record) throws GroupStoreException {}

  @Override
  public void follow() {}
}
