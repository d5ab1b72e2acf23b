package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.v1.Adopt;
import dev.ringfetch.index.v1.Append;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.FailedReplica;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Heartbeat;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When the next cycle of a replica is due, and what brings it forward. */
final class IdleReplicaTest implements IdlePeers {
  private static final long MS = 1_000_000;
  private static final long BUSY_NS = 5 * MS;
  private static final long IDLE_NS = 100 * MS;
  private static final long TIMEOUT_NS = 500 * MS;
  private static final long BEAT_NS = 200 * MS;
  private static final long LONG_NS = 60_000 * MS;
  private static final long GROUP = 3;
  private static final long OTHER = 8;

  private final List<LeaderMessage> sent = new ArrayList<>();
  private long nowNs = 1_000 * MS;
  private int alarms;
  private int unanswered;
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
  private final NodeHeartbeats heartbeats = context.heartbeats();
  private final List<MemberMessage> answers = new ArrayList<>();

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
    heartbeats.onConnected(OTHER);
    win(1);
    answer();
    establish(1);
    assertTrue(replica.status().isLeading());
  }

  private void answer() {
    unanswered--;
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
    stepWhileBusy();
    for (int i = 0; i < 3 && restNs() < LONG_NS; i++) {
      step();
      answer();
    }
    assertTrue(restNs() > LONG_NS, () -> "ns=" + restNs());
  }

  private void stepWhileBusy() {
    for (final long endNs = nowNs + TIMEOUT_NS; nowNs < endNs; ) {
      assertEquals(BUSY_NS, restNs());
      step();
      while (unanswered > 0) {
        answer();
      }
    }
    sent.clear();
  }

  /** Obeys until the leader is idle. */
  private void obeyUntilIdle() {
    obey();
    for (final long endNs = nowNs + TIMEOUT_NS; nowNs < endNs; ) {
      assertEquals(BUSY_NS, restNs());
      step();
      heartbeat(false);
      hearNode();
    }
    assertTrue(restNs() > LONG_NS, () -> "ns=" + restNs());
  }

  /** Time goes on until the node's heartbeats are to be seen to; whether one is silent then. */
  private boolean beat() {
    nowNs += heartbeats.restNs(nowNs);
    heartbeats.plan(nowNs);
    return heartbeats.work(List.of(), nowNs);
  }

  private void hearNode() {
    heartbeats.onHeartbeat(OTHER, Heartbeat.newBuilder().setIntervalMillis(200).build(), nowNs);
  }

  private List<FailedReplica> failed() {
    return List.of(FailedReplica.newBuilder().setGroup(GROUP).setEpoch(epoch).build());
  }

  @Test
  void anIdleLeaderSaysSoAndThenItsNodeSpeaksForIt() {
    leadUntilIdle();
    assertEquals(1, sent.size());
    assertFalse(sent.get(0).getBusy());
    sent.clear();
    final long beginNs = nowNs;
    for (int i = 1; i <= 20; i++) {
      assertFalse(beat());
      heartbeats.onAnswer(OTHER, nowNs);
      assertEquals(i, sent.size(), "a heartbeat in each interval");
      assertTrue(sent.get(i - 1).hasHeartbeat());
      assertEquals(0, sent.get(i - 1).getGroup());
    }
    assertEquals(20 * BEAT_NS, nowNs - beginNs);
    replica.drive();
    assertTrue(restNs() > LONG_NS, "the member is not suspected");
  }

  @Test
  void aMemberWhoseNodeDoesNotAnswerHeartbeatsIsTakenOut() {
    leadUntilIdle();
    replica.onCoordinated(() -> true);
    final long heardNs = nowNs;
    while (!beat()) {
      assertTrue(nowNs < heardNs + LONG_NS);
    }
    assertEquals(heardNs + TIMEOUT_NS + 1, nowNs);
    assertNull(replica.takeProposal());
    replica.drive();
    assertEquals(1, replica.takeProposal().proposed().getMembersCount());
  }

  /** It must not be suspected for the time of its idling, nor trusted for a time of its own. */
  @Test
  void theSilenceOfAMemberThatWasIdleCountsFromItsNodesLastHeartbeat() {
    leadUntilIdle();
    replica.onCoordinated(() -> true);
    for (int i = 0; i < 20; i++) {
      beat();
      heartbeats.onAnswer(OTHER, nowNs);
    }
    final long heardNs = nowNs;
    heartbeats.plan(nowNs + BEAT_NS);
    nowNs += BEAT_NS;
    ask();
    while (replica.takeProposal() == null) {
      step();
      assertTrue(nowNs < heardNs + LONG_NS);
    }
    assertTrue(nowNs > heardNs + TIMEOUT_NS, () -> "ns=" + (nowNs - heardNs));
    assertTrue(nowNs <= heardNs + TIMEOUT_NS + BUSY_NS, () -> "ns=" + (nowNs - heardNs));
  }

  @Test
  void aMemberThatItsNodeReportsIsTakenOutUnlessItAnswers() {
    leadUntilIdle();
    replica.onCoordinated(() -> true);
    replica.onReported(OTHER, epoch - 1);
    assertNull(replica.takeProposal(), "of another epoch");
    replica.onReported(OTHER, epoch);
    assertEquals(1, replica.takeProposal().proposed().getMembersCount());
    replica.onProposed(Coordinator.Result.CONFLICT, null);
    assertTrue(restNs() <= IDLE_NS, "it is asked itself");
    answer();
    nowNs += TIMEOUT_NS / 2;
    replica.drive();
    assertNull(replica.takeProposal());
  }

  @Test
  void membersAreToldThatAnIdleLeaderLeavesItsEpoch() {
    leadUntilIdle();
    sent.clear();
    replica.drop();
    assertEquals(0, heartbeats.restNs(nowNs));
    assertFalse(beat());
    assertEquals(failed(), sent.get(0).getHeartbeat().getFailedList());
    assertEquals(BEAT_NS, heartbeats.restNs(nowNs), "nobody relies on its node");
  }

  @Test
  void anIdleLeaderIsToldThatAMemberLeavesItsEpoch() {
    obeyUntilIdle();
    hearNode();
    assertEquals(List.of(), answers.get(answers.size() - 1).getHeartbeat().getFailedList());
    replica.drop();
    for (final List<FailedReplica> told : List.of(failed(), List.<FailedReplica>of())) {
      hearNode();
      assertEquals(told, answers.get(answers.size() - 1).getHeartbeat().getFailedList());
    }
  }

  @Test
  void aLeaderThatItsNodeReportsIsDead() {
    obeyUntilIdle();
    replica.onReported(OTHER, epoch - 1);
    assertTrue(restNs() > LONG_NS, "of another epoch");
    replica.onReported(OTHER, epoch);
    assertEquals(BUSY_NS, restNs());
  }

  @Test
  void aReadEndsTheRestOfAnIdleLeader() {
    leadUntilIdle();
    assertEquals(nowNs + IDLE_NS, rest.begin(List.of(replica), nowNs, IDLE_NS));
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
  }

  @Test
  void aLeaderThatLacksAMemberDoesNotRest() {
    leadUntilIdle();
    replica.onDisconnected(OTHER);
    assertEquals(BUSY_NS, restNs());
  }

  /** It would be taken for dead too late by the time of a heartbeat. */
  @Test
  void anIdleReplicaLooksWhenASilentNodeIsDead() {
    lead();
    stepWhileBusy();
    nowNs += 2 * BUSY_NS; // between two heartbeats
    replica.onAnswer(
        OTHER,
        MemberMessage.newBuilder()
            .setGroup(GROUP)
            .setEpoch(epoch)
            .setGate(epoch)
            .setUnasked(true)
            .build());
    final long heardNs = nowNs;
    while (replica.dueNs() <= heardNs + TIMEOUT_NS) { // no answer says that the member knows
      step();
    }
    assertTrue(replica.dueNs() <= heardNs + TIMEOUT_NS + BUSY_NS);
    step();
    assertEquals(BUSY_NS, restNs(), "rests are no pauses");
  }

  @Test
  void anIdleMemberRestsUntilItsLeadersNodeIsDead() {
    obeyUntilIdle();
    for (int i = 0; i < 20; i++) {
      nowNs += BEAT_NS;
      heartbeats.plan(nowNs);
      assertFalse(heartbeats.work(List.of(), nowNs));
      hearNode();
      replica.drive();
      assertTrue(restNs() > LONG_NS, "the leader is not suspected");
    }
    final long heardNs = nowNs;
    while (!beat()) {
      assertTrue(nowNs < heardNs + LONG_NS);
    }
    assertEquals(heardNs + TIMEOUT_NS + 1, nowNs);
    replica.drive();
    assertEquals(BUSY_NS, restNs());
    hearNode();
    step();
    assertTrue(restNs() > LONG_NS, "it lives");
  }

  /** The time in which its node spoke for it is no gap between two messages. */
  @Test
  void aLeaderThatWasIdleForLongIsMissedAsSoonAsAnother() {
    obeyUntilIdle();
    replica.onCoordinated(() -> true);
    for (int i = 0; i < 50; i++) {
      nowNs += BEAT_NS;
      heartbeats.plan(nowNs);
      heartbeats.work(List.of(), nowNs);
      hearNode();
    }
    heartbeat(true);
    final long heardNs = nowNs;
    while (replica.takeProposal() == null) {
      step();
      assertTrue(nowNs < heardNs + LONG_NS);
    }
    assertTrue(nowNs <= heardNs + 2 * TIMEOUT_NS, () -> "ns=" + (nowNs - heardNs));
  }

  /** The process stood, and a write comes before its thread has seen that. */
  @Test
  void aPauseOfAnIdleLeaderIsNoSilenceOfItsMember() {
    leadUntilIdle();
    replica.onCoordinated(() -> true);
    beat();
    heartbeats.onAnswer(OTHER, nowNs);
    heartbeats.plan(nowNs + BEAT_NS);
    nowNs += BEAT_NS + 3 * TIMEOUT_NS;
    ask();
    assertNull(replica.takeProposal());
    step();
    assertNull(replica.takeProposal());
  }

  @Test
  void aBusyLeaderMakesItsMembersBusy() {
    obey();
    for (int i = 0; i < 10; i++) {
      nowNs += IDLE_NS;
      heartbeat(false);
    }
    assertTrue(restNs() > LONG_NS);
    heartbeat(true);
    assertEquals(BUSY_NS, restNs());
    nowNs += TIMEOUT_NS;
    heartbeat(false);
    assertTrue(restNs() > LONG_NS);
  }

  @Test
  void aReplicaThatIsNoMemberRests() {
    replica.drive();
    nowNs += TIMEOUT_NS;
    replica.drive();
    assertTrue(restNs() > LONG_NS);
  }

  /** The thread announces its rest before it looks at the due times: later ones end the rest. */
  @Test
  void aDueTimeIsSeenByTheThreadOrEndsItsRest() {
    leadUntilIdle();
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
    rest.begin(replicas, nowNs, IDLE_NS);
    assertEquals(before + 1, alarms);
  }

  @Test
  void aThreadThatWorksIsNotWoken() {
    leadUntilIdle();
    rest.begin(List.of(replica), nowNs, IDLE_NS);
    rest.work();
    final int before = alarms;
    ask();
    assertEquals(before, alarms);
    assertEquals(nowNs + BUSY_NS, rest.begin(List.of(replica), nowNs, IDLE_NS));
  }

  @Test
  void aThreadThatWakesForSomethingElseLooksAtNoReplica() {
    leadUntilIdle();
    rest.begin(List.of(replica), nowNs, IDLE_NS);
    rest.work();
    assertTrue(rest.takeNew(nowNs), "for the first time");
    rest.begin(List.of(replica), nowNs, IDLE_NS);
    nowNs += 20 * MS;
    rest.work();
    assertFalse(rest.takeNew(nowNs));
    final Collection<Replica> unseen =
        new ArrayList<>() {
          @Override
          public Iterator<Replica> iterator() {
            throw new AssertionError("a look");
          }
        };
    assertEquals(nowNs + IDLE_NS, rest.begin(unseen, nowNs, IDLE_NS));
    ask();
    rest.work();
    assertTrue(rest.takeNew(nowNs), "after a read");
  }

  @Test
  void aCycleThatTheThreadHasSeenEndsItsNextRest() {
    leadUntilIdle();
    rest.takeNew(nowNs);
    rest.begin(List.of(replica), nowNs, IDLE_NS);
    rest.work();
    ask();
    assertTrue(rest.takeNew(nowNs));
    assertEquals(nowNs + BUSY_NS, rest.begin(List.of(replica), nowNs, IDLE_NS));
  }

  @Test
  void aCycleThatBecomesDueWhileTheThreadWorksEndsTheNextRest() {
    leadUntilIdle();
    rest.takeNew(nowNs);
    rest.begin(List.of(replica), nowNs, IDLE_NS);
    rest.work();
    assertFalse(rest.takeNew(nowNs));
    ask();
    assertEquals(nowNs + BUSY_NS, rest.begin(List.of(replica), nowNs, IDLE_NS));
    nowNs += BUSY_NS;
    rest.work();
    assertTrue(rest.takeNew(nowNs));
  }

  @Override
  public boolean send(long node, LeaderMessage message) {
    sent.add(message);
    unanswered++;
    return true;
  }

  @Override
  public void answer(long leader, MemberMessage message) {
    answers.add(message);
  }
}
