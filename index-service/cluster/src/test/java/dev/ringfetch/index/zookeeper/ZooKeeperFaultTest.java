package dev.ringfetch.index.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.coordinator.DirectoryGroups;
import dev.ringfetch.index.coordinator.Party;
import dev.ringfetch.index.coordinator.Party.AdoptionAnswered;
import dev.ringfetch.index.coordinator.Party.Answered;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The coordinator on ZooKeeper behind a connection that is lost. */
final class ZooKeeperFaultTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final Duration LONG = Duration.ofSeconds(15);
  private static final Duration SHORT = Duration.ofSeconds(1);
  private static final Node NODE =
      Node.newBuilder().setId(7).setIncarnation(1).setAddress("host:1").build();

  @TempDir private static Path directory;
  private static ZooKeeperProcess zooKeeper;
  private static int clusters;

  private final Random random = new Random(SEED);
  private final String cluster = "cluster" + ++clusters;
  private final List<Party> parties = new ArrayList<>();
  private TcpProxy proxy;
  private Party other;

  @BeforeAll
  static void start() throws Exception {
    zooKeeper = ZooKeeperProcess.start(directory, 0);
  }

  @AfterAll
  static void stop() {
    zooKeeper.close();
  }

  @BeforeEach
  void connectTheOther() throws Exception {
    proxy = new TcpProxy(zooKeeper.port());
    other = connect(zooKeeper.address(), LONG);
  }

  @AfterEach
  void close() throws Exception {
    proxy.resume();
    parties.forEach(party -> party.coordinator().close());
    proxy.close();
  }

  private Party connect(String address, Duration sessionTimeout) throws Exception {
    final Party party =
        new Party(
            new ZooKeeperCoordinator(
                new ZooKeeperAddress(address, cluster, sessionTimeout, ZooKeeperConfig.NONE)),
            random);
    parties.add(party);
    party.awaitConnected();
    return party;
  }

  private Party connectUnawaited(Duration sessionTimeout) {
    final Party party =
        new Party(
            new ZooKeeperCoordinator(
                new ZooKeeperAddress(
                    zooKeeper.address(), cluster, sessionTimeout, ZooKeeperConfig.NONE)),
            random);
    parties.add(party);
    return party;
  }

  /** A connection through the proxy, which knows the group. */
  private Party cuttable(GroupState known) throws Exception {
    final Party party = connect(proxy.address(), LONG);
    party.awaitGroup(known.getGroup(), known.getVersion());
    return party;
  }

  private GroupState established(String index) throws Exception {
    final GroupState won = other.await(Result.DONE, other.create(index, 1));
    return other.await(Result.DONE, other.establish(won));
  }

  private void cutAndResume() {
    proxy.cut();
    proxy.resume();
  }

  @Test
  void lostAnswersAreFoundByTheNonce() throws Exception {
    final GroupState served = established("served");
    final GroupState contested = established("contested");
    final GroupState first = other.await(Result.DONE, other.create("first", 1));
    final Party party = cuttable(first);

    proxy.holdAnswers();
    final Answered win = party.win(served, 1);
    final Answered establish = party.establish(first);
    final Answered replaced = party.win(contested, 1);
    final GroupState won = other.awaitGroup(served.getGroup(), served.getVersion() + 1);
    final GroupState serving = other.awaitGroup(first.getGroup(), first.getVersion() + 1);
    final GroupState others =
        other.await(
            Result.DONE,
            other.win(other.awaitGroup(contested.getGroup(), contested.getVersion() + 1), 2));
    cutAndResume();
    assertEquals(won, party.await(Result.DONE, win));
    assertEquals(serving, party.await(Result.DONE, establish));
    assertEquals(first.getWon(), serving.getEstablished());
    assertNull(party.await(Result.UNKNOWN, replaced), "it was done, and cannot be seen any more");
    assertEquals(others, party.awaitGroup(others.getGroup(), others.getVersion()));
  }

  @Test
  void lostAnswerOfADropIsFound() throws Exception {
    established("kept");
    final GroupState doomed = established("doomed");
    final Party party = cuttable(doomed);
    proxy.holdAnswersAfter(1); // that which says what was dropped before
    final Answered drop = party.drop(doomed);
    pollUntilThereAre(1, party);
    cutAndResume();
    assertNull(party.await(Result.DONE, drop));
    party.await("what was dropped", () -> !party.droppedLast().isEmpty());
    assertEquals(1, party.droppedLast().size(), "once");
    assertEquals(doomed.getGroup(), party.droppedLast().get(0));
  }

  @Test
  void lostAnswerOfACreationIsFoundByTheNonce() throws Exception {
    final Party party = cuttable(established("one"));
    proxy.holdAnswersAfter(2); // those to the reads before
    final Answered create = party.create("two", 1);
    pollUntilThereAre(2, party);
    cutAndResume();
    final GroupState created = party.await(Result.DONE, create);
    assertEquals(created, other.groups().get(created.getGroup()));
    party.awaitConnected();

    proxy.holdAnswersAfter(2);
    final Answered again = party.create("three", 1);
    pollUntilThereAre(3, party);
    final GroupState three =
        other.groups().values().stream()
            .filter(each -> each.getIndex().equals("three"))
            .findAny()
            .orElseThrow();
    other.await(Result.DONE, other.drop(three));
    cutAndResume();
    assertNull(party.await(Result.UNKNOWN, again));
    assertEquals(2, party.groups().size());
  }

  /** Polls both until the other one knows so many groups. */
  private void pollUntilThereAre(int groups, Party party) {
    final long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (other.groups().size() != groups) {
      assertTrue(System.nanoTime() < end, other::toString);
      party.poll();
      other.poll();
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  /**
   * The pieces have the answers to a read, to the write that raises zxids, and to the change, and
   * what the watch says of these.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4})
  void lostAnswersOfAnAdoptionAreFoundByTheNonce(int pieces) throws Exception {
    final Party party = cuttable(established("there"));
    final DirectoryGroups directory = party.directory(5, 1, "adopted");
    proxy.holdAnswersAfter(pieces);
    final AdoptionAnswered adopt = party.adopt(directory);
    for (int i = 0; i < 1_000 && other.groups().size() == 1; i++) { // what is held stays so
      party.poll();
      other.poll();
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
    cutAndResume();
    assertNull(party.await(Result.DONE, adopt));
    final GroupState group = directory.groups().get(0);
    assertEquals(group, other.awaitGroup(group.getGroup(), 0));
    assertNull(other.await(Result.CONFLICT, other.giveUp(directory)));
    assertEquals(2, other.groups().size());
  }

  @Test
  void lostRequestsAreSentAgain() throws Exception {
    final GroupState seen = established("won");
    final GroupState doomed = established("doomed");
    final GroupState overtaken = established("overtaken");
    final Party party = cuttable(overtaken);
    proxy.holdRequests();
    final Answered win = party.win(seen, 1);
    final Answered drop = party.drop(doomed);
    final Answered create = party.create("created", 1);
    final Answered late = party.win(overtaken, 1);
    final GroupState others = other.await(Result.DONE, other.win(overtaken, 2));
    cutAndResume();
    final GroupState won = party.await(Result.DONE, win);
    assertEquals(seen.getVersion() + 1, won.getVersion());
    assertEquals(won, other.awaitGroup(won.getGroup(), won.getVersion()));
    assertNull(party.await(Result.DONE, drop));
    assertEquals(others, party.await(Result.CONFLICT, late));
    final GroupState created = party.await(Result.DONE, create);
    assertEquals(created, other.awaitGroup(created.getGroup(), 0));
    other.await("dropped", () -> other.groups().size() == 3);
  }

  @Test
  void whatHappensMeanwhileIsToldAfterwards() throws Exception {
    final GroupState seen = established("kept");
    final GroupState doomed = established("doomed");
    final Party party = cuttable(doomed);
    party.coordinator().announce(NODE);
    other.await("the node", () -> other.nodes().containsKey(7L));
    proxy.cut();
    party.await("cut", () -> !party.isConnected());
    final Answered waiting = party.win(seen, 3);
    assertNull(other.await(Result.DONE, other.drop(doomed)));
    final GroupState fresh = other.await(Result.DONE, other.create("fresh", 1));
    other.coordinator().announce(NODE.toBuilder().setId(8).build());
    other.await("both", () -> other.nodes().size() == 2);
    party.poll();
    assertTrue(party.groups().containsKey(doomed.getGroup()));

    proxy.resume();
    party.awaitConnected();
    final GroupState won = party.await(Result.DONE, waiting);
    assertFalse(party.groups().containsKey(doomed.getGroup()));
    assertEquals(fresh, party.groups().get(fresh.getGroup()));
    assertEquals(2, party.nodes().size());
    assertEquals(won, party.awaitGroup(won.getGroup(), won.getVersion()));
    // And the watch is there again.
    final GroupState serving = other.await(Result.DONE, other.establish(fresh));
    assertEquals(serving, party.awaitGroup(fresh.getGroup(), serving.getVersion()));
  }

  @Test
  void portThatIsTakenIsNamed(@TempDir Path second) {
    final IOException e =
        assertThrows(IOException.class, () -> ZooKeeperProcess.start(second, zooKeeper.port()));
    assertTrue(e.getMessage().contains("Address already in use"), e.getMessage());
  }

  @Test
  void znodesOfOthersAreIgnored() throws Exception {
    final GroupState seen = established("ours");
    other.coordinator().announce(NODE);
    other.await("the node", () -> other.nodes().containsKey(7L));
    final String root = "/ringfetch/" + cluster;
    final byte[] rubbish = {-1, 2, 3};
    try (CuratorFramework client =
        CuratorFrameworkFactory.newClient(zooKeeper.address(), new RetryOneTime(100))) {
      client.start();
      for (final String path : List.of("/groups/x", "/groups/77", "/groups/01", "/nodes/5")) {
        client.create().forPath(root + path, rubbish);
      }
      client.create().forPath(root + "/groups/78", seen.toByteArray());
      client.create().forPath(root + "/groups/79", new byte[0]);
      client.create().forPath(root + "/nodes/6", NODE.toByteArray());
      client.create().forPath(root + "/nodes/zz", NODE.toByteArray());
      client.create().forPath("/ringfetch/" + cluster + "/groups/77/below", rubbish);
    }
    final GroupState won = other.await(Result.DONE, other.win(seen, 1));
    final Party fresh = connect(zooKeeper.address(), LONG);
    for (final Party party : List.of(other, fresh)) {
      party.awaitGroup(won.getGroup(), won.getVersion());
      assertEquals(Map.of(won.getGroup(), won), party.groups());
      assertEquals(Map.of(7L, NODE), party.nodes());
    }
  }

  @Test
  void aListOfGroupsThatIsGoneFailsEachLook() throws Exception {
    try (CuratorFramework client =
        CuratorFrameworkFactory.newClient(zooKeeper.address(), new RetryOneTime(100))) {
      client.start();
      client.delete().deletingChildrenIfNeeded().forPath("/ringfetch/" + cluster + "/groups");
    }
    other.await(Result.UNKNOWN, other.sync());
    other.await(Result.UNKNOWN, other.sync());
  }

  /** A node of an older version announces what its command line has. */
  @Test
  void nodesAtAddressesThatCannotBeAreLeftOutForServersAndClients() throws Exception {
    other.coordinator().announce(NODE);
    other.await("the node", () -> other.nodes().containsKey(7L));
    final List<String> addresses =
        List.of("::1:5", ":5", "", "host:5:5", "bad host:5", "my_host:5");
    try (CuratorFramework client =
        CuratorFrameworkFactory.newClient(zooKeeper.address(), new RetryOneTime(100))) {
      client.start();
      for (int i = 0; i < addresses.size(); i++) {
        final long id = 100L + i;
        client
            .create()
            .forPath(
                new ClusterPaths(cluster).node(id),
                NODE.toBuilder().setId(id).setAddress(addresses.get(i)).build().toByteArray());
      }
    }
    final URI target = URI.create("zk://" + zooKeeper.address() + "/" + cluster);
    assertEquals(
        List.of(NODE.getAddress()), new ZooKeeperNodeFinder().find(target, Duration.ofSeconds(60)));
    final Node second = NODE.toBuilder().setId(8).setAddress("[::1]:5").build();
    final Party fresh = connect(zooKeeper.address(), LONG);
    fresh.coordinator().announce(second);
    for (final Party party : List.of(other, fresh)) {
      party.await("both", () -> party.nodes().equals(Map.of(7L, NODE, 8L, second)));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"::1:2181", "a:2181,,b:2181", "a:port", "a:", "a b:1", "[::1", "a:1,"})
  void hostsThatCannotBeAreRefusedByName(String hosts) {
    final IllegalArgumentException refusal =
        assertThrows(
            IllegalArgumentException.class,
            () -> new ZooKeeperAddress(hosts, "cluster", ZooKeeperConfig.NONE));
    assertTrue(refusal.getMessage().contains("hosts=" + hosts), refusal.getMessage());
    assertEquals(
        "[::1]:2181,b",
        new ZooKeeperAddress("[::1]:2181,b", "cluster", ZooKeeperConfig.NONE).hosts());
  }

  @Test
  void aNodeWhoseIdAnotherLivingProcessHasIsRefused() throws Exception {
    final GroupState seen = established("taken");
    final Party first = connect(zooKeeper.address(), SHORT);
    first.coordinator().announce(NODE);
    other.await("the node", () -> NODE.equals(other.nodes().get(7L)));
    final Party copy = connectUnawaited(SHORT);
    final AtomicReference<Node> taken = new AtomicReference<>();
    copy.coordinator().announce(elsewhere(2), taken::set);
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (taken.get() == null) { // nothing wakes it
      assertTrue(System.nanoTime() - endNs < 0, copy::toString);
      copy.poll();
      first.poll();
      Thread.sleep(10);
    }
    assertEquals(NODE, taken.get());
    assertFalse(copy.isConnected());
    assertEquals(Map.of(), copy.groups());
    other.awaitGroup(seen.getGroup(), seen.getVersion());
    assertEquals(NODE, other.nodes().get(7L));
    copy.coordinator().withdraw(); // as its end does
    copy.poll();
    assertFalse(copy.isConnected());
    first.coordinator().close(); // it stays refused
    other.await("the node is gone", () -> other.nodes().isEmpty());
    copy.poll();
    assertFalse(copy.isConnected());
    assertEquals(Map.of(), copy.groups());
  }

  @Test
  void aNodeWhoseProcessWasKilledComesBackElsewhereAfterItsSession() throws Exception {
    final Party killed = connect(proxy.address(), SHORT);
    killed.coordinator().announce(NODE);
    other.await("the node", () -> NODE.equals(other.nodes().get(7L)));
    proxy.cut();
    final Party next = connectUnawaited(SHORT);
    final AtomicReference<Node> taken = new AtomicReference<>();
    next.coordinator().announce(elsewhere(2), taken::set);
    next.await("taking part", next::isConnected);
    other.await("the next process", () -> elsewhere(2).equals(other.nodes().get(7L)));
    assertNull(taken.get());
  }

  private static Node elsewhere(long incarnation) {
    return NODE.toBuilder().setIncarnation(incarnation).setAddress("host:2").build();
  }

  @Test
  void nodeIsAnnouncedAgainAfterItsSession() throws Exception {
    final GroupState seen = established("session");
    final Party party = connect(proxy.address(), SHORT);
    party.coordinator().announce(NODE);
    other.await("the node", () -> other.nodes().containsKey(7L));
    proxy.holdRequests();
    final Answered pending = party.win(seen, 1);
    proxy.cut();
    party.await("cut", () -> !party.isConnected());
    other.await("expired", () -> other.nodes().isEmpty());
    party.await(Result.UNKNOWN, pending);
    assertNull(party.await(Result.UNKNOWN, party.win(seen, 1)));
    final GroupState won = other.await(Result.DONE, other.win(seen, 2));
    proxy.resume();
    party.awaitConnected();
    other.await("the node again", () -> NODE.equals(other.nodes().get(7L)));
    assertEquals(won, party.awaitGroup(won.getGroup(), won.getVersion()));
    final GroupState serving = other.await(Result.DONE, other.establish(won));
    assertEquals(serving, party.awaitGroup(won.getGroup(), serving.getVersion()));
  }

  @Tag("slow")
  @Test
  void everyAnswerIsTrueUnderRandomCuts() throws Exception {
    checkAnswers(12);
  }

  @Test
  @Tag("slow")
  void everyAnswerIsTrueUnderManyRandomCuts() throws Exception {
    checkAnswers(300);
  }

  private void checkAnswers(int requests) throws Exception {
    System.out.println("seed=" + SEED);
    final GroupState seen = established("random");
    final Party party = cuttable(seen);
    final List<Party> both = List.of(party, other);
    final List<Answered> answers = new ArrayList<>();
    final List<String> wanted =
        new ArrayList<>(); // an epoch that is established twice is one change
    for (int i = 0; i < requests; i++) {
      final Party by = both.get(random.nextInt(2));
      final GroupState known = by.groups().get(seen.getGroup());
      final boolean establishes = known.hasWon() && random.nextBoolean();
      final Answered answer = establishes ? by.establish(known) : by.win(known, 1);
      answers.add(answer);
      wanted.add(establishes ? "epoch " + known.getWon().getEpoch() : "proposal " + i);
      switch (random.nextInt(8)) {
        case 0 -> proxy.holdAnswers();
        case 1 -> proxy.holdRequests();
        case 2 -> cutAndResume();
        default -> other.poll();
      }
      if (random.nextInt(4) == 0) {
        cutAndResume();
        by.await("an answer", answer::isThere);
      }
      both.forEach(Party::poll);
    }
    cutAndResume();
    for (final Answered answer : answers) {
      party.await("an answer", () -> answer.isThere() || polled(other, answer));
    }
    other.await("all", () -> answers.stream().allMatch(Answered::isThere));
    final GroupState last = connect(zooKeeper.address(), LONG).groups().get(seen.getGroup());
    final int changes = last.getVersion() - seen.getVersion();
    final long done =
        IntStream.range(0, requests)
            .filter(i -> answers.get(i).result() == Result.DONE)
            .mapToObj(wanted::get)
            .distinct()
            .count();
    final long unknown = answers.stream().filter(each -> each.result() == Result.UNKNOWN).count();
    assertTrue(
        done <= changes && changes <= done + unknown,
        () -> "changes=" + changes + " done=" + done + " unknown=" + unknown);
    assertEquals(last, party.awaitGroup(last.getGroup(), last.getVersion()));
  }

  private static boolean polled(Party party, Answered answer) {
    party.poll();
    return answer.isThere();
  }
}
