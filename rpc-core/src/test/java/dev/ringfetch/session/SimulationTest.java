package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.sim.SimContext.StoreOrder;
import dev.ringfetch.hunt.Rounds;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whole sessions in virtual time, with a fault in every state of the protocol. {@code examples/run
 * sim} runs the same for as long as one likes.
 *
 * <p>A failure names its seed: run it first with {@code -Dtest.args=-Dringfetch.seed=SEED}.
 */
@Timeout(300)
class SimulationTest {
  /** 1, or how many times as much a hunt does, with all store orders over every kind of memory. */
  private static final int HUNT = Math.max(1, Rounds.HUNT);

  private static final int SEEDS = 20 * HUNT;
  private static final int LEAST = Rounds.once(SEEDS, 10); // more until each fault has struck
  private static final int MAX_SEEDS = 40 * SEEDS;

  /** In which a hundred seeds are and more until each fault has struck. */
  private static final EnumSet<SimState> SELDOM =
      EnumSet.of(SimState.CLIENT_HELD, SimState.SERVER_HELD);

  private static final int RUNS = 8; // behind cards
  private static final int CARDS_SEEDS = RUNS * HUNT;
  private static final Set<SimState> HANDSHAKES =
      EnumSet.of(
          SimState.SENT,
          SimState.CLIENT_BLOCKED,
          SimState.SERVER_BLOCKED,
          SimState.CLIENT_ARMED,
          SimState.SERVER_ARMED,
          SimState.SETTLING);

  /** Stores that come late show more; in shared memory both orders are what processors do. */
  static List<Arguments> kinds() {
    return Stream.of(SimKind.values())
        .flatMap(kind -> Stream.of(StoreOrder.values()).map(order -> Arguments.of(kind, order)))
        .filter(
            one -> HUNT > 1 || one.get()[0] == SimKind.SHM || one.get()[1] == StoreOrder.RELEASE)
        .toList();
  }

  @Test
  void everyCallEndsOnceAndRightlyWhateverHappens() {
    simulate(EnumSet.complementOf(SELDOM));
  }

  @Tag("slow")
  @Test
  void everyFaultStrikesInEveryState() {
    simulate(EnumSet.allOf(SimState.class));
  }

  /** Over shared memory, until every fault has struck in all of the states. */
  private static void simulate(EnumSet<SimState> wanted) {
    wanted.retainAll(SimKind.SHM.states());
    long seed = Long.getLong("ringfetch.seed", 1);
    List<SimulationRun> runs = new ArrayList<>();
    for (StoreOrder order : StoreOrder.values()) {
      runs.add(new SimulationRun(seed + runs.size(), 2, SimulationRun.ROUNDS, SimKind.SHM, order));
    }
    FaultMatrix matrix = new FaultMatrix(SimKind.SHM.states());
    for (int seeds = 0;
        seeds < LEAST || (!matrix.zeros(wanted).isEmpty() && seeds < MAX_SEEDS);
        seeds++) {
      matrix.add(runs.get(seeds % runs.size()).next());
    }
    runs.forEach(System.out::println);
    System.out.println(matrix);
    assertEquals(List.of(), matrix.zeros(wanted), "no fault in this state");
  }

  /**
   * Over memory of each side's own, which is several times the steps: all kinds together, and where
   * the two sides depend on each other. The command goes through all cells of each.
   */
  @Test
  void everyCallEndsOnceAndRightlyBehindNetworkCards() {
    long seed = Long.getLong("ringfetch.seed", 1);
    final int rounds = Rounds.once(SimulationRun.ROUNDS, 1);
    List<SimulationRun> runs = new ArrayList<>();
    for (SimKind kind : EnumSet.complementOf(EnumSet.of(SimKind.SHM))) {
      for (StoreOrder order : StoreOrder.values()) {
        runs.add(new SimulationRun(seed + runs.size(), RUNS, rounds, kind, order));
      }
    }
    FaultMatrix matrix = new FaultMatrix(SimKind.ADAPTIVE_WEAK.states());
    for (int seeds = 0;
        seeds < CARDS_SEEDS || (!matrix.zeros(HANDSHAKES).isEmpty() && seeds < MAX_SEEDS);
        seeds++) {
      matrix.add(runs.get(seeds % runs.size()).next());
    }
    runs.forEach(System.out::println);
    System.out.println(matrix);
    assertEquals(List.of(), matrix.zeros(HANDSHAKES), "no fault in this state");
  }

