package dev.ringfetch.index.coordinator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.coordinator.Coordinator.Answer;
import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A node of a test, which uses a coordinator as nodes do, and checks what it delivers: states of a
 * group do not go back, epochs grow, and nothing is delivered without a connection.
 */
public final class Party implements Coordinator.Listener {
  private static final Duration PATIENCE =
      Duration.ofSeconds(Integer.getInteger("ringfetch.patience", 60));

  /** An answer, once there is one. */
  public static final class Answered implements Answer {
    private Result result;
    private GroupState state;
    private final Party party;

    private Answered(Party party) {
      this.party = party;
    }

    @Override
    public void onAnswer(Result result, GroupState state) {
      assertEquals(null, this.result, "answered twice");
      assertTrue(party.polling, "answered outside of poll");
      this.result = result;
      this.state = state;
      if (state != null) {
        party.checkOrder(state);
      }
    }

    /** Whether it has come. */
    public boolean isThere() {
      return result != null;
    }

    /** How the request ended. */
    public Result result() {
      return result;
    }

    /** The state with it. */
    public GroupState state() {
      return state;
    }
  }

  /** The answer to an adoption, once there is one. */
  public static final class AdoptionAnswered implements Coordinator.AdoptionAnswer {
    private Result result;
    private String obstacle;

    private AdoptionAnswered() {}

    @Override
    public void onAnswer(Result result, String obstacle) {
      assertEquals(null, this.result, "answered twice");
      assertTrue(obstacle == null || result == Result.CONFLICT, obstacle);
      this.result = result;
      this.obstacle = obstacle;
    }
  }

  private final Coordinator coordinator;
  private final Random random;
  private final Semaphore wakeUps = new Semaphore(0);
  private final Map<Long, GroupState> groups = new TreeMap<>();
  private final Map<Long, GroupState> newest = new HashMap<>();
  private Map<Long, Node> nodes = new TreeMap<>();
  private List<Long> droppedLast = List.of();
  private boolean connected;
  private boolean polling;
  private int disconnections;

  /** Takes over the coordinator. */
  public Party(Coordinator coordinator, Random random) {
    this.coordinator = coordinator;
    this.random = random;
    coordinator.wakeUp(wakeUps::release);
  }

  @Override
  public void onGroup(GroupState state) {
    assertTrue(connected, "delivered without a connection");
    checkOrder(state);
    groups.put(state.getGroup(), state);
  }

  @Override
  public void onDropped(long group) {
    assertTrue(connected, "delivered without a connection");
    assertNotNull(groups.remove(group), "dropped, but was not there: " + group);
  }

  @Override
  public void onDroppedGroups(Collection<Long> newest) {
    assertTrue(connected, "delivered without a connection");
    droppedLast = List.copyOf(newest);
  }

  @Override
  public void onNodes(Collection<Node> all) {
    assertTrue(connected, "delivered without a connection");
    nodes = new TreeMap<>();
    all.forEach(node -> assertEquals(null, nodes.put(node.getId(), node), "twice: " + node));
  }

  @Override
  public void onConnected(boolean connected) {
    assertEquals(!this.connected, connected);
    this.connected = connected;
    disconnections += connected ? 0 : 1;
  }

  private void checkOrder(GroupState state) {
    final GroupState before = newest.put(state.getGroup(), state);
    if (before != null) {
      assertTrue(before.getVersion() <= state.getVersion(), "goes back");
      assertTrue(epoch(before) <= epoch(state), "epoch goes back");
      if (before.getVersion() == state.getVersion()) {
        assertEquals(before, state, "two states of one version");
      }
    }
  }

  private static long epoch(GroupState state) {
    return state.hasWon() ? state.getWon().getEpoch() : state.getEstablished().getEpoch();
  }

  /** Asks for what was changed before. */
  public Answered sync() {
    final Answered answered = new Answered(this);
    coordinator.sync(answered);
    return answered;
  }

  /** Polls once. */
  public void poll() {
    polling = true;
    coordinator.poll(this);
    polling = false;
  }

  /** Polls, whenever the coordinator says that it should, until the condition holds. */
  public void await(String what, BooleanSupplier condition) throws InterruptedException {
    final long end = System.nanoTime() + PATIENCE.toNanos();
    poll();
    while (!condition.getAsBoolean()) {
      final long left = end - System.nanoTime();
      assertTrue(left > 0, () -> "in vain: " + what + "\n" + this);
      if (wakeUps.tryAcquire(left, TimeUnit.NANOSECONDS)) {
        wakeUps.drainPermits();
        poll();
      }
    }
  }

  /** Waits until there is a connection. */
  public void awaitConnected() throws InterruptedException {
    await("a connection", () -> connected);
  }

