package dev.ringfetch.session.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Tally;
import java.util.List;
import org.junit.jupiter.api.Test;

class PolledSessionsTest {
  private static final long NOW = -7;
  private static final long US = 1_000;

  private final PolledSessions sessions = new PolledSessions(new Tally(Kind.POLLER));
  private final PollerEntry one = new IdleSession().entry;
  private final PollerEntry other = new IdleSession().entry;

  private void poll(PollerEntry entry, long waitedNs) {
    sessions.activate(entry);
    entry.lastWorkNs = NOW - waitedNs;
    entry.awaitsTurn(false, entry.nextTurnNs());
  }

  private void awaitTurn(PollerEntry entry, long untilNs) {
    entry.awaitsTurn(true, NOW + untilNs);
  }

  @Test
  void theLastTakesThePlaceOfTheOneThatGoes() {
    sessions.add(one);
    sessions.add(other);
    sessions.remove(one);
    assertEquals(1, sessions.size());
    assertSame(other, sessions.get(0));
    sessions.remove(one);
    assertEquals(1, sessions.size());
    sessions.remove(other);
    assertEquals(0, sessions.size());
  }

  @Test
  void theLastThatIsPolledTakesThePlaceOfTheOneThatIsDropped() {
    final PollerEntry third = new IdleSession().entry;
    for (final PollerEntry entry : List.of(one, other, third)) {
      sessions.activate(entry);
    }
    sessions.drop(one);
    sessions.drop(one);
    assertEquals(2, sessions.activeCount());
    assertSame(third, sessions.active(0));
    sessions.drop(third);
    assertSame(other, sessions.active(0));
    sessions.activate(one);
    sessions.drop(other);
    assertSame(one, sessions.active(0));
    sessions.drop(one);
    assertEquals(0, sessions.activeCount());
  }

  @Test
  void restsForAQuarterOfWhatTheBusiestHasWaited() {
    poll(one, 200 * US);
    assertEquals(50 * US, sessions.restNs(NOW));
    poll(other, 800 * US);
    assertEquals(50 * US, sessions.restNs(NOW));
    poll(one, 40 * US);
    assertEquals(20 * US, sessions.restNs(NOW));
    poll(one, 1_000_000 * US);
    poll(other, 1_000_000 * US);
    assertEquals(1_000 * US, sessions.restNs(NOW));
  }

  @Test
  void restsNotBeyondTheNextTurn() {
    poll(one, 800 * US);
    poll(other, 800 * US);
    awaitTurn(one, 30 * US);
    other.awaitsTurn(false, NOW + 1); // of a turn that it does not wait for
    assertEquals(30 * US, sessions.restNs(NOW));
    awaitTurn(other, 60 * US);
    assertEquals(30 * US, sessions.restNs(NOW));
    awaitTurn(other, -5);
    assertEquals(0, sessions.restNs(NOW));
  }
}
