package dev.ringfetch.session;

import java.util.SplittableRandom;

/**
 * A {@link Simulation} in which few calls are made, and both sides go to sleep around every one of
 * them: whom nobody wakes nobody else comes by to wake.
 */
final class Sleepers {
  private static final int ROUNDS = 500;
  private static final int MAX_CALLS = 4; // a round
  private static final int MAX_HOLD_NS = 10_000;
  private static final int MAX_REST_NS = 4_000; // of handlers

  private final Simulation simulation;
  private final Rest rest;

  Sleepers(Simulation simulation) {
    this.simulation = simulation;
    this.rest = new Rest(simulation);
  }

  void check() {
    simulation.makeNoCalls();
    final SplittableRandom random = simulation.timeline.random();
    final SimClient client = simulation.clients.get(0);
    rest.await("a session", () -> isPaired(client));
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 1 + random.nextInt(MAX_CALLS); i > 0; i--) {
        final byte[] request = simulation.ledger.newRequest(client.channel(), 24);
        client.prepare(request, Stream.NO_DEADLINE).send(false);
        steps(random.nextInt(8));
        hold(random, random.nextInt(3) == 0 ? client : simulation.server);
      }
      simulation.server.restUntil(simulation.timeline.nowNs() + random.nextInt(MAX_REST_NS));
      steps(random.nextInt(60));
      hold(random, simulation.server);
      rest.await("calls end", () -> client.calls.isEmpty());
    }
    simulation.quiesce();
  }

  private void steps(int steps) {
    for (int step = 0; step < steps; step++) {
      simulation.step();
    }
  }

  /** What a side stores or writes is late. */
  private void hold(SplittableRandom random, SimProcess side) {
    if (random.nextInt(4) != 0) {
      side.fabric.holdWritesUntil(simulation.timeline.nowNs() + random.nextInt(MAX_HOLD_NS));
    }
  }

  private boolean isPaired(SimClient client) {
    return client.isOpen() && simulation.server.sessionOf(client) != null;
  }
}
