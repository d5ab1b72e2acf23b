package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.layout.MemberGates;
import dev.ringfetch.index.v1.Configuration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a group does in the cases that each have a name. */
final class ReplicaTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 29);

  /** No replica waits longer for a node that says nothing. */
  private static final int LONGEST_SILENCE_MS =
      (int) (Silence.MOST * ReplicaContext.Limits.NODE_TIMEOUT_DEFAULT_NS / ReplicationWorld.MS);

  private final Coverage coverage = new Coverage();

  @Test
  void failsOverWhenLeaderIsKilled() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    world.startClients(4, 500_000);
    world.time().run(300 * ReplicationWorld.MS);
    final SimulatedNode first = world.leader();
    assertEquals(1, first.id());
    world.crash(first.id(), true, -1);
    world.time().run(400 * ReplicationWorld.MS);
    assertNotEquals(null, world.leader(), world::describe);
    assertNotEquals(1, world.leader().id());
    assertEquals(1, coverage.of("fail-overs"));
    world.settle();
    assertTrue(coverage.of("reads") > 20, coverage::toString);
    assertTrue(coverage.of("joins") > 0, coverage::toString);
  }

  @Test
  void groupOfOneServes() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 1, 1, coverage);
    world.startClients(4, 500_000);
    world.time().run(300 * ReplicationWorld.MS);
    world.settle();
    assertTrue(coverage.of("reads") > 20, coverage::toString);
  }

  @Test
  void pausedLeaderServesNothingWhenItGoesOn() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    world.startClients(4, 500_000);
    world.time().run(300 * ReplicationWorld.MS);
    world.pause(1, 2_000);
    world.time().run(1_200 * ReplicationWorld.MS);
    assertEquals(1, coverage.of("fail-overs"));
    world.time().run(1_500 * ReplicationWorld.MS);
    assertFalse(world.nodes().get(1L).store().isLeading());
    world.settle();
  }

  @Test
  void deadMemberIsTakenOutAndJoinsAnew() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    world.startClients(4, 500_000);
    world.time().run(300 * ReplicationWorld.MS);
    world.crash(3, false, 700);
    world.time().run(650 * ReplicationWorld.MS);
    assertEquals(1, world.leader().id());
    assertEquals(1, coverage.of("shrunk or equal") - coverage.of("fail-overs"));
    world.time().run(5_000 * ReplicationWorld.MS);
    assertEquals(3, world.coordinator().group(world.group()).getEstablished().getMembersCount());
    assertEquals(0, coverage.of("fail-overs"));
    world.settle();
  }

  /**
   * Another member of the last established configuration might establish one without this leader.
   */
  @Test
  void epochThatWasOnlyWonIsNotReadable() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    world.startClients(4, 500_000);
    world.time().run(300 * ReplicationWorld.MS);
    final SimulatedNode leader = world.leader();
    final Configuration whole = leader.replica().status().readable();
    assertEquals(3, whole.getMembersCount());
    assertEquals(leader.replica().status().gate(), whole.getEpoch());
    assertNull(world.nodes().get(2L).replica().status().readable()); // it does not lead
    world.crash(3, true, -1);
    for (int i = 0; i < 100_000 && isGateAt(leader, whole.getEpoch()); i++) {
      world.time().run(ReplicationWorld.MS / 100);
    }
    leader.session().connect(false); // it can establish nothing
    world.time().run(200 * ReplicationWorld.MS);
    assertTrue(leader.replica().status().isLeading());
    assertTrue(leader.replica().status().group().hasWon());
    assertNull(leader.replica().status().readable());
    leader.session().connect(true);
    world.time().run(2_000 * ReplicationWorld.MS);
    assertEquals(2, leader.replica().status().readable().getMembersCount());
    world.settle();
  }

  private static boolean isGateAt(SimulatedNode node, long epoch) {
    return node.replica().status().gate() == epoch;
  }

  /** Clients that read the memory of a member which leaves turn away. */
  @Test
  void gateIsClosedWhenAReplicaEnds() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    world.time().run(300 * ReplicationWorld.MS);
    final long epoch = world.leader().replica().status().gate();
    final List<MemberGates.Member> gates =
        world.nodes().values().stream().map(SimulatedNode::gates).toList();
    assertTrue(new MemberGates(epoch, gates).areOpen());
    world.coordinator().drop(world.group());
    world.time().run(500 * ReplicationWorld.MS);
    for (final MemberGates.Member gate : gates) {
      assertFalse(new MemberGates(epoch, List.of(gate)).areOpen());
    }
  }

  @Test
  void transferThatGetsNowhereBeginsAnew() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    world.startClients(4, 500_000);
    world.time().run(300 * ReplicationWorld.MS);
    world.leader().store().stall(true);
    world.crash(3, true, 100);
    world.time().run(4_000 * ReplicationWorld.MS);
    world.leader().store().stall(false); // the snapshot that has begun stays as it is
    world.stopClients();
    world.time().run(20_000 * ReplicationWorld.MS);
    assertEquals(3, world.coordinator().group(world.group()).getEstablished().getMembersCount());
    world.settle();
  }

  /** Its leader leads another group, and reaches the node over the same connection. */
  @Test
  void aGroupThatANodeCannotJoinLeavesTheOtherGroupsOfTheNodeAlone() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    for (int i = 0; i < 3; i++) {
      world.addGroup();
    }
    world.startClients(2, 50_000_000);
    world.time().run(300 * ReplicationWorld.MS);
    world.leader().store().oversize(true);
    world.crash(3, true, 100);
    world.time().run(8_000 * ReplicationWorld.MS);
    final List<Configuration> before = others(world);
    before.forEach(other -> assertEquals(3, other.getMembersCount(), world::describe));
    assertTrue(before.stream().anyMatch(other -> other.getLeader() == 1), before::toString);
    world.time().run(112_000 * ReplicationWorld.MS);
    assertEquals(before, others(world));
    assertEquals(2, world.coordinator().group(world.group()).getEstablished().getMembersCount());
    assertTrue(coverage.of("messages that are too long") > 0);
    final long failed = world.leader().replica().status().counts().failedJoins();
    assertTrue(failed >= 4 && failed <= 8, "failed=" + failed); // pauses grow
    world.leader().store().oversize(false);
    world.time().run(60_000 * ReplicationWorld.MS);
    assertEquals(3, world.coordinator().group(world.group()).getEstablished().getMembersCount());
    world.settle();
  }

  private static List<Configuration> others(ReplicationWorld world) {
    return world.groups().stream()
        .filter(group -> group != world.group())
        .map(group -> world.coordinator().group(group).getEstablished())
        .toList();
  }

  @Test
  void nodeThatRestartsAsItJoinsJoinsInTheSameEpoch() {
    final Random seeds = new Random(SEED);
    for (int i = 0; i < 6; i++) { // leaders with much of the log, and with little
      restartAsItJoins(new ReplicationWorld(seeds.nextLong(), 3, 3, coverage, true));
    }
  }

  private void restartAsItJoins(ReplicationWorld world) {
    world.startClients(4, 500_000);
    world.time().run(300 * ReplicationWorld.MS);
    world.crash(3, true, 700); // it is taken out, and its directory comes back
    for (int i = 0; i < 100_000 && !isJoining(world); i++) {
      world.time().run(ReplicationWorld.MS / 20);
    }
    assertTrue(isJoining(world), world::describe);
    world.leader().session().connect(false); // no epoch begins that has it
    world.time().run(200 * ReplicationWorld.MS);
    assertTrue(isJoining(world), world::describe);
    final long gate = world.nodes().get(3L).replica().status().gate();
    world.crash(3, true, 0);
    world.time().run(5 * ReplicationWorld.MS);
    world.leader().session().connect(true);
    assertEquals(gate, world.coordinator().group(world.group()).getEstablished().getEpoch());
    world.time().run(8_000 * ReplicationWorld.MS);
    assertEquals(3, world.coordinator().group(world.group()).getEstablished().getMembersCount());
    assertEquals(0, coverage.of("fail-overs"));
    world.settle();
  }

  private static boolean isJoining(ReplicationWorld world) {
    final Replica replica = world.nodes().get(3L).replica();
    return replica != null && replica.status().state() == ReplicaState.JOINING;
  }

  @Test
  void deadCoordinatorStopsNothingButChanges() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    world.time().run(300 * ReplicationWorld.MS);
    world.nodes().values().forEach(node -> node.session().connect(false));
    world.startClients(4, 500_000);
    world.time().run(1_000 * ReplicationWorld.MS);
    assertTrue(coverage.of("answered calls") > 20, coverage::toString);
    world.crash(3, true, -1);
    world.time().run(2_000 * ReplicationWorld.MS);
    assertEquals(1, coverage.of("shrunk or equal") + coverage.of("grown"));
    world.settle();
  }

  @Test
  void droppedGroupEndsItsReplicas() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    world.time().run(300 * ReplicationWorld.MS);
    final Replica leading = world.leader().replica();
    world.coordinator().drop(world.group());
    world.time().run(500 * ReplicationWorld.MS);
    assertEquals(ReplicaState.STOPPED, leading.status().state());
    world.nodes().values().forEach(node -> assertNull(node.replica()));
    world.checkErrors();
  }

  @Test
  void clientsRecordsAreCommittedAndTold() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    world.network().memory().none(); // records that are placed are committed at once
    world.time().run(300 * ReplicationWorld.MS);
    final List<Boolean> ended = new ArrayList<>();
    final SimulatedStore store = world.leader().store();
    assertTrue(store.log().append(RecordDescriptor.OPEN_CLIENT, 5, 1, ended::add));
    assertEquals(List.of(), ended);
    world.time().run(300 * ReplicationWorld.MS);
    assertEquals(List.of(true), ended);
    world.network().cut(1, 2);
    assertTrue(store.log().append(RecordDescriptor.OPEN_CLIENT, 6, 1, ended::add));
    world.crash(3, true, -1);
    world.leader().replica().close();
    assertEquals(List.of(true, false), ended);
    assertFalse(store.log().append(RecordDescriptor.OPEN_CLIENT, 7, 1, ended::add));
    world.time().run(3_000 * ReplicationWorld.MS);
    assertEquals(2, world.leader().id());
    assertTrue(world.leader().store().hasClient(5));
  }

  @Test
  void leaderThatIsCutOffConfirmsNothing() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    world.startClients(4, 500_000);
    world.time().run(300 * ReplicationWorld.MS);
    final SimulatedNode old = world.leader();
    for (long id = 2; id <= 3; id++) {
      world.network().cut(1, id);
      world.network().cut(id, 1);
    }
    old.session().connect(false);
    world.time().run(2_000 * ReplicationWorld.MS);
    assertNotEquals(1, world.leader().id());
    assertTrue(old.store().isLeading());
    final List<Boolean> answers = new ArrayList<>();
    for (int i = 0; i < 2; i++) { // the second one waits for a question of its own
      old.replica()
          .confirm(
              new Confirmation() {
                @Override
                public void onConfirmed(boolean leads) {
                  answers.add(leads);
                }
              });
    }
    world.time().run(200 * ReplicationWorld.MS);
    assertFalse(answers.contains(true)); // memory that is not cut off tells it that it lost
    world.settle();
    assertEquals(List.of(false, false), answers);
  }

  @Test
  void barriersAreRefusedWhereNoEpochIsEstablishedForLong() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    world.network().memory().none(); // the gate of a process that was killed can be read
    world.time().run(300 * ReplicationWorld.MS);
    world.nodes().values().forEach(node -> node.session().connect(false));
    world.crash(3, true, -1); // nobody can take it out of the group
    final List<Boolean> answers = new ArrayList<>();
    for (int i = 0; i < 2; i++) { // the second one waits for a question of its own
      world
          .leader()
          .replica()
          .confirm(
              new Confirmation() {
                @Override
                public void onConfirmed(boolean leads) {
                  answers.add(leads);
                }
              });
    }
    world.time().run(500 * ReplicationWorld.MS);
    assertEquals(List.of(), answers);
    world.time().run(1_000 * ReplicationWorld.MS);
    assertEquals(List.of(false, false), answers);
    world.settle();
  }

  private static boolean isMember(ReplicationWorld world, long node) {
    return Configurations.hasNode(world.coordinator().group(world.group()).getEstablished(), node);
  }

  @Test
  void aMemberWhoseDiskIsFullIsTakenOut() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage, true);
    world.startClients(2, 500_000); // two records fill no log
    world.time().run(300 * ReplicationWorld.MS);
    world.nodes().get(3L).directory().isFull = true;
    final long before = coverage.of("answered calls");
    world.time().run(6_000 * ReplicationWorld.MS);
    assertFalse(isMember(world, 3), world::describe);
    assertTrue(coverage.of("answered calls") > before + 20, coverage::toString);
    world.nodes().get(3L).directory().isFull = false;
    world.settle();
  }

  /** Whether the seeds are those of each build. */
  private static boolean isFixed() {
    return Long.getLong("ringfetch.seed") == null;
  }

  private static void fill(ReplicationWorld world, long node) {
    world.nodes().get(node).directory().isFull = true;
    world.nodes().get(node).directory().isShort = true;
  }

  @Test
  void aMemberWhoseDiskSaysThatItIsFullIsTakenOutWithinADeadline() {
    final Random seeds = new Random(SEED);
    for (int i = 0; i < 10; i++) {
      final ReplicationWorld world = diskWorld(seeds);
      fill(world, 3);
      final long before = coverage.of("answered calls");
      world.time().run(1_000 * ReplicationWorld.MS);
      assertFalse(isMember(world, 3), world::describe);
      assertTrue(coverage.of("answered calls") > before + 20, coverage::toString);
      world.settle();
    }
  }

  @Test
  void aMemberWhoseDiskSaysThatItIsFullStaysAsLongAsItLacksNothing() {
    final Random seeds = new Random(SEED);
    for (int i = 0; i < 10; i++) {
      final ReplicationWorld world = diskWorld(seeds);
      world.stopClients();
      world.time().run(1_000 * ReplicationWorld.MS);
      fill(world, 3);
      for (int pause = 0; pause < 10; pause++) { // shorter than a node time-out
        world.pause(3, 180);
        world.time().run(300 * ReplicationWorld.MS);
        assertTrue(isMember(world, 3), world::describe);
      }
      world.settle();
    }
  }

  @Test
  void aLeaderWhoseDiskSaysThatItIsFullHandsOverWithinADeadlineToOneThatIsNot() {
    final Random seeds = new Random(SEED);
    for (int i = 0; i < 20; i++) {
      final ReplicationWorld world = diskWorld(seeds);
      final boolean isNextShort = i % 2 == 0;
      fill(world, 1);
      world.nodes().get(2L).directory().isShort = isNextShort; // and takes records all the same
      final long wins = coverage.of("wins");
      final long before = coverage.of("answered calls");
      world.time().run(1_000 * ReplicationWorld.MS);
      assertFalse(isMember(world, 1), world::describe);
      assertTrue(coverage.of("answered calls") > before + 20, coverage::toString);
      if (isNextShort && isFixed()) { // else the next leader may not be reached
        assertEquals(3, world.leader().id(), world::describe);
        assertEquals(wins + 1, coverage.of("wins"), world::describe);
      }
      world.settle();
    }
  }

  @Test
  void whileTheDirectoryOfANodeExceedsItsQuotaOnlyWritesThatAddEntriesAreRefused() {
    final Random seeds = new Random(SEED);
    for (int i = 0; i < 10; i++) {
      final ReplicationWorld world = diskWorld(seeds);
      final SimulatedDirectory directory = world.nodes().get(1L + i % 3).directory();
      directory.isOverQuota = true;
      world.time().run(300 * ReplicationWorld.MS);
      final long puts = coverage.of("PUT refused by a quota");
      final long before = coverage.of("answered calls");
      world.time().run(1_000 * ReplicationWorld.MS);
      assertTrue(coverage.of("PUT refused by a quota") > puts + 20, coverage::toString);
      assertEquals(0, coverage.of("DELETE refused by a quota"));
      assertTrue(coverage.of("answered calls") > before + 20, coverage::toString);
      assertEquals(1, world.leader().id());
      assertTrue(isMember(world, 2) && isMember(world, 3), world::describe);
      world.stopClients();
      world.time().run(5_000 * ReplicationWorld.MS); // idle
      directory.isOverQuota = false;
      world.time().run(1_000 * ReplicationWorld.MS);
      final long refused = coverage.of("PUT refused by a quota");
      world.startClients(4, 500_000);
      world.time().run(300 * ReplicationWorld.MS);
      assertEquals(refused, coverage.of("PUT refused by a quota"), "node=" + (1 + i % 3));
      world.settle();
    }
  }

  @Test
  void whereAllDisksSayThatTheyAreFullNobodyIsTakenOut() {
    whereNoDiskTakesAnythingNobodyIsTakenOut(true);
  }

  @Test
  void whereNoDiskTakesAnythingNobodyIsTakenOut() {
    whereNoDiskTakesAnythingNobodyIsTakenOut(false);
  }

  private void whereNoDiskTakesAnythingNobodyIsTakenOut(boolean says) {
    final Random seeds = new Random(SEED);
    for (int i = 0; i < 50; i++) { // disks that stand still at different records
      final ReplicationWorld world = diskWorld(seeds);
      final long wins = coverage.of("wins");
      for (final SimulatedNode node : world.nodes().values()) {
        node.directory().isFull = true;
        node.directory().isShort = says;
      }
      world.time().run(6_000 * ReplicationWorld.MS);
      assertEquals(wins, coverage.of("wins"), world::describe);
      world.nodes().values().forEach(node -> node.directory().isFull = false);
      world.settle();
    }
  }

  /**
   * A world of disks with clients whose records do not fill the log, and that the first node leads.
   */
  private ReplicationWorld diskWorld(Random seeds) {
    while (true) {
      final ReplicationWorld world = new ReplicationWorld(seeds.nextLong(), 3, 3, coverage, true);
      if (world.logLimit() != 400) {
        world.startClients(2, 500_000);
        world.time().run(300 * ReplicationWorld.MS);
        if (world.leader() != null && world.leader().id() == 1 && isMember(world, 2)) {
          return world;
        }
      }
    }
  }

  @Test
  void aLeaderWhoseDiskIsFullDoesNotTakeBackWhatItHandedOver() {
    final Random seeds = new Random(SEED);
    for (int i = 0; i < 10; i++) {
      final ReplicationWorld world = diskWorld(seeds);
      final long wins = coverage.of("wins");
      for (final SimulatedNode node : world.nodes().values()) {
        node.directory().syncNs = 700 * ReplicationWorld.MS;
      }
      world.nodes().get(1L).directory().isFull = true;
      world.time().run(20_000 * ReplicationWorld.MS);
      assertTrue(coverage.of("wins") - wins <= 2, world::describe);
      assertFalse(isMember(world, 1), world::describe);
      for (final SimulatedNode node : world.nodes().values()) {
        node.directory().syncNs = 100_000;
      }
      world.settle();
    }
  }

  @Test
  void aMemberLeadsWhereTheOneThatShouldDoesNotKnow() {
    final Random seeds = new Random(SEED);
    for (int i = 0; i < 10; i++) {
      final ReplicationWorld world = diskWorld(seeds);
      world.nodes().get(2L).session().connect(false);
      world.nodes().get(1L).directory().isFull = true;
      world.time().run(8_000 * ReplicationWorld.MS);
      assertEquals(3, world.leader().id(), world::describe);
      assertFalse(isMember(world, 1), world::describe);
      world.settle();
    }
  }

  @Test
  void aLeaderWhoseDiskIsFullHandsOver() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage, true);
    world.startClients(2, 500_000);
    world.time().run(300 * ReplicationWorld.MS);
    world.nodes().get(1L).directory().isFull = true;
    final long before = coverage.of("answered calls");
    world.time().run(8_000 * ReplicationWorld.MS);
    assertFalse(isMember(world, 1), world::describe);
    assertTrue(coverage.of("answered calls") > before + 20, coverage::toString);
    world.nodes().get(1L).directory().isFull = false;
    world.settle();
  }

  @Test
  void aNodeWhoseSessionHasEndedIsNotHandedTheGroup() {
    final ReplicationWorld world = diskWorld(new Random(SEED));
    world.coordinator().end(world.nodes().get(2L).session(), 0);
    world.time().run(3_000 * ReplicationWorld.MS);
    final long wins = coverage.of("wins");
    world.nodes().get(1L).directory().isFull = true;
    world.time().run(8_000 * ReplicationWorld.MS);
    assertEquals(3, world.leader().id(), world::describe);
    if (isFixed()) { // else the next leader may change its members
      assertEquals(wins + 1, coverage.of("wins"), world::describe);
    }
    world.checkErrors();
  }

  /** As after a cold start, when the log of the leader is empty. */
  @Test
  void aMemberThatWasTakenOutComesBackWithItsLog() {
    final Random seeds = new Random(SEED);
    for (int i = 0; i < 10; i++) {
      final ReplicationWorld world = diskWorld(seeds);
      world.stopClients();
      world.time().run(2_000 * ReplicationWorld.MS);
      if (i % 2 == 0) {
        for (long id = 1; id <= 3; id++) {
          world.crash(id, true, 10);
        }
        world.time().run(6_000 * ReplicationWorld.MS);
      }
      final SimulatedNode leader = world.leader();
      final long resumed = coverage.of("resumed logs");
      final long other = leader.id() % 3 + 1;
      world.pause(other, LONGEST_SILENCE_MS + 200);
      world.time().run((LONGEST_SILENCE_MS + 100) * ReplicationWorld.MS);
      assertFalse(isMember(world, other), world::describe);
      world.time().run(5_000 * ReplicationWorld.MS);
      assertTrue(isMember(world, other), world::describe);
      assertTrue(coverage.of("resumed logs") > resumed, world::describe);
      assertEquals(0, leader.replica().status().counts().pieces());
      world.settle();
    }
  }

  @Test
  void aMemberThatDoesNotStayIsLeftAloneLongerEachTime() {
    final Random seeds = new Random(SEED);
    ReplicationWorld world;
    do { // a log that is full soon
      world = new ReplicationWorld(seeds.nextLong(), 3, 3, coverage, true);
    } while (world.logLimit() != 400);
    world.startClients(8, 500_000);
    world.time().run(300 * ReplicationWorld.MS);
    final SimulatedDirectory directory = world.nodes().get(3L).directory();
    final long before = coverage.of("grown");
    for (int i = 0; i < 4_000; i++) { // its disk fills up as soon as it has joined
      directory.isFull = isMember(world, 3);
      world.time().run(10 * ReplicationWorld.MS);
    }
    final long joins = coverage.of("grown") - before;
    assertTrue(joins >= 3 && joins <= 8, "joins=" + joins);
    directory.isFull = false;
    world.settle();
  }

  @Test
  void idleGroupKeepsItsLeader() {
    final ReplicationWorld world = new ReplicationWorld(SEED, 3, 3, coverage);
    world.time().run(5_000 * ReplicationWorld.MS);
    assertEquals(1, world.leader().id());
    assertEquals(1, coverage.of("grown") + coverage.of("shrunk or equal"));
    world.settle();
  }
}
