package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.Adopt;
import dev.ringfetch.index.v1.Append;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When the next cycle of a replica is due, and what brings it forward. */
final class IdleReplicaTest implements IdlePeers {
  private static final long MS = 1_000_000;
  private static final long BUSY_NS = 5 * MS;
  private static final long IDLE_NS = 100 * MS;
  private static final long TIMEOUT_NS = 500 * MS;
  private static final long GROUP = 3;
  private static final long OTHER = 8;

  private final List<LeaderMessage> sent = new ArrayList<>();
  private long nowNs = 1_000 * MS;
  private int alarms;
  private long epoch = 7;
  private int version;
  private Configuration established = Configuration.getDefaultInstance();
  private final NodeRest rest = new NodeRest(() -> alarms++);
  private final ReplicaContext context =
      new ReplicaContext(
          GROUP,
          Node.newBuilder().setId(1).setIncarnation(1).build(),
          1,
          this,
          new EmptyStore(),
          () -> nowNs,
          () -> 1,
          ReplicaContext.Limits.DEFAULT,
          failure -> {
            throw new AssertionError(failure);
          });
  private final Replica replica = new Replica(context, rest);

  /** A configuration of this node and the other one. */
  private Configuration led(long leader) {
    return Configuration.newBuilder()
        .setEpoch(epoch)
        .setLeader(leader)
        .addMembers(Configurations.member(context.self()))
        .addMembers(Member.newBuilder().setNode(OTHER).setIncarnation(1))
        .build();
  }

  private void win(long leader) {
    final GroupState.Builder state =
        GroupState.newBuilder().setVersion(++version).setWon(led(leader));
    if (established.getEpoch() > 0) {
      state.setEstablished(established);
    }
    replica.onGroup(state.build());
  }

  private void establish(long leader) {
    established = led(leader);
    replica.onGroup(
        GroupState.newBuilder().setVersion(++version).setEstablished(established).build());
  }

  private void lead() {
    replica.onConnected(OTHER);
    win(1);
    answer();
    establish(1);
    assertTrue(replica.status().isLeading());
  }

  private void answer() {
    replica.onAnswer(
        OTHER, MemberMessage.newBuilder().setGroup(GROUP).setEpoch(epoch).setGate(epoch).build());
  }

  private void obey() {
    win(OTHER);
    hear(LeaderMessage.newBuilder().setAdopt(Adopt.getDefaultInstance()));
    establish(OTHER);
  }

  private void hear(LeaderMessage.Builder message) {
    replica.onMessage(OTHER, message.setGroup(GROUP).setEpoch(epoch).build());
    replica.drive();
  }

  private void heartbeat(boolean isBusy) {
    hear(LeaderMessage.newBuilder().setAppend(Append.getDefaultInstance()).setBusy(isBusy));
  }

  private long restNs() {
    return replica.dueNs() - nowNs;
  }

  /** Time goes on to the due cycle, which the node's thread does. */
  private void step() {
    nowNs = replica.dueNs();
    replica.drive();
  }

  private void ask() {
    replica.confirm(
        new Confirmation() {
          @Override
          public void onConfirmed(boolean leads) {
            assertTrue(leads);
          }
        });
  }

  /** Steps until the time after the last activity is over; the member answers all the time. */
  private void leadUntilIdle() {
    lead();
    stepUntilIdle();
  }

  private void stepUntilIdle() {
    for (final long endNs = nowNs + TIMEOUT_NS; nowNs < endNs; ) {
      assertEquals(BUSY_NS, restNs());
      step();
      answer();
    }
    sent.clear();
  }

  @Test
  void anIdleLeaderRestsUntilItsNextHeartbeat() {
    leadUntilIdle();
    for (int i = 0; i < 10; i++) {
      step();
      answer();
      assertTrue(restNs() > BUSY_NS, () -> "ns=" + restNs());
    }
    sent.clear();
    final long beginNs = nowNs;
    for (int i = 0; i < 10; i++) {
      step();
      answer();
    }
    assertEquals(10, sent.size(), "a cycle for each heartbeat");
    assertEquals(10 * IDLE_NS, nowNs - beginNs);
    assertFalse(sent.get(9).getBusy());
  }

