package dev.ringfetch.session;

import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** What must hold of a {@link Simulation} when nothing goes wrong any more. */
final class Rest {
  /** For how long nothing may come further while something is awaited; in virtual time. */
  private static final long BOUND_NS = TimeUnit.MILLISECONDS.toNanos(5);

  /** For how long it may take in all: a window of bytes by rings of two slots takes long. */
  private static final long TOTAL_NS = TimeUnit.MILLISECONDS.toNanos(60);

  private static final long SETTLE_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private static final int MAX_STEPS = 400_000;

  private final Simulation simulation;

  Rest(Simulation simulation) {
    this.simulation = simulation;
  }

  void check() {
    await("pending calls end", this::isNothingPending);
    await("a session opens again", () -> simulation.clients.stream().allMatch(SimClient::isOpen));
    await("both sides know of the session, and of no other", this::isPaired);
    settle();
    for (final SimClient client : simulation.clients) {
      checkRings(client);
      checkWhole(client);
      checkStopped(client);
      checkRings(client);
      checkGrowth(client);
      checkStreams(client);
    }
  }

  private boolean isNothingPending() {
    return simulation.clients.stream().allMatch(client -> client.calls.isEmpty())
        && simulation.server.requests.isEmpty()
        && simulation.server.flows.isEmpty();
  }

  private boolean isPaired() {
    return simulation.clients.stream()
            .allMatch(
                client -> client.links().size() == 1 && simulation.server.sessionOf(client) != null)
        && simulation.server.sessions.size() == simulation.clients.size();
  }

  void await(String what, BooleanSupplier condition) {
    final long startNs = simulation.timeline.nowNs();
    long progressNs = startNs;
    long progress = simulation.progress();
    int steps = 0;
    while (!condition.getAsBoolean()) {
      simulation.step();
      final long nowNs = simulation.timeline.nowNs();
      final long now = simulation.progress();
      if (now > progress) {
        progressNs = nowNs;
      }
      progress = now;
      simulation.check(
          nowNs - progressNs < BOUND_NS && nowNs - startNs < TOTAL_NS && ++steps < MAX_STEPS,
          String.format(
              "not in time: %s, standstillNs=%d ns=%d steps=%d",
              what, nowNs - progressNs, nowNs - startNs, steps));
      simulation.throwFailure();
    }
  }

  /** Lets everything under way arrive, and idle threads go to sleep. */
  private void settle() {
    final long untilNs = simulation.timeline.nowNs() + SETTLE_NS;
    for (int steps = 0; simulation.timeline.nowNs() < untilNs && steps < MAX_STEPS / 20; steps++) {
      simulation.step();
    }
    simulation.throwFailure();
  }

  /** All that was written was consumed, and nobody waits for room. */
  private void checkRings(SimClient client) {
    final ClientSession own = client.session();
    final ServerSession other = simulation.server.sessionOf(client);
    simulation.check(own.writePosition() == other.pollPosition(), "request ring is not empty");
    simulation.check(other.writePosition() == own.pollPosition(), "response ring is not empty");
    simulation.check(own.outbox.isEmpty() && other.outbox.isEmpty(), "something is left in line");
    simulation.check(!own.outbox.isBlocked() && !other.outbox.isBlocked(), "blocked at rest");
    simulation.check(
        own.deadlines.earliestNs() == Stream.NO_DEADLINE
            && other.deadlines.earliestNs() == Stream.NO_DEADLINE,
        "a deadline of nobody's");
    simulation.check(other.heldLength() == 0, "held at rest: " + other.heldLength());
    checkBulk(own);
    checkBulk(other);
    simulation.check(other.held.abandoned() == 0, "abandoned at rest: " + other.held.abandoned());
    simulation.throwFailure();
  }

  /** All registered memory is free, or was lost with a call that nobody could answer any more. */
  private void checkBulk(Session session) {
    simulation.check(session.reads.isEmpty(), "reads at rest");
    simulation.check(session.outbox.takeBack(), "released what was never given");
    final long used = session.bulk().usedLength();
    simulation.check(used == 0, "registered memory in use at rest: " + used);
  }

  /** Credit is all there: both rings take as much as they hold, more than once. */
  private void checkWhole(SimClient client) {
    for (int i = 0; i < 3; i++) {
      final int length = Math.min(2 * simulation.sizes.ringLength(), maxLength());
      final byte[] request = simulation.ledger.newRequest(client.channel(), length);
      final SimCall call = client.prepare(request, Stream.NO_DEADLINE);
      simulation.check(call != null, "no stream at rest");
      simulation.throwFailure();
      call.send(i == 2);
      await("a call at rest", this::isNothingPending);
      checkAnswered(call);
      if (call.isSplit()) {
        settle(); // its stream is free when the server has learned
      }
    }
    settle();
  }

