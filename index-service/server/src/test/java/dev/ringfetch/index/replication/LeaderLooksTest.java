package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.onesided.MemberMemory;
import dev.ringfetch.index.onesided.PeerMemory;
import dev.ringfetch.index.onesided.RemoteLog;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.LogOffer;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A leader whose looks at a member's gate take time. */
final class LeaderLooksTest implements Peers {
  private static final long GROUP = 3;
  private static final long EPOCH = 7;
  private static final long MEMBER = 8;

  private final Looks looks = new Looks();
  private final CompletableFuture<RemoteLog> reached = new CompletableFuture<>();
  private int alarms;
  private int answered;
  private LeaderMessage sent;
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
          failure -> {
            throw new AssertionError(failure);
          });
  private final Replica replica = new Replica(context, new NodeRest(() -> alarms++));

  /** The replica leads, and the member has offered memory. */
  @BeforeEach
  void lead() {
    final Configuration configuration =
        Configuration.newBuilder()
            .setEpoch(EPOCH)
            .setLeader(1)
            .addMembers(Configurations.member(context.self()))
            .addMembers(Member.newBuilder().setNode(MEMBER).setIncarnation(1))
            .build();
    replica.onConnected(MEMBER);
    replica.onGroup(GroupState.newBuilder().setVersion(1).setWon(configuration).build());
    replica.onAnswer(MEMBER, answer().setOffer(LogOffer.getDefaultInstance()).build());
    replica.onGroup(GroupState.newBuilder().setVersion(2).setEstablished(configuration).build());
    assertTrue(replica.status().isLeading());
  }

  private static MemberMessage.Builder answer() {
    return MemberMessage.newBuilder().setGroup(GROUP).setEpoch(EPOCH).setGate(EPOCH);
  }

  private void ask() {
    replica.confirm(
        new Confirmation() {
          @Override
          public void onConfirmed(boolean leads) {
            assertTrue(leads);
            answered++;
          }
        });
  }

  @Test
  void lookUnderWayIsShownUntilItsResultIsTaken() {
    reached.complete(looks);
    replica.drive();
    assertFalse(replica.isLooking());
    final int before = alarms;
    ask();
    assertEquals(1, looks.begun);
    assertTrue(replica.isLooking());
    assertEquals(before + 1, alarms, "somebody has to take the result");
    replica.drive();
    assertEquals(before + 1, alarms);
    looks.end(EPOCH);
    assertEquals(0, answered);
    replica.drive();
    assertEquals(1, answered);
    assertFalse(replica.isLooking());
    ask();
    assertEquals(before + 2, alarms);
  }

  @Test
  void messagesDoUntilMemoryIsReached() {
    ask();
    assertTrue(sent.hasConfirm());
    replica.onAnswer(MEMBER, answer().setConfirmed(sent.getConfirm()).build());
    assertEquals(1, answered);
    assertEquals(0, looks.begun);
    reached.complete(looks);
    ask();
    assertEquals(1, looks.begun);
    looks.end(EPOCH);
    replica.drive();
    assertEquals(2, answered);
  }

  @Test
  void messagesDoWhereMemoryIsNotReached() {
    reached.completeExceptionally(new IOException("not to be reached"));
    ask();
    replica.onAnswer(MEMBER, answer().setConfirmed(sent.getConfirm()).build());
    assertEquals(1, answered);
  }

  @Test
  void memoryThatIsReachedTooLateIsGivenBack() {
    replica.onDisconnected(MEMBER);
    assertTrue(reached.isCancelled());
  }

  @Test
  void memoryThatWasReachedAndNotUsedIsGivenBack() {
    reached.complete(looks);
    replica.onDisconnected(MEMBER);
    assertTrue(looks.closed);
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
        return null;
      }

      @Override
      public CompletableFuture<RemoteLog> connect(LogOffer offer) {
        return reached;
      }
    };
  }

  @Override
  public void connect(Node node) {}

  @Override
  public void disconnect(long node) {}

  @Override
  public boolean send(long node, LeaderMessage message) {
    sent = message;
    return true;
  }

  @Override
  public void answer(long leader, MemberMessage message) {
    throw new AssertionError();
  }
}
