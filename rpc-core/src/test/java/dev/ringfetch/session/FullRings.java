package dev.ringfetch.session;

import dev.ringfetch.hunt.Rounds;
import dev.ringfetch.session.ClientStream.Outcome;
import java.util.ArrayList;
import java.util.List;

/** A {@link Simulation} whose rings are full in both directions when streams are to end. */
final class FullRings {
  private static final int ROUNDS = Rounds.of(8, 4);
  private static final int STREAMS = 3;

  private final Simulation simulation;
  private final Rest rest;

  FullRings(Simulation simulation) {
    this.simulation = simulation;
    this.rest = new Rest(simulation);
  }

  void check() {
    simulation.makeNoCalls();
    for (int round = 0; round < ROUNDS; round++) {
      final SimClient client = simulation.clients.get(0);
      rest.await("a session", () -> isPaired(client));
      final List<SimStreamCall> calls = new ArrayList<>();
      for (int i = 0; i < STREAMS; i++) {
        final SimStreamCall call =
            client.prepareStream(SimShape.FLOOD_BOTH, Stream.NO_DEADLINE, true);
        call.send(false);
        calls.add(call);
      }
      rest.await("both ends are there", () -> calls.stream().allMatch(c -> c.server() != null));
      if (round % 2 == 0) { // rings fill from windows that open, otherwise from such that close
        rest.await("windows close", () -> calls.stream().allMatch(SimStreamCall::isHeldBack));
        calls.forEach(SimStreamCall::resume);
      }
      rest.await("both rings are full", () -> isFull(client));
      calls.get(0).cancel();
      final boolean abort = round % 4 < 2;
      if (abort) {
        simulation.server.abort(client.link());
      } else {
        calls.get(1).cancel();
      }
      calls.forEach(SimStreamCall::resume);
      rest.await("streams end", () -> client.calls.isEmpty() && simulation.server.flows.isEmpty());
      final Outcome outcome = calls.get(2).outcome;
      simulation.check(
          outcome == Outcome.ANSWERED || (abort && outcome == Outcome.SESSION_ENDED),
          "told " + outcome);
      simulation.throwFailure();
    }
    simulation.quiesce();
  }

  private boolean isPaired(SimClient client) {
    return client.isOpen() && simulation.server.sessionOf(client) != null;
  }

  private boolean isFull(SimClient client) {
    return client.session().outbox.isBlocked()
        && simulation.server.sessionOf(client).outbox.isBlocked();
  }
}