  /** Where the two ends of a ring are loaded and stored, and where most is left to chance. */
  static List<Arguments> oppositeKinds() {
    return kinds().stream().filter(SimulationTest::isOpposite).toList();
  }

  static List<Arguments> otherKinds() {
    return kinds().stream().filter(one -> !isOpposite(one)).toList();
  }

  private static boolean isOpposite(Arguments one) {
    return one.get()[0] == SimKind.SHM || one.get()[0] == SimKind.ADAPTIVE_WEAK;
  }

  @ParameterizedTest
  @MethodSource("otherKinds")
  @Tag("slow")
  void cancelAndCloseGetThroughFullRingsOfOtherKinds(SimKind kind, StoreOrder order) {
    cancelAndCloseGetThroughFullRings(kind, order);
  }

  /** Rings of two frames, full both ways with streams that have no room in their windows either. */
  @ParameterizedTest
  @MethodSource("oppositeKinds")
  void cancelAndCloseGetThroughFullRings(SimKind kind, StoreOrder order) {
    final SimSizes sizes =
        new SimSizes(128, 64, 6, 1 << 20, 1 << 20, 1, 0, 100, 16 * 1024, 256, 0, false, false);
    final long seed = Long.getLong("ringfetch.seed", 1);
    final Simulation simulation = new Simulation(seed, sizes, kind, order);
    try {
      new FullRings(simulation).check();
    } catch (AssertionError e) {
      throw new AssertionError(e.getMessage() + "; " + simulation, e);
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void whoeverSleepsIsWoken(SimKind kind, StoreOrder order) {
    final SimSizes sizes =
        new SimSizes(
            1024, 256, 6, 1 << 20, 1 << 20, 1, 0, Integer.MAX_VALUE, 0, 256, 0, false, false);
    final long seed = Long.getLong("ringfetch.seed", 1);
    final Simulation simulation = new Simulation(seed, sizes, kind, order);
    try {
      new Sleepers(simulation).check();
    } catch (AssertionError e) {
      throw new AssertionError(e.getMessage() + "; " + simulation, e);
    }
  }

  /** Most answers come in datagrams, some of which are of no use: those answers are read. */
  @Test
  void datagramsAreTakenDroppedAndMadeUpFor() {
    final long seed = Long.getLong("ringfetch.seed", 1);
    final Simulation simulation = new Simulation(seed, SimKind.DATAGRAM_WEAK, StoreOrder.RELEASE);
    simulation.rounds(1, 500);
    for (Counter counter :
        List.of(
            Counter.SESSION_HINTS_SENT,
            Counter.SESSION_HINTS_TAKEN,
            Counter.SESSION_HINTS_DROPPED,
            Counter.SESSION_FETCHES)) {
      final long total = simulation.context.counters().total(counter);
      System.out.println("seed=" + seed + " " + counter + "=" + total);
      assertTrue(total > 0, counter + "; " + simulation);
    }
  }

  static List<Arguments> kindsWithCards() {
    return kinds().stream().filter(kind -> kind.get()[0] != SimKind.SHM).toList();
  }

  /** Each of three clients is a group: what they are told is lost, late, or of a server before. */
  @ParameterizedTest
  @MethodSource("kindsWithCards")
  void callsEndWhereClientsTakeTurns(SimKind kind, StoreOrder order) {
    final SimSizes sizes =
        new SimSizes(
            1024, 256, 6, 1 << 20, 1 << 20, 3, 400, Integer.MAX_VALUE, 0, 256, 4_000, true, true);
    final long seed = Long.getLong("ringfetch.seed", 1);
    final Simulation simulation = new Simulation(seed, sizes, kind, order);
    simulation.rounds(2, 200);
    for (Counter counter : List.of(Counter.SESSION_TURNS_TOLD, Counter.SESSION_TURNS_WAITED)) {
      final long total = simulation.context.counters().total(counter);
      System.out.println("seed=" + seed + " " + counter + "=" + total);
      assertTrue(total > 0, counter + "; " + simulation);
    }
  }

  @ParameterizedTest
  @EnumSource(SimKind.class)
  void seedReplaysExactly(SimKind kind) {
    long seed = Long.getLong("ringfetch.seed", 1);
    String first = run(seed, kind);
    assertEquals(first, run(seed, kind));
    assertNotEquals(first, run(seed + 1, kind));
  }

  private static String run(long seed, SimKind kind) {
    Simulation simulation = new Simulation(seed, kind, StoreOrder.RELEASE);
    simulation.rounds(1, Rounds.once(200, 80));
    return simulation.toString();
  }
}
