package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A leader without other members, in whose memory a record is committed once it is appended. */
final class AloneLeaderTest extends EmptyStore implements IdlePeers {
  private static final long GROUP = 3;
  private static final long MEMBER = 8;

  private final List<LeaderMessage> sent = new ArrayList<>();
  private final ReplicaContext context =
      new ReplicaContext(
          GROUP,
          Node.newBuilder().setId(1).setIncarnation(1).build(),
          1,
          this,
          this,
          () -> 0,
          () -> 1,
          new ReplicaContext.Limits(64 << 10, 64 << 10, 4096),
          failure -> {
            throw new AssertionError(failure);
          });
  private final Replica replica = new Replica(context, new NodeRest(() -> {}));
  private GroupLog log;
  private CommitLog partition;
  private int version;
  private long acknowledged; // the last version

  @BeforeEach
  void leadAlone() {
    replica.onConnected(MEMBER);
    win(7);
    establish(7);
    assertTrue(replica.status().isLeading());
  }

  private static Configuration configuration(long epoch) {
    final Configuration.Builder configuration =
        Configuration.newBuilder()
            .setEpoch(epoch)
            .setLeader(1)
            .addMembers(Member.newBuilder().setNode(1).setIncarnation(1));
    if (epoch > 7) {
      configuration.addMembers(Member.newBuilder().setNode(MEMBER).setIncarnation(1));
    }
    return configuration.build();
  }

  private void win(long epoch) {
    final GroupState.Builder state =
        GroupState.newBuilder().setVersion(++version).setWon(configuration(epoch));
    if (epoch > 7) {
      state.setEstablished(configuration(7));
    }
    replica.onGroup(state.build());
  }

  private void establish(long epoch) {
    replica.onGroup(
        GroupState.newBuilder().setVersion(++version).setEstablished(configuration(epoch)).build());
  }

  /** Appends as the owner of the partition does; returns the version. */
  private long append() {
    final Write put =
        new Write(write -> {}).put(ByteString.copyFromUtf8("key"), ByteString.copyFromUtf8("v"));
    final long lsn = partition.append(put);
    acknowledged = partition.committed();
    partition.onCycleEnd();
    return lsn;
  }

  @Test
  void commitsWithoutTheReplicasOwner() {
    assertTrue(log.isAlone());
    assertTrue(partition.isImmediate());
    assertEquals(1, append());
    assertEquals(1, partition.committed());
    assertEquals(0, replica.status().end()); // the owner takes many at once
    for (int i = 2; i <= 10_000; i++) {
      assertEquals(i, append());
    }
    assertEquals(10_000, partition.committed());
    assertTrue(partition.hasRoom());
    replica.drive();
    assertEquals(10_000, partition.committed());
  }

  /** The member must not count as complete without it. */
  @Test
  void recordThatIsCommittedHasItsPositionBeforeAMemberComes() {
    assertEquals(1, append());
    win(8);
    assertFalse(log.isAlone());
    assertFalse(partition.isImmediate());
    assertEquals(
        1, sent.stream().filter(LeaderMessage::hasAdopt).findFirst().get().getAdopt().getEnd());
    assertEquals(2, append());
    assertEquals(1, partition.committed());
  }

  @Test
  void orderlyStopKeepsWhatWasAcknowledgedMeanwhile() {
    final long walked = append();
    final StopCopy copy = replica.stop(() -> {});
    final List<ByteString> pieces = new ArrayList<>();
    for (int i = 0; i < 100 && !copy.isDone(); i++) {
      final ByteString piece = copy.take();
      if (piece != null) {
        pieces.add(piece);
      }
    }
    assertTrue(copy.isDone());
    assertEquals(acknowledged - walked, puts(pieces));
    assertFalse(log.isAlone());
  }

  private static int puts(List<ByteString> pieces) {
    int count = 0;
    final JournalRecord record = new JournalRecord();
    for (final ByteString piece : pieces) {
      final byte[] bytes = piece.toByteArray();
      for (int offset = 0; offset < bytes.length; ) {
        assertTrue(record.wrap(bytes, offset, bytes.length));
        count += record.type() == RecordDescriptor.PUT ? 1 : 0;
        offset += RecordDescriptor.aligned(record.length());
      }
    }
    return count;
  }

  @Override
  public void lead(GroupLog led, GroupState state) {
    log = led;
    partition = led.partition(0, 0);
  }

  /** A snapshot without entries: an owner appends once more when it ends. */
  @Override
  public GroupSnapshot snapshot(Runnable wake) {
    return new SuppliedSnapshot(
        () -> {
          append();
          return null;
        });
  }

  @Override
  public boolean send(long node, LeaderMessage message) {
    sent.add(message);
    return true;
  }
}
