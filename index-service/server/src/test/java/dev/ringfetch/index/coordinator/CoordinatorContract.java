package dev.ringfetch.index.coordinator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.coordinator.Party.Answered;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What each coordinator must do. */
public abstract class CoordinatorContract {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);

  private final Random random = new Random(SEED);
  private final List<Party> parties = new ArrayList<>();
  private final Queue<Long> ids = new ArrayDeque<>();
  private Party a;
  private Party b;

  /**
   * Connects another node to the cluster of the test.
   *
   * @param ids source of random numbers for ids, which comes up with each of them three times
   */
  protected abstract Coordinator connect(LongSupplier ids) throws Exception;

  /** Connects two. */
  @BeforeEach
  final void connectTwo() throws Exception {
    a = party();
    b = party();
  }

  /** Closes all. */
  @AfterEach
  final void close() {
    parties.forEach(party -> party.coordinator().close());
  }

  /** Another node, connected. */
  protected final Party party() throws Exception {
    final Party party = unawaited();
    party.awaitConnected();
    return party;
  }

  private Party unawaited() throws Exception {
    final Party party = new Party(connect(this::drawId), random);
    parties.add(party);
    return party;
  }

  private long drawId() {
    if (ids.isEmpty()) {
      ids.addAll(Collections.nCopies(3, random.nextLong()));
    }
    return ids.remove();
  }

  @Test
  void createdGroupIsWonAndSeenByAll() throws Exception {
    final GroupState created = a.await(Result.DONE, a.create("one", 1));
    assertTrue(created.getGroup() > 0);
    assertEquals("one", created.getIndex());
    assertEquals("definition of one", created.getDefinition().toStringUtf8());
    assertEquals(3, created.getReplicas());
    assertEquals(1, created.getWon().getLeader());
    assertTrue(created.getWon().getEpoch() > 0);
    assertFalse(created.hasEstablished());
    assertEquals(created, b.awaitGroup(created.getGroup(), created.getVersion()));
    assertEquals(created, a.awaitGroup(created.getGroup(), created.getVersion()));
  }

  @Test
  void whatWasChangedBeforeASyncIsDeliveredBeforeItsAnswer() throws Exception {
    for (int i = 0; i < 20; i++) {
      final GroupState created = a.await(Result.DONE, a.create("index" + i, 1));
      b.await(Result.DONE, b.sync());
      assertTrue(b.groups().containsKey(created.getGroup()), "i=" + i);
    }
  }

  /** From then on there is an index, as whoever created it was told. */
  @Test
  void whatWasEstablishedBeforeASyncIsDeliveredBeforeItsAnswer() throws Exception {
    for (int i = 0; i < 100; i++) {
      final GroupState created = a.await(Result.DONE, a.create("index" + i, 1));
      b.awaitGroup(created.getGroup(), created.getVersion());
      a.await(Result.DONE, a.establish(created));
      b.await(Result.DONE, b.sync());
      assertTrue(b.groups().get(created.getGroup()).hasEstablished(), "i=" + i);
    }
  }

  @Test
  void nameOfAnIndexIsTakenOnce() throws Exception {
    final GroupState created = a.await(Result.DONE, a.create("index/with: signs%_-.é", 1));
    assertEquals(created, b.await(Result.CONFLICT, b.create("index/with: signs%_-.é", 2)));
    assertNotEquals(
        created.getGroup(), b.await(Result.DONE, b.create("index/with: signs%_-.e", 2)).getGroup());
  }

  @Test
  void oneOfManyCreationsOfANameWins() throws Exception {
    final List<Answered> answers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      answers.add((i % 2 == 0 ? a : b).create("name", 1 + i % 2));
    }
    for (int i = 0; i < 10; i++) {
      final Answered answer = answers.get(i);
      (i % 2 == 0 ? a : b).await("an answer", answer::isThere);
    }
    assertEquals(1, answers.stream().filter(each -> each.result() == Result.DONE).count());
    assertEquals(9, answers.stream().filter(each -> each.result() == Result.CONFLICT).count());
    assertEquals(1, answers.stream().map(each -> each.state().getGroup()).distinct().count());
  }

  @Test
  void idsAreNotUsedAgain() throws Exception {
    final Set<Long> ids = new HashSet<>();
    long epoch = 0;
    for (int i = 0; i < 5; i++) {
      final Party party = i % 2 == 0 ? a : b;
      final GroupState created = party.await(Result.DONE, party.create("again", 1));
      assertTrue(ids.add(created.getGroup()), () -> "again: " + ids);
      assertTrue(created.getWon().getEpoch() > epoch);
      epoch = created.getWon().getEpoch();
      assertNull(party.await(Result.DONE, party.drop(created)));
      party.await("dropped", () -> party.groups().isEmpty());
    }
    a.await("dropped", () -> a.groups().isEmpty());
    b.await("dropped", () -> b.groups().isEmpty());
  }

  @Test
  void groupsAtOnceHaveDifferentIds() throws Exception {
    final List<Answered> answers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      answers.add((i % 2 == 0 ? a : b).create("group" + i, 1));
    }
    for (int i = 0; i < 10; i++) {
      (i % 2 == 0 ? a : b).await(Result.DONE, answers.get(i));
    }
    assertEquals(10, answers.stream().map(each -> each.state().getGroup()).distinct().count());
    a.await("all groups", () -> a.groups().size() == 10);
    b.await("all groups", () -> b.groups().size() == 10);
    assertEquals(a.groups(), b.groups());
    assertEquals(a.groups(), party().groups());
  }

  @Test
  void oneOfTwoWins() throws Exception {
    final GroupState seen = established("contested");
    final GroupState same = b.awaitGroup(seen.getGroup(), seen.getVersion());
    final Answered mine = a.win(seen, 1);
    final Answered others = b.win(same, 2);
    a.await("an answer", mine::isThere);
    b.await("an answer", others::isThere);
    assertEquals(Set.of(Result.DONE, Result.CONFLICT), Set.of(mine.result(), others.result()));
    assertEquals(mine.state(), others.state());
    assertEquals(seen.getEstablished(), mine.state().getEstablished());
    assertEquals(mine.result() == Result.DONE ? 1 : 2, mine.state().getWon().getLeader());
    assertTrue(mine.state().getWon().getEpoch() > seen.getEstablished().getEpoch());
  }

  @Test
  void wonConfigurationIsReplacedAndNotEstablishedThen() throws Exception {
    final GroupState seen = established("replaced");
    final GroupState won = a.await(Result.DONE, a.win(seen, 1));
    b.awaitGroup(won.getGroup(), won.getVersion());
    final GroupState replaced = b.await(Result.DONE, b.win(won, 2));
    assertTrue(replaced.getWon().getEpoch() > won.getWon().getEpoch());
    assertEquals(seen.getEstablished(), replaced.getEstablished());

    assertEquals(replaced, a.await(Result.CONFLICT, a.establish(won)));
    final GroupState serving = b.await(Result.DONE, b.establish(replaced));
    assertEquals(replaced.getWon(), serving.getEstablished());
    assertFalse(serving.hasWon());
    assertEquals(serving, a.await(Result.CONFLICT, a.establish(won)));
    assertEquals(serving, a.await(Result.CONFLICT, a.win(won, 1)));
    assertEquals(serving, a.await(Result.CONFLICT, a.drop(won)));
    assertEquals(serving, a.awaitGroup(serving.getGroup(), serving.getVersion()));
  }

  @Test
  void requestThatIsRepeatedIsFoundByItsNonce() throws Exception {
    final GroupState seen = established("repeated");
    final Configuration proposed = a.configuration(1);
    final GroupState won = a.await(Result.DONE, a.win(seen, proposed));
    assertEquals(won, a.await(Result.DONE, a.win(seen, proposed)));
    final GroupState serving = a.await(Result.DONE, a.establish(won));
    assertEquals(serving, a.await(Result.DONE, a.establish(won)));
  }

  @Test
  void epochsOnlyGrow() throws Exception {
    GroupState state = established("growing");
    final long group = state.getGroup();
    for (int i = 0; i < 20; i++) {
      final Party party = random.nextBoolean() ? a : b;
      state = party.awaitGroup(group, state.getVersion());
      final long before =
          state.hasWon() ? state.getWon().getEpoch() : state.getEstablished().getEpoch();
      if (state.hasWon() && random.nextBoolean()) {
        state = party.await(Result.DONE, party.establish(state));
        assertEquals(before, state.getEstablished().getEpoch());
      } else {
        state = party.await(Result.DONE, party.win(state, 1));
        assertTrue(state.getWon().getEpoch() > before);
      }
    }
    assertEquals(state, a.awaitGroup(group, state.getVersion()));
    assertEquals(state, b.awaitGroup(group, state.getVersion()));
  }

  @Test
  void droppedGroupIsNoLongerChanged() throws Exception {
    final GroupState seen = established("dropped");
    b.awaitGroup(seen.getGroup(), seen.getVersion());
    assertNull(a.await(Result.DONE, a.drop(seen)));
    assertNull(b.await(Result.CONFLICT, b.win(seen, 2)));
    assertNull(b.await(Result.CONFLICT, b.drop(seen)));
    b.await("dropped", () -> b.groups().isEmpty());
    assertEquals(Map.of(), party().groups());
  }

  @Test
  void droppedGroupsAreToldToThoseThatNeverKnewThem() throws Exception {
    final GroupState one = a.await(Result.DONE, a.create("one", 1));
    final GroupState two = established("two");
    final GroupState left = established("left");
    b.awaitGroup(left.getGroup(), left.getVersion());
    final Answered first = a.drop(one);
    final Answered second = b.drop(two); // at once
    assertNull(a.await(Result.DONE, first));
    assertNull(b.await(Result.DONE, second));
    final Set<Long> both = Set.of(one.getGroup(), two.getGroup());
    a.await("both", () -> Set.copyOf(a.droppedLast()).equals(both));
    b.await("both", () -> b.droppedLast().equals(a.droppedLast()));
    final Party late = party();
    assertEquals(Map.of(left.getGroup(), left), late.groups());
    assertEquals(a.droppedLast(), late.droppedLast());

    final GroupState again = a.await(Result.DONE, a.create("one", 1));
    assertNull(a.await(Result.DONE, a.drop(again)));
    late.await("three", () -> late.droppedLast().size() == 3);
    assertEquals(again.getGroup(), late.droppedLast().get(2), "the newest one");
  }

  @Test
  void aGroupWithoutItsMembersIsRecovered() throws Exception {
    final GroupState seen = established("lost");
    final GroupState won = a.await(Result.DONE, a.win(seen, 1));
    b.awaitGroup(won.getGroup(), won.getVersion());
    final GroupState recovered = Recoveries.recovered(won, 2, 0, 77, 88);
    assertEquals(won, b.await(Result.CONFLICT, b.recover(seen, recovered)));
    final GroupState now = b.await(Result.DONE, b.recover(won, recovered));
    final long epoch = now.getEstablished().getEpoch();
    assertTrue(epoch > won.getWon().getEpoch(), "an epoch that no process has won");
    final GroupState.Builder expected = recovered.toBuilder().setVersion(now.getVersion());
    expected.getEstablishedBuilder().setEpoch(epoch);
    assertEquals(expected.build(), now);
    assertEquals(now, b.await(Result.DONE, b.recover(won, recovered)), "found by its nonce");
    assertEquals(now, a.await(Result.CONFLICT, a.establish(won)));
    assertEquals(now, a.awaitGroup(now.getGroup(), now.getVersion()));
    final GroupState next = b.await(Result.DONE, b.win(now, 2));
    assertEquals(now.getRecovery(), next.getRecovery());
    assertEquals(now.getEstablished(), next.getEstablished(), "its epoch is kept");
    assertTrue(next.getWon().getEpoch() > epoch);
    assertEquals(now.getRecovery(), b.await(Result.DONE, b.establish(next)).getRecovery());
  }

  @Test
  void aGroupTakesThePlaceOfAnother() throws Exception {
    final GroupState seen = established("empty");
    final GroupState won = a.await(Result.DONE, a.win(seen, 1));
    b.awaitGroup(won.getGroup(), won.getVersion());
    assertEquals(won, b.await(Result.CONFLICT, b.replace(seen, 2)), "another state was seen");
    final GroupState next = b.await(Result.DONE, b.replace(won, 2));
    assertNotEquals(won.getGroup(), next.getGroup());
    assertTrue(next.getWon().getEpoch() > won.getWon().getEpoch());
    assertEquals(next, a.awaitGroup(next.getGroup(), 0));
    a.await("the drop", () -> a.groups().size() == 1);
    b.await("the dropped group", () -> b.droppedLast().equals(List.of(won.getGroup())));
    a.await(Result.CONFLICT, a.establish(won));
    a.await(Result.CONFLICT, a.replace(won, 1));
    assertEquals(next, a.await(Result.CONFLICT, a.create("empty", 1)), "the name is the new one's");
    assertNull(a.await(Result.DONE, a.drop(next)));
    assertEquals(
        "empty", a.await(Result.DONE, a.create("empty", 1)).getIndex(), "and it was free then");
  }

  @Test
  void theGroupsOfADirectoryAreAdoptedOnce() throws Exception {
    final GroupState there = established("there");
    final DirectoryGroups directory = a.directory(5, 1_000, "one", "two/with: signs%_-.é");
    assertNull(a.await(Result.DONE, a.adopt(directory)));
    for (final GroupState group : directory.groups()) {
      assertEquals(group, a.awaitGroup(group.getGroup(), 0));
      assertEquals(group, b.awaitGroup(group.getGroup(), 0));
    }
    b.awaitGroup(there.getGroup(), there.getVersion());
    assertNull(a.await(Result.DONE, a.adopt(directory)), "the same again");
    assertNull(b.await(Result.DONE, b.adopt(directory)), "the same again");
    assertEquals(3, b.groups().size());
    assertEquals(a.coordinator().cluster(), b.coordinator().cluster());

    final GroupState one = b.groups().get(directory.groups().get(0).getGroup());
    final GroupState won = b.await(Result.DONE, b.win(one, 5));
    assertTrue(won.getWon().getEpoch() > 1_000, "" + won);
    assertEquals(won, a.await(Result.CONFLICT, a.create("one", 1)));
    assertNull(b.await(Result.DONE, b.drop(won)));
    b.await(Result.DONE, b.create("one", 1));
  }

  @Test
  void aDirectoryIsAdoptedAsAWholeOrNotAtAll() throws Exception {
    final GroupState there = established("two");
    final DirectoryGroups directory = b.directory(5, 10, "one", "two", "three");
    final String obstacle = b.await(Result.CONFLICT, b.adopt(directory));
    assertTrue(obstacle.endsWith(": drop one of the two: index=two"), obstacle);
    assertEquals(Set.of(there.getGroup()), party().groups().keySet());
    b.await(Result.DONE, b.create("one", 1));
    assertNull(b.await(Result.DONE, b.giveUp(directory)));
    assertNull(a.await(Result.DONE, a.adopt(a.directory(5, 10, "three"))), "another move");
    a.await("all", () -> a.groups().size() == 3);
  }

  @Test
  void anotherDirectoryOfOneNumberIsNotAdopted() throws Exception {
    assertNull(a.await(Result.DONE, a.adopt(a.directory(0xabc, 10, "one"))));
    final DirectoryGroups copy = b.directory(0xabc, 10, "two");
    final String obstacle = b.await(Result.CONFLICT, b.adopt(copy));
    assertTrue(obstacle.contains("or a copy of it, before: node=0000000000000abc"), obstacle);
    assertNull(b.await(Result.DONE, b.giveUp(copy)));
    assertTrue(b.await(Result.CONFLICT, b.adopt(copy)).contains("before: node="));
    assertEquals(1, party().groups().size());
  }

  @Test
  void anAdoptionIsCarriedOutOrGivenUp() throws Exception {
    final DirectoryGroups first = a.directory(5, 10, "one");
    assertNull(a.await(Result.DONE, a.giveUp(first)));
    assertNull(a.await(Result.DONE, a.giveUp(first)), "the same again");
    assertEquals(Map.of(), party().groups());
    final DirectoryGroups second = a.directory(5, 10, "one");
    assertNull(a.await(Result.DONE, a.adopt(second)));
    assertNull(a.await(Result.CONFLICT, a.giveUp(second)), "it was carried out");
    assertNull(b.await(Result.DONE, b.giveUp(first)));
    assertNull(b.await(Result.DONE, b.adopt(second)));
    assertEquals(1, party().groups().size());
  }

  @Test
  void whatWasNotDroppedIsNotTold() throws Exception {
    final GroupState seen = established("kept");
    b.awaitGroup(seen.getGroup(), seen.getVersion());
    final GroupState won = a.await(Result.DONE, a.win(seen, 1));
    assertEquals(won, b.await(Result.CONFLICT, b.drop(seen)));
    assertEquals(List.of(), party().droppedLast());
  }

  @Test
  void allNodesAreToldOneClusterBeforeAllElse() throws Exception {
    a.await(Result.DONE, a.create("known before", 1));
    final List<Long> clusters = new ArrayList<>();
    for (int id = 1; id <= 3; id++) {
      final Party party = unawaited();
      party
          .coordinator()
          .announce(
              node(id, 1),
              new Joining() {
                @Override
                public boolean onCluster(long cluster) {
                  assertEquals(Map.of(), party.groups());
                  assertEquals(Map.of(), party.nodes());
                  return clusters.add(cluster);
                }
              });
      party.awaitConnected();
      party.await("the group", () -> party.groups().size() == 1);
    }
    assertTrue(clusters.get(0) > 0);
    assertEquals(Collections.nCopies(3, clusters.get(0)), clusters, "each once");
  }

  @Test
  void aNodeOfAnotherClusterIsNeitherAnnouncedNorTold() throws Exception {
    final AtomicInteger refusals = new AtomicInteger();
    final Party stranger = unawaited();
    stranger
        .coordinator()
        .announce(
            node(1, 1),
            new Joining() {
              @Override
              public boolean onCluster(long cluster) {
                refusals.incrementAndGet();
                return false;
              }
            });
    stranger.await("a refusal", () -> refusals.get() == 1);
    final GroupState created = a.await(Result.DONE, a.create("later", 1));
    b.awaitGroup(created.getGroup(), created.getVersion());
    b.coordinator().announce(node(2, 1));
    b.await("itself", () -> b.nodes().containsKey(2L));
    stranger.await(Result.UNKNOWN, stranger.sync());
    assertFalse(stranger.isConnected());
    assertEquals(Map.of(), stranger.groups());
    assertEquals(Set.of(2L), b.nodes().keySet());
    assertEquals(1, refusals.get());
  }

  /** The admission of a process that no other one stands in the way of. */
  private abstract static class Joining implements Coordinator.Admission {
    @Override
    public void onTaken(Node other) {
      throw new AssertionError(other.toString());
    }
  }

  @Test
  void aNodeThatWithdrawsGoesOnWithAllElse() throws Exception {
    final Node one = node(1, 11);
    final Node two = node(2, 21);
    a.coordinator().announce(one);
    b.coordinator().announce(two);
    a.await("both", () -> a.nodes().equals(Map.of(1L, one, 2L, two)));
    b.await("both", () -> b.nodes().equals(Map.of(1L, one, 2L, two)));
    a.coordinator().withdraw();
    a.coordinator().withdraw(); // once more does nothing
    b.await("the other is gone", () -> b.nodes().equals(Map.of(2L, two)));
    a.await("itself is gone", () -> a.nodes().equals(Map.of(2L, two)));
    b.coordinator().close();
    a.await("all are gone", () -> a.nodes().isEmpty());
  }

  @Test
  void nodesComeAndGo() throws Exception {
    final Node one = node(1, 11);
    final Node two = node(2, 21);
    a.coordinator().announce(one);
    a.await("itself", () -> a.nodes().equals(Map.of(1L, one)));
    b.await("the other", () -> b.nodes().equals(Map.of(1L, one)));
    b.coordinator().announce(two);
    a.await("both", () -> a.nodes().equals(Map.of(1L, one, 2L, two)));
    b.coordinator().close();
    a.await("one is gone", () -> a.nodes().equals(Map.of(1L, one)));
    final Node again = node(2, 22);
    final Party c = party();
    c.coordinator().announce(again);
    a.await("the next process", () -> a.nodes().equals(Map.of(1L, one, 2L, again)));
    assertEquals(Map.of(1L, one, 2L, again), party().nodes());
  }

  @Test
  void nodeThatHasNotExpiredIsReplaced() throws Exception {
    a.coordinator().announce(node(1, 11));
    b.await("the first", () -> b.nodes().containsKey(1L));
    final Party next = party();
    final Node successor = node(1, 12);
    next.coordinator().announce(successor);
    b.await("the second", () -> successor.equals(b.nodes().get(1L)));
    a.await("the second", () -> successor.equals(a.nodes().get(1L)));
    a.coordinator().close();
    a = party();
    assertEquals(Map.of(1L, successor), a.nodes());
    next.poll();
    assertEquals(Map.of(1L, successor), next.nodes());
  }

  /** The second one runs on a copy of the first one's directory, and has counted as far. */
  @Test
  void aProcessElsewhereIsKeptOutWhileAnotherIsAnnounced() throws Exception {
    final Node first = node(1, 11);
    a.coordinator().announce(first);
    b.await("the first", () -> first.equals(b.nodes().get(1L)));
    for (final long incarnation : new long[] {11, 12}) {
      final Party copy = party();
      copy.coordinator()
          .announce(
              first.toBuilder().setIncarnation(incarnation).setAddress("host1:2").build(),
              other -> assertEquals(first, other));
      copy.await("kept out", () -> !copy.isConnected());
      final GroupState later = a.await(Result.DONE, a.create("of " + incarnation, 1));
      b.awaitGroup(later.getGroup(), later.getVersion());
      copy.poll();
      assertFalse(copy.groups().containsKey(later.getGroup()));
      assertEquals(first, b.nodes().get(1L));
      copy.coordinator().close();
    }
    final GroupState last = a.await(Result.DONE, a.create("last", 1));
    b.awaitGroup(last.getGroup(), last.getVersion());
    assertEquals(Map.of(1L, first), b.nodes());
  }

  @Test
  void malformedRequestsAreRefused() throws Exception {
    final GroupState seen = established("malformed");
    final Configuration proposed = a.configuration(1);
    assertThrows(
        IllegalArgumentException.class,
        () -> a.win(seen, proposed.toBuilder().clearNonce().build()));
    assertThrows(
        IllegalArgumentException.class,
        () -> a.win(seen, proposed.toBuilder().setEpoch(1).build()));
    assertThrows(IllegalArgumentException.class, () -> a.establish(seen));
    assertThrows(IllegalArgumentException.class, () -> a.create("", 1));
  }

  @Test
  void closedCoordinatorDeliversNothing() throws Exception {
    final Answered pending = a.create("pending", 1);
    a.coordinator().close();
    b.await(Result.DONE, b.create("other", 1));
    a.poll();
    assertFalse(pending.isThere());
    assertEquals(Map.of(), a.groups());
  }

  /** A group whose first configuration serves, as the first party sees it. */
  protected final GroupState established(String index) throws Exception {
    final GroupState won = a.await(Result.DONE, a.create(index, 1));
    final GroupState state = a.await(Result.DONE, a.establish(won));
    assertEquals(won.getWon(), state.getEstablished());
    assertFalse(state.hasWon());
    return state;
  }

  /** A node. */
  protected static Node node(long id, long incarnation) {
    return Node.newBuilder()
        .setId(id)
        .setIncarnation(incarnation)
        .setAddress("host" + id + ":1")
        .setBootId("boot")
        .build();
  }
}
