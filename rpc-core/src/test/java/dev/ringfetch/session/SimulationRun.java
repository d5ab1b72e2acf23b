package dev.ringfetch.session;

import dev.ringfetch.fabric.sim.SimContext.StoreOrder;

/** Simulations under one seed after the other, and what they have come to together. */
final class SimulationRun {
  static final int ROUNDS = 3;

  private static final int CALLS = 400; // a round

  final FaultMatrix matrix;
  private final long firstSeed;
  private final int stride;
  private final int rounds;
  private final SimKind kind;
  private final StoreOrder storeOrder;
  private long seeds;
  private long steps;
  private long calls;
  private long streams;
  private long sessions;
  private long trace = 1;

  SimulationRun(long firstSeed, SimKind kind, StoreOrder storeOrder) {
    this(firstSeed, 1, ROUNDS, kind, storeOrder);
  }

  /** As the other one, for every so manieth seed only, of which it makes the first rounds. */
  SimulationRun(long firstSeed, int stride, int rounds, SimKind kind, StoreOrder storeOrder) {
    this.firstSeed = firstSeed;
    this.stride = stride;
    this.rounds = rounds;
    this.kind = kind;
    this.matrix = new FaultMatrix(kind.states());
    this.storeOrder = storeOrder;
  }

  /**
   * Runs the simulation of the next seed, and returns which faults struck.
   *
   * @throws AssertionError that names the seed and the last steps, if something does not hold.
   */
  FaultMatrix next() {
    final Simulation simulation = new Simulation(firstSeed + seeds * stride, kind, storeOrder);
    simulation.rounds(rounds, CALLS);
    seeds++;
    steps += simulation.timeline.steps();
    calls += simulation.ledger.over();
    streams += simulation.ledger.streams();
    sessions += simulation.sessions();
    trace = trace * 31 + simulation.timeline.trace();
    matrix.add(simulation.matrix);
    return simulation.matrix;
  }

  long seeds() {
    return seeds;
  }

  /** By which the command runs what is next, or has just failed. */
  String options() {
    return String.format(
        "--seed %d --fabric %s --store-order %s", firstSeed + seeds * stride, kind, storeOrder);
  }

  @Override
  public String toString() {
    return String.format(
        "seed=%d steps=%d calls=%d streams=%d faults=%d trace=%016x seeds=%d sessions=%d"
            + " fabric=%s storeOrder=%s",
        firstSeed,
        steps,
        calls,
        streams,
        matrix.faults(),
        trace,
        seeds,
        sessions,
        kind,
        storeOrder);
  }
}