  /** Waits until a group is known in a version, or a later one. */
  public GroupState awaitGroup(long group, int version) throws InterruptedException {
    await(
        "group " + group + " version " + version,
        () -> groups.containsKey(group) && groups.get(group).getVersion() >= version);
    return groups.get(group);
  }

  /** Waits for an answer. */
  public GroupState await(Result expected, Answered answered) throws InterruptedException {
    await("an answer", answered::isThere);
    assertEquals(expected, answered.result, () -> "state=" + answered.state);
    return answered.state;
  }

  /** Asks to adopt a directory. */
  public AdoptionAnswered adopt(DirectoryGroups groups) {
    final AdoptionAnswered answered = new AdoptionAnswered();
    coordinator.adopt(groups, answered);
    return answered;
  }

  /** Asks to give an adoption up. */
  public AdoptionAnswered giveUp(DirectoryGroups groups) {
    final AdoptionAnswered answered = new AdoptionAnswered();
    coordinator.giveUp(groups.node(), groups.nonce(), answered);
    return answered;
  }

  /** Waits for an answer; returns the obstacle. */
  public String await(Result expected, AdoptionAnswered answered) throws InterruptedException {
    await("an answer", () -> answered.result != null);
    assertEquals(expected, answered.result, () -> "obstacle=" + answered.obstacle);
    return answered.obstacle;
  }

  /** Groups of a directory, led by its node alone. */
  public DirectoryGroups directory(long node, long epoch, String... indexes) {
    final List<GroupState> groups = new ArrayList<>();
    for (final String index : indexes) {
      groups.add(
          GroupState.newBuilder()
              .setGroup(random.nextLong() >>> 1)
              .setIndex(index)
              .setDefinition(ByteString.copyFromUtf8("definition of " + index))
              .setReplicas(3)
              .setEstablished(configuration(node).toBuilder().setEpoch(epoch - groups.size()))
              .build());
    }
    return new DirectoryGroups(node, random.nextLong() | 1, groups, epoch);
  }

  /** Asks for a group with this node as its only member. */
  public Answered create(String index, long node) {
    final Answered answered = new Answered(this);
    coordinator.create(
        GroupState.newBuilder()
            .setIndex(index)
            .setDefinition(ByteString.copyFromUtf8("definition of " + index))
            .setReplicas(3)
            .setWon(configuration(node))
            .build(),
        answered);
    return answered;
  }

  /** Asks for a configuration with this leader. */
  public Answered win(GroupState seen, long node) {
    return win(seen, configuration(node));
  }

  /** Asks for a configuration. */
  public Answered win(GroupState seen, Configuration proposed) {
    final Answered answered = new Answered(this);
    coordinator.win(seen, proposed, answered);
    return answered;
  }

  /** Asks to establish what was won. */
  public Answered establish(GroupState seen) {
    final Answered answered = new Answered(this);
    coordinator.establish(seen, answered);
    return answered;
  }

  /** Asks for a configuration without members of the last one. */
  public Answered recover(GroupState seen, GroupState recovered) {
    final Answered answered = new Answered(this);
    coordinator.recover(seen, recovered, answered);
    return answered;
  }

  /** Asks to put another group in the place of one, with this node as its only member. */
  public Answered replace(GroupState seen, long node) {
    final Answered answered = new Answered(this);
    coordinator.replace(
        seen,
        GroupState.newBuilder()
            .setIndex(seen.getIndex())
            .setDefinition(ByteString.copyFromUtf8("another definition"))
            .setReplicas(3)
            .setWon(configuration(node))
            .build(),
        answered);
    return answered;
  }

  /** Asks to drop a group. */
  public Answered drop(GroupState seen) {
    final Answered answered = new Answered(this);
    coordinator.drop(seen, answered);
    return answered;
  }

  /** A proposal with this leader alone, and a nonce. */
  public Configuration configuration(long node) {
    return Configuration.newBuilder()
        .setLeader(node)
        .addMembers(Member.newBuilder().setNode(node).setIncarnation(1))
        .setNonce(random.nextLong() | 1)
        .build();
  }

  /** The coordinator. */
  public Coordinator coordinator() {
    return coordinator;
  }

  /** The groups that it was told of. */
  public Map<Long, GroupState> groups() {
    return groups;
  }

  /** The groups that were dropped last, as it was told. */
  public List<Long> droppedLast() {
    return droppedLast;
  }

  /** The nodes that it was told of. */
  public Map<Long, Node> nodes() {
    return nodes;
  }

  /** Whether it was told that there is a connection. */
  public boolean isConnected() {
    return connected;
  }

  /** How often it was told that the connection is lost. */
  public int disconnections() {
    return disconnections;
  }

  @Override
  public String toString() {
    return "connected=" + connected + "\ngroups=" + groups + "\nnodes=" + nodes;
  }
}