  @Test
  void aReadEndsTheRestOfAnIdleLeader() {
    leadUntilIdle();
    step();
    answer();
    assertEquals(nowNs + IDLE_NS, rest.begin(List.of(replica), nowNs, context.limits()));
    final int before = alarms;
    nowNs += 20 * MS;
    sent.clear();
    ask();
    assertEquals(before + 1, alarms);
    assertEquals(BUSY_NS, restNs());
    replica.onAnswer(
        OTHER,
        MemberMessage.newBuilder()
            .setGroup(GROUP)
            .setEpoch(epoch)
            .setGate(epoch)
            .setConfirmed(1)
            .build());
    step();
    assertEquals(2, sent.size());
    assertTrue(sent.get(0).hasConfirm(), "the read is not delayed");
    assertTrue(sent.get(1).getBusy(), "the member is told at once");
  }

  @Test
  void aLeaderThatHasTakenOverRests() {
    obey();
    replica.onLeaderGone(OTHER);
    epoch++;
    lead();
    stepUntilIdle();
    step();
    answer();
    assertTrue(restNs() > BUSY_NS, () -> "ns=" + restNs());
  }

  @Test
  void aLeaderThatLacksAMemberDoesNotRest() {
    leadUntilIdle();
    step();
    answer();
    assertTrue(restNs() > BUSY_NS, () -> "ns=" + restNs());
    replica.onDisconnected(OTHER);
    assertEquals(BUSY_NS, restNs());
  }

  /** It would be taken for dead too late by the time of a heartbeat. */
  @Test
  void anIdleReplicaLooksWhenASilentNodeIsDead() {
    leadUntilIdle();
    final long heardNs = nowNs;
    while (replica.dueNs() <= heardNs + TIMEOUT_NS) {
      step();
    }
    assertEquals(heardNs + TIMEOUT_NS + 1, replica.dueNs());
  }

  @Test
  void anIdleMemberRestsUntilItsLeaderIsDead() {
    obey();
    for (final long endNs = nowNs + TIMEOUT_NS; nowNs < endNs; ) {
      assertEquals(BUSY_NS, restNs());
      step();
      heartbeat(false);
    }
    assertEquals(IDLE_NS, restNs());
    final long heardNs = nowNs;
    for (int i = 1; i < 5; i++) {
      step();
      assertEquals(heardNs + i * IDLE_NS, nowNs);
    }
    step();
    assertEquals(heardNs + TIMEOUT_NS, nowNs);
    assertEquals(BUSY_NS, restNs());
  }

  @Test
  void aBusyLeaderMakesItsMembersBusy() {
    obey();
    for (int i = 0; i < 10; i++) {
      nowNs += IDLE_NS;
      heartbeat(false);
    }
    assertEquals(IDLE_NS, restNs());
    heartbeat(true);
    assertEquals(BUSY_NS, restNs());
    nowNs += TIMEOUT_NS;
    heartbeat(false);
    assertEquals(IDLE_NS, restNs());
  }

  @Test
  void aRestAsPlannedIsNoPause() {
    obey();
    for (int i = 0; i < 10; i++) {
      nowNs += IDLE_NS;
      heartbeat(false);
    }
    final long heardNs = nowNs;
    while (nowNs < heardNs + TIMEOUT_NS) {
      step();
    }
    nowNs++;
    replica.drive();
    assertEquals(BUSY_NS, restNs(), "it looks for the end of the leader's node");
    assertEquals(heardNs + TIMEOUT_NS + 1, nowNs);
  }

  @Test
  void aReplicaThatIsNoMemberRests() {
    replica.drive();
    nowNs += TIMEOUT_NS;
    replica.drive();
    assertEquals(IDLE_NS, restNs());
  }

  /** The thread announces its rest before it looks at the due times: later ones end the rest. */
  @Test
  void aDueTimeIsSeenByTheThreadOrEndsItsRest() {
    leadUntilIdle();
    step();
    answer();
    final List<Replica> replicas =
        new ArrayList<>(List.of(replica)) {
          @Override
          public Iterator<Replica> iterator() {
            final Iterator<Replica> each = super.iterator();
            return new Iterator<>() {
              @Override
              public boolean hasNext() {
                final boolean more = each.hasNext();
                if (!more) { // after the look at the last one
                  ask();
                }
                return more;
              }

              @Override
              public Replica next() {
                return each.next();
              }
            };
          }
        };
    final int before = alarms;
    rest.begin(replicas, nowNs, context.limits());
    assertEquals(before + 1, alarms);
  }

  @Test
  void aThreadThatWorksIsNotWoken() {
    leadUntilIdle();
    step();
    answer();
    rest.begin(List.of(replica), nowNs, context.limits());
    rest.work();
    final int before = alarms;
    ask();
    assertEquals(before, alarms);
    assertEquals(nowNs + BUSY_NS, rest.begin(List.of(replica), nowNs, context.limits()));
  }

  @Override
  public boolean send(long node, LeaderMessage message) {
    sent.add(message);
    return true;
  }
}
