package dev.ringfetch.index.coordinator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.Coordinator.AdoptionAnswer;
import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.disk.CrashingDisk;
import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.Member;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The adoption of a directory by a cluster, with a fault in each step: the process ends before or
 * after it, or an answer is lost. At no moment may a server start on the directory alone while the
 * cluster has its groups, or may get them from a request under way.
 */
@Timeout(120)
final class AdoptionTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int ROUNDS = 300 * Integer.getInteger("ringfetch.hunt", 1);
  private static final long NODE = 0x11;
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int REPLICAS = 3;
  private static final long FOUND_EPOCH = 1_000; // that of the disk, which the file lacks

  /** What happens to a request. */
  private enum Fault {
    NONE,
    /** The process ends before it is sent. */
    ENDS_BEFORE,
    /** The process ends when it was carried out. */
    ENDS_AFTER,
    /** The process ends, and the request arrives later. */
    ENDS_BEFORE_ARRIVAL,
    ANSWER_LOST,
    /** The answer says that nothing is known, and the request arrives later. */
    LATE
  }

  /** The end of the process. */
  private static final class End extends Error {
    private static final long serialVersionUID = 1;
  }

  private Random random = new Random(SEED);
  private SimulatedDisk disk = new SimulatedDisk();
  private LocalCoordinator.Truth truth;
  private long identity; // the cluster of the directory
  private Map<GroupState, Long> journal = Map.of();
  private Map<Long, List<Member>> stopped = Map.of();
  private Map<String, GroupState> expected = Map.of(); // by index

  // The network.
  private Queue<Fault> faults = new ArrayDeque<>(); // of the next requests
  private final List<Runnable> late = new ArrayList<>();
  private int givenUp; // requests that were carried out

  @BeforeEach
  void serveAlone() throws Exception {
    disk = new SimulatedDisk();
    faults = new ArrayDeque<>();
    late.clear();
    givenUp = 0;
    journal = new LinkedHashMap<>();
    stopped = new TreeMap<>();
    expected = new LinkedHashMap<>();
    final LocalCoordinator.Truth alone =
        LocalCoordinator.Truth.open(disk, NODE, 0, random::nextLong);
    alone.continueFrom(NODE, Map.of(), Map.of(), false);
    identity = NODE;
    final Party party = new Party(alone.connect(), random);
    for (final Durability level : List.of(Durability.DISK, Durability.INTERVAL)) {
      final GroupState group = establish(party, level.name(), level);
      journal.put(group, FOUND_EPOCH);
      expected.put(group.getIndex(), group);
    }
    final GroupState inMemory = establish(party, "memory", Durability.MEMORY);
    stopped.put(inMemory.getGroup(), inMemory.getEstablished().getMembersList());
    expected.put(inMemory.getIndex(), inMemory);
    establish(party, "ended", Durability.MEMORY);
    party.coordinator().close();
    truth = new LocalCoordinator.Truth(random::nextLong);
  }

  private static GroupState first(String index, Durability level, Configuration won) {
    return GroupState.newBuilder()
        .setIndex(index)
        .setDefinition(new IndexDefinition(IndexKind.HASH, level, 1, 1, 1).encoded())
        .setReplicas(1)
        .setWon(won)
        .build();
  }

  private static GroupState establish(Party party, String index, Durability level)
      throws Exception {
    final List<GroupState> states = new ArrayList<>();
    party
        .coordinator()
        .create(
            first(index, level, party.configuration(NODE)), (result, state) -> states.add(state));
    party.poll();
    return party.await(Result.DONE, party.establish(states.get(0)));
  }

  // The faults.

  /** A connection to the cluster with the faults. */
  private Coordinator connect() {
    final LocalCoordinator of = truth.connect();
    return (Coordinator)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Coordinator.class},
            (proxy, method, values) -> {
              if (method.getName().equals("adopt")) {
                final int before = givenUp;
                request(
                    (AdoptionAnswer) values[1],
                    answer -> {
                      if (before == givenUp) { // else it has no effect any more
                        of.adopt((DirectoryGroups) values[0], answer);
                      }
                    });
                return null;
              }
              if (method.getName().equals("giveUp")) {
                request(
                    (AdoptionAnswer) values[2],
                    answer -> {
                      givenUp++;
                      of.giveUp((Long) values[0], (Long) values[1], answer);
                    });
                return null;
              }
              try {
                return method.invoke(of, values);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** A request to the cluster. */
  @FunctionalInterface
  private interface Sent {
    void arrive(AdoptionAnswer answer);
  }

  private void request(AdoptionAnswer answer, Sent sent) {
    final Fault fault = faults.isEmpty() ? Fault.NONE : faults.remove();
    switch (fault) {
      case NONE -> {
        sent.arrive(answer);
        if (random.nextInt(4) == 0) {
          arriveLate();
        }
      }
      case ENDS_BEFORE -> throw new End();
      case ENDS_AFTER -> {
        sent.arrive((result, obstacle) -> {});
        throw new End();
      }
      case ENDS_BEFORE_ARRIVAL -> {
        late.add(() -> sent.arrive((result, obstacle) -> {}));
        throw new End();
      }
      case ANSWER_LOST -> sent.arrive((result, obstacle) -> answer.onAnswer(Result.UNKNOWN, null));
      case LATE -> {
        late.add(() -> sent.arrive((result, obstacle) -> {}));
        answer.onAnswer(Result.UNKNOWN, null);
      }
    }
  }

  private void arriveLate() {
    final List<Runnable> arriving = List.copyOf(late);
    late.clear();
    arriving.forEach(Runnable::run);
  }

  // The processes.

  /** One start; returns why it was refused, or null if it was not. */
  private @Nullable String adopt(Disk on, Runnable beforeJoin, Runnable afterJoin) {
    try (Coordinator coordinator = connect()) {
      new Adoption(
              on,
              NODE,
              journal,
              stopped,
              REPLICAS,
              id -> {
                beforeJoin.run();
                identity = id;
                afterJoin.run();
              },
              random::nextLong,
              0)
          .run(coordinator, LIMIT_NS, () -> {});
      return null;
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  private @Nullable String adopt() {
    return adopt(disk, () -> {}, () -> {});
  }

  /** Whether a start with the option adopts: else it is a node of the cluster already. */
  private boolean isAlone() {
    return identity == NODE || disk.names().contains(CoordinatorFile.NAME);
  }

  private @Nullable String startAlone() {
    final SimulatedDisk copy = disk.copy();
    try {
      LocalCoordinator.Truth.open(copy, NODE, identity, random::nextLong)
          .continueFrom(NODE, journal, stopped, false);
      return null;
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  private Map<String, GroupState> ofCluster() throws Exception {
    final Party party = new Party(truth.connect(), random);
    party.poll();
    party.coordinator().close();
    return party.groups().values().stream()
        .collect(Collectors.toMap(GroupState::getIndex, group -> group));
  }

  /** Never both: served alone, and of the cluster; also where a name is free in the meantime. */
  private void checkOnce(String when) throws Exception {
    if (startAlone() == null) {
      final boolean wasTaken = freeName();
      arriveLate();
      for (final GroupState group : ofCluster().values()) {
        assertFalse(
            expected.values().stream().anyMatch(one -> one.getGroup() == group.getGroup()),
            () -> when + ": a server alone and the cluster have " + group);
      }
      if (wasTaken) {
        takeName("memory");
      }
    }
  }

  private boolean freeName() throws Exception {
    final Party other = new Party(truth.connect(), random);
    other.poll();
    boolean wasTaken = false;
    for (final GroupState group : List.copyOf(other.groups().values())) {
      if (group.getGroup() != expected.get("memory").getGroup() && group.hasWon()) {
        other.await(Result.DONE, other.drop(group));
        wasTaken = true;
      }
    }
    other.coordinator().close();
    return wasTaken;
  }

  private void checkAdopted(String when) throws Exception {
    arriveLate();
    final Map<String, GroupState> groups = ofCluster();
    assertEquals(expected.keySet(), groups.keySet(), when);
    for (final GroupState group : groups.values()) {
      final GroupState before = expected.get(group.getIndex());
      assertEquals(before.getGroup(), group.getGroup(), when);
      assertEquals(before.getDefinition(), group.getDefinition(), when);
      assertEquals(before.getEstablished(), group.getEstablished(), when);
      assertEquals(REPLICAS, group.getReplicas(), when);
      assertFalse(group.hasWon(), when);
    }
    final LocalCoordinator any = truth.connect();
    assertEquals(any.cluster(), identity, when);
    any.close();
    assertEquals(List.of(), disk.names(), when);
    final String refusal = startAlone();
    assertTrue(refusal != null && refusal.contains("--cluster"), () -> when + ": " + refusal);
  }

  private void takeName(String index) throws Exception {
    final Party other = new Party(truth.connect(), random);
    other.await(Result.DONE, other.create(index, 7));
    other.coordinator().close();
  }

  private void checkRefused(@Nullable String refusal, String when) throws Exception {
    assertTrue(refusal != null && refusal.contains("index=memory"), () -> when + ": " + refusal);
    arriveLate();
    assertEquals(Set.of("memory"), ofCluster().keySet(), when);
    assertEquals(NODE, identity, when);
    assertNull(startAlone(), when);
  }

  /** Starts until one comes to an end; with one fault at most in each. */
  private void check(boolean isTaken, boolean cutsPower, String when) throws Exception {
    boolean hasEnded = false;
    String refusal = null;
    for (int start = 0; !hasEnded; start++) {
      assertTrue(start < 100, when);
      try {
        refusal = isAlone() ? adopt() : null;
        hasEnded = true;
      } catch (End | CrashingDisk.Crash e) {
        if (cutsPower) {
          disk.powerCut(random);
        }
      }
      checkOnce(when);
    }
    if (isTaken) {
      checkRefused(refusal, when);
    } else {
      assertNull(refusal, when);
      checkAdopted(when);
    }
  }

  @Test
  void aFaultInAnyRequest() throws Exception {
    for (final boolean isTaken : new boolean[] {false, true}) {
      for (final Fault fault : Fault.values()) {
        for (final Fault then : Fault.values()) {
          for (int at = 0; at < 3; at++) {
            serveAlone();
            if (isTaken) {
              takeName("memory");
            }
            for (int i = 0; i < at; i++) {
              faults.add(Fault.NONE);
            }
            faults.add(fault);
            faults.add(then);
            check(isTaken, false, "taken=" + isTaken + " " + fault + " " + then + " at=" + at);
          }
        }
      }
    }
  }

  /** The name that was in the way is free when the request arrives. */
  @Test
  void aRequestThatIsLateHasNoEffectOnceTheDirectoryIsAloneAgain() throws Exception {
    for (final Fault ofGivingUp : Fault.values()) {
      serveAlone();
      takeName("memory");
      faults.addAll(List.of(Fault.LATE, Fault.NONE, ofGivingUp));
      check(true, false, "late, and then " + ofGivingUp);
    }
  }

  @Test
  void theProcessEndsAtAnyStepOfTheDisk() throws Exception {
    for (final boolean isTaken : new boolean[] {false, true}) {
      boolean crashed = true;
      int step = 0;
      for (; crashed; step++) {
        final String when = "taken=" + isTaken + " step=" + step;
        serveAlone();
        if (isTaken) {
          takeName("memory");
        }
        final CrashingDisk crashing = new CrashingDisk(disk);
        crashing.crashAfter(step);
        try {
          final String unused = adopt(crashing, () -> {}, () -> {});
          crashed = false;
        } catch (CrashingDisk.Crash e) {
          disk.powerCut(random);
        }
        checkOnce(when);
        if (crashed) {
          check(isTaken, true, when);
        }
      }
      assertTrue(step > 10, "steps=" + step);
    }
  }

  private static void end() {
    throw new End();
  }

  @Test
  void theProcessEndsBeforeAndAfterItIsANodeOfTheCluster() throws Exception {
    assertThrows(End.class, () -> adopt(disk, AdoptionTest::end, () -> {}));
    checkOnce("before");
    assertThrows(End.class, () -> adopt(disk, () -> {}, AdoptionTest::end));
    checkOnce("after");
    assertTrue(startAlone().contains("moves to cluster="), startAlone());
    check(false, true, "again");
  }

  @Test
  void manyFaults() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      random = new Random(SEED * ROUNDS + round);
      serveAlone();
      final boolean isTaken = random.nextInt(3) == 0;
      if (isTaken) {
        takeName("memory");
      }
      for (int i = random.nextInt(8); i > 0; i--) {
        faults.add(Fault.values()[random.nextInt(Fault.values().length)]);
      }
      check(isTaken, random.nextBoolean(), "seed=" + SEED + " round=" + round);
    }
  }

  // Rules of their own.

  @Test
  void anotherClusterIsRefusedOnTheWay() throws Exception {
    faults.add(Fault.ENDS_BEFORE_ARRIVAL);
    assertThrows(End.class, this::adopt);
    final LocalCoordinator.Truth former = truth;
    truth = new LocalCoordinator.Truth(random::nextLong);
    final String refusal = adopt();
    assertTrue(refusal.contains("directory moves to cluster="), refusal);
    assertEquals(Map.of(), ofCluster());
    assertTrue(startAlone().contains("moves to cluster="), startAlone());
    truth = former;
    check(false, false, "the former");
  }

  @Test
  void epochsGrow() throws Exception {
    assertNull(adopt());
    final Party party = new Party(truth.connect(), random);
    party.poll();
    for (final GroupState group : List.copyOf(party.groups().values())) {
      final GroupState won = party.await(Result.DONE, party.win(group, NODE));
      assertTrue(won.getWon().getEpoch() > FOUND_EPOCH, "" + won);
    }
  }

  /** A backup of the directory, started alone, has the same number. */
  @Test
  void aCopyOfAnAdoptedDirectoryIsRefused() throws Exception {
    final SimulatedDisk copy = disk.copy();
    assertNull(adopt());
    disk = copy;
    identity = NODE;
    final String refusal = adopt();
    assertTrue(refusal.contains("or a copy of it, before: node=0000000000000011"), refusal);
    assertNull(startAlone());
  }

  @Test
  void aDirectoryWhoseClusterIsLostGoesOnAsACopy() throws Exception {
    faults.add(Fault.ENDS_BEFORE);
    assertThrows(End.class, this::adopt);
    assertTrue(startAlone().contains("moves to cluster="), startAlone());
    LocalCoordinator.Truth.open(disk, NODE, identity, random::nextLong)
        .continueFrom(NODE, journal, Map.of(), true);
    assertNull(startAlone());
  }

  /** The cluster would have a group that is lost. */
  @Test
  void aRecordOfAnOrderlyEndThatWasPutBackRefusesTheStart() throws Exception {
    final Map<Long, List<Member>> right = Map.copyOf(stopped);
    final Member earlier = Member.newBuilder().setNode(NODE).setIncarnation(1_000).build();
    stopped.replaceAll((group, processes) -> List.of(earlier));
    assertTrue(adopt().contains("was put back"), this::adopt);
    assertTrue(adopt().contains("index=memory file=simulated/stop-"), this::adopt);
    assertTrue(startAlone().contains("was put back"), this::startAlone);
    assertEquals(Map.of(), ofCluster());
    stopped.replaceAll((group, processes) -> List.of(earlier, right.get(group).get(0)));
    assertNull(adopt());
    checkAdopted("with that of the last process");
  }

  @Test
  void aClusterThatDoesNotAnswerLeavesTheDirectoryAsItIs() throws Exception {
    final LocalCoordinator away = truth.connect();
    away.reachable(false);
    final Adoption adoption =
        new Adoption(disk, NODE, journal, stopped, REPLICAS, id -> {}, random::nextLong, 0);
    final IOException late =
        assertThrows(IOException.class, () -> adoption.run(away, 1_000_000, () -> {}));
    assertTrue(late.getMessage().contains("within 0 s: nothing was changed"), late::getMessage);
    assertNull(startAlone());
    away.close();
  }

  @Test
  void whatIsNotFinishedIsFinishedAloneFirst() throws Exception {
    final LocalCoordinator.Truth alone =
        LocalCoordinator.Truth.open(disk, NODE, identity, random::nextLong);
    final Party party = new Party(alone.connect(), random);
    party
        .coordinator()
        .create(first("begun", Durability.DISK, party.configuration(NODE)), (result, state) -> {});
    party.poll();
    assertTrue(adopt().contains("creation of an index is not finished: start"), adopt());
    party.await(
        Result.DONE,
        party.drop(
            party.groups().values().stream()
                .filter(group -> group.getIndex().equals("begun"))
                .findFirst()
                .get()));
    party.await(Result.DONE, party.drop(expected.get("DISK")));
    final String refusal = adopt();
    assertTrue(refusal.contains("removal of an index is not finished: start"), refusal);
    assertTrue(refusal.endsWith("index=DISK"), refusal);
    assertEquals(Map.of(), ofCluster());
    assertNull(startAlone());
  }

  @Test
  void theMembersAreThoseOfTheDirectory() throws Exception {
    assertNull(adopt());
    for (final GroupState group : ofCluster().values()) {
      assertEquals(
          List.of(NODE),
          group.getEstablished().getMembersList().stream().map(Member::getNode).toList());
    }
  }
}
