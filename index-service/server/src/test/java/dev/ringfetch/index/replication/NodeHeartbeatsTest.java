package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.Heartbeat;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The heartbeats of a node: to which nodes they go, when one is silent, what they report. */
final class NodeHeartbeatsTest implements IdlePeers {
  private static final long MS = 1_000_000;
  private static final long BEAT_NS = 200 * MS;
  private static final long TIMEOUT_NS = 500 * MS;
  private static final long OTHER = 8;

  private final List<Long> receivers = new ArrayList<>();
  private LeaderMessage last = LeaderMessage.getDefaultInstance();
  private boolean isRefused;
  private int answered;
  private long nowNs = 1_000 * MS;
  private final NodeHeartbeats heartbeats =
      new NodeHeartbeats(this, ReplicaContext.Limits.DEFAULT, () -> nowNs);

  @Override
  public boolean send(long node, LeaderMessage message) {
    if (!isRefused) {
      receivers.add(node);
      last = message;
    }
    return !isRefused;
  }

  @Override
  public void answer(long leader, MemberMessage message) {
    answered++;
  }

  /** The node's thread works after a rest of so long. */
  private boolean workAfter(long restNs) {
    nowNs += restNs;
    heartbeats.plan(nowNs);
    return heartbeats.work(List.of(), nowNs);
  }

  @Test
  void heartbeatsGoToNodesOnWhichIdleReplicasRely() {
    workAfter(10 * BEAT_NS);
    heartbeats.ofMember(OTHER).rely(nowNs);
    workAfter(BEAT_NS / 2);
    assertEquals(List.of(), receivers);
    heartbeats.ofMember(9).rely(nowNs);
    workAfter(BEAT_NS / 2);
    assertEquals(2, receivers.size(), "the second one is due soon, and goes with the first");
    assertEquals(200, last.getHeartbeat().getIntervalMillis());
    heartbeats.ofMember(9).rely(nowNs);
    heartbeats.ofMember(9).unrely();
    heartbeats.ofMember(OTHER).unrely();
    receivers.clear();
    workAfter(BEAT_NS);
    assertEquals(List.of(9L), receivers);
  }

  @Test
  void aHeartbeatThatIsNotTakenIsSentAgain() {
    heartbeats.ofMember(OTHER).rely(nowNs);
    heartbeats.ofMember(OTHER).fail(3, 6);
    heartbeats.onConnected(OTHER);
    heartbeats.ofMember(OTHER).fail(3, 7);
    isRefused = true;
    workAfter(BEAT_NS);
    assertTrue(heartbeats.restNs(nowNs) <= 0);
    isRefused = false;
    workAfter(5 * MS);
    assertEquals(1, last.getHeartbeat().getFailedCount());
    workAfter(BEAT_NS);
    assertEquals(0, last.getHeartbeat().getFailedCount(), "it was told");
  }

  @Test
  void aNodeIsSilentAfterTheTimeoutUntilItIsHeard() {
    final PeerHeartbeats leader = heartbeats.ofLeader(OTHER);
    leader.rely(nowNs);
    for (int i = 0; i < 60; i++) { // the interval is no gap
      assertFalse(workAfter(BEAT_NS));
      heartbeats.onHeartbeat(OTHER, Heartbeat.newBuilder().setIntervalMillis(200).build(), nowNs);
    }
    assertEquals(BEAT_NS, heartbeats.restNs(nowNs));
    assertFalse(workAfter(TIMEOUT_NS));
    assertEquals(1, heartbeats.restNs(nowNs));
    assertTrue(workAfter(1));
    assertTrue(leader.isSilent());
    assertFalse(workAfter(BEAT_NS), "as before");
    heartbeats.onHeartbeat(OTHER, Heartbeat.getDefaultInstance(), nowNs);
    assertFalse(leader.isSilent());
  }