  /**
   * Readers that stop hold back their own writers, and nobody else. In the end they go on, or the
   * stream is cancelled, which nothing that waits keeps from its way.
   */
  private void checkStopped(SimClient client) {
    final SplittableRandom random = simulation.timeline.random();
    if (simulation.sizes.isTight()
        || random.nextInt(2 + 2048 / simulation.sizes.ringLength()) != 0) {
      return; // the server would not hold a window; or it is much work for small rings
    }
    final SimShape shape = SimShape.drawFlood(random);
    final SimStreamCall flood = client.prepareStream(shape, Stream.NO_DEADLINE, true);
    flood.send(false);
    await("writers are held back", flood::isHeldBack);
    if (simulation.sizes.maxStreams() > 1) {
      final SimCall stream = client.prepareStream(SimShape.SOME, Stream.NO_DEADLINE, false);
      stream.send(false);
      await("a stream beside one that stands", () -> stream.outcome != null);
      checkAnswered(stream);
      checkAnswered(callNow(client));
    }
    simulation.check(flood.isHeldBack(), "a writer goes on, and no reader has");
    if (random.nextBoolean()) {
      flood.resume();
      await("a stream goes on", () -> flood.outcome != null);
      checkAnswered(flood);
    } else {
      flood.cancel();
    }
    await("a stream ends at both sides", this::isNothingPending);
    settle();
  }

  private void checkAnswered(SimCall call) {
    final Outcome expected = call.isSplit() ? Outcome.TOO_MANY_RESPONSES : Outcome.ANSWERED;
    simulation.check(call.outcome == expected, "at rest: " + call.outcome);
    if (call instanceof SimStreamCall stream) {
      simulation.check(stream.end.hasAll(), "closed at rest");
    }
  }

  private SimCall callNow(SimClient client) {
    final byte[] request = simulation.ledger.newRequest(client.channel(), maxLength());
    final SimCall call = client.prepare(request, Stream.NO_DEADLINE);
    call.send(false);
    await("a call beside one that stands", () -> call.outcome != null);
    return call;
  }

  private int maxLength() {
    return Math.min(simulation.sizes.maxInboundLength(), UnitBuffer.RETAINED_LENGTH);
  }

  /** Another session takes this one's place, which ends when its call has been answered. */
  private void checkGrowth(SimClient client) {
    final ClientSession before = client.session();
    simulation.server.restUntil(Long.MAX_VALUE);
    final byte[] request = simulation.ledger.newRequest(client.channel(), 24);
    final SimCall call = client.prepare(request, Stream.NO_DEADLINE);
    simulation.check(call != null, "no stream for a call that outlives growth");
    simulation.throwFailure();
    call.send(false);
    client.grow();
    await("another session takes its place", () -> client.isOpen() && client.session() != before);
    settle();
    simulation.check(call.outcome == null && !before.hasEnded(), "ended with a call under way");
    simulation.check(
        client.links().size() == 2
            && simulation.server.sessions.size() == simulation.clients.size() + 1,
        "both sides know of both sessions");
    simulation.server.restUntil(0);
    await("a call of a session whose place was taken", this::isNothingPending);
    checkAnswered(call);
    await("both sides know of the session that took its place, alone", this::isPaired);
    simulation.check(before.hasEnded(), "a session whose place was taken has not ended");
    settle();
    checkRings(client);
  }

  /** Every index comes back, once; then the session ends, for another. */
  private void checkStreams(SimClient client) {
    final Set<Integer> indexes = new HashSet<>();
    for (ClientStream stream = client.session().open();
        stream != null;
        stream = client.session().open()) {
      simulation.check(indexes.add(stream.index()), "an index twice");
      simulation.check(stream.state == ClientStream.State.IDLE, "a stream is " + stream.state);
    }
    simulation.check(
        indexes.size() == simulation.sizes.maxStreams(), "indexes left: " + indexes.size());
    final ClientSession before = client.session();
    before.drain();
    await("another session", () -> client.isOpen() && client.session() != before);
    simulation.check(before.hasEnded(), "the session has not ended");
    await("both sides know of the other session alone", this::isPaired);
  }
}