  @Test
  void nobodyIsSilentOnWhomNobodyRelies() {
    final PeerHeartbeats leader = heartbeats.ofLeader(OTHER);
    leader.rely(nowNs);
    leader.unrely();
    assertFalse(workAfter(100 * TIMEOUT_NS));
    leader.rely(nowNs);
    assertFalse(workAfter(TIMEOUT_NS), "the time before is no silence");
    heartbeats.onHeartbeat(OTHER, Heartbeat.getDefaultInstance(), nowNs);
    leader.unrely();
    heartbeats.onHeartbeat(OTHER, Heartbeat.getDefaultInstance(), nowNs + 100 * TIMEOUT_NS);
    nowNs += 100 * TIMEOUT_NS;
    leader.rely(nowNs);
    assertFalse(workAfter(2 * TIMEOUT_NS), "a gap of 500 ms was heard");
    assertFalse(workAfter(BEAT_NS));
  }

  @Test
  void aPauseOfTheThreadIsNoSilence() {
    heartbeats.ofLeader(OTHER).rely(nowNs);
    heartbeats.plan(nowNs + BEAT_NS);
    nowNs += BEAT_NS + 2 * TIMEOUT_NS;
    assertFalse(heartbeats.work(List.of(), nowNs));
    assertTrue(workAfter(8 * TIMEOUT_NS));
  }

  private final CountDownLatch entered = new CountDownLatch(1);
  private final CountDownLatch goesOn = new CountDownLatch(1);
  private final AtomicInteger looks = new AtomicInteger(); // at the clock

  /** A replica, in whose next cycle a thread of the name "stuck" waits. */
  private Replica replica() {
    return new Replica(
        new ReplicaContext(
            3,
            Node.newBuilder().setId(1).setIncarnation(1).build(),
            1,
            this,
            new EmptyStore(),
            () -> {
              looks.incrementAndGet();
              if (Thread.currentThread().getName().equals("stuck")) {
                entered.countDown();
                await(goesOn);
              }
              return 0;
            },
            () -> 1,
            ReplicaContext.Limits.DEFAULT,
            failure -> {
              throw new AssertionError(failure);
            }),
        new NodeRest(() -> {}));
  }

  /** Its owner may have looked before the node was silent, and plan to rest for an hour. */
  @Test
  void aReplicaDoesACycleAfterASilenceThatCameWithinOne() throws Exception {
    final Replica replica = replica();
    final int before = looks.get();
    replica.drive();
    final int ofOne = looks.get() - before;
    final Thread owner = new Thread(replica::drive, "stuck");
    owner.start();
    await(entered);
    replica.onDue();
    goesOn.countDown();
    owner.join();
    assertEquals(3 * ofOne, looks.get() - before);
  }

  @Test
  void aNodeWhoseThreadIsStuckAnswersNothing() {
    heartbeats.plan(nowNs);
    nowNs += TIMEOUT_NS;
    heartbeats.onHeartbeat(OTHER, Heartbeat.getDefaultInstance(), nowNs);
    assertEquals(1, answered);
    nowNs += TIMEOUT_NS;
    heartbeats.onHeartbeat(OTHER, Heartbeat.getDefaultInstance(), nowNs);
    assertEquals(1, answered);
    workAfter(0);
    heartbeats.onHeartbeat(OTHER, Heartbeat.getDefaultInstance(), nowNs);
    assertEquals(2, answered);
  }

  /** The node lives, but its replica does not go on. */
  @Test
  void aReplicaThatIsStuckIsReported() throws Exception {
    final Replica replica = replica();
    final ReplicaReports reports =
        new ReplicaReports(Map.of(3L, replica), ReplicaContext.Limits.DEFAULT);
    heartbeats.ofMember(OTHER).rely(nowNs);
    final Thread owner = new Thread(replica::drive, "stuck");
    owner.start();
    await(entered);
    for (int i = 0; i < 4; i++) {
      assertEquals(0, last.getHeartbeat().getFailedCount());
      nowNs += BEAT_NS;
      heartbeats.work(reports.stuck(nowNs), nowNs);
    }
    assertEquals(3, last.getHeartbeat().getFailed(0).getGroup());
    goesOn.countDown();
    owner.join();
    nowNs += BEAT_NS;
    heartbeats.work(reports.stuck(nowNs), nowNs);
    assertEquals(0, last.getHeartbeat().getFailedCount());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
