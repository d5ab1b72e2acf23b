package dev.ringfetch.session.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.ring.ProcessTime;
import org.agrona.concurrent.NanoClock;
import org.junit.jupiter.api.Test;

/** When a client tries the other way to get its answers, for how long, and what it makes of it. */
class ReplyTrialTest {
  private static final int ID = 7;
  private static final int OTHER = 8;
  private static final int TRIAL = ReplyChoice.TRIAL_CALLS;
  private static final int FIRST = 2 * TRIAL; // calls until a trial, a half more or less
  private static final int MAX_PASSED = 4096;
  private static final int MANY = 100_000;
  private static final int SEEDS = 1_000;
  private static final long PAUSE_NS = 50_000_000;

  private final long seed = Long.getLong("ringfetch.seed", 1);
  private ReplyChoice choice = create(0);
  private long nowNs;
  private int looks; // at the clock

  private ReplyChoice create(int number) {
    choice = new ReplyChoice((NanoClock) this::clock, TRIAL, seed + number);
    return choice;
  }

  private long clock() {
    looks++;
    return nowNs;
  }

  private String seed() {
    return "seed=" + seed;
  }

  /** A call that takes so long beside what the handler takes, in nanoseconds. */
  private void call(long ownNs, long processNs) {
    choice.onSent(ID);
    nowNs += ownNs + processNs;
    choice.onAnswered(ID, ProcessTime.code(0, processNs));
  }

  private void calls(int count, long fetchNs, long pushNs, long processNs) {
    for (int i = 0; i < count; i++) {
      call(choice.fetches() ? fetchNs : pushNs, processNs);
    }
  }

  /** How many calls it takes until it takes the other mode. */
  private int callsUntilTurn(long fetchNs, long pushNs, long processNs) {
    final boolean before = choice.fetches();
    for (int count = 1; count < MANY; count++) {
      call(before ? fetchNs : pushNs, processNs);
      if (choice.fetches() != before) {
        return count;
      }
    }
    throw new AssertionError("no turn, " + seed());
  }

  /** The trial that comes next, and its end. */
  private void trial(long fetchNs, long pushNs, long processNs) {
    callsUntilTurn(fetchNs, pushNs, processNs);
    calls(TRIAL + 1, fetchNs, pushNs, processNs);
  }

  @Test
  void firstTrialBeginsAfterTwoOfThemAHalfMoreOrLess() {
    int least = MANY;
    int most = 0;
    int sum = 0;
    for (int i = 0; i < SEEDS; i++) {
      create(i);
      final int calls = callsUntilTurn(9_000, 9_000, 0);
      least = Math.min(least, calls);
      most = Math.max(most, calls);
      sum += calls;
    }
    assertEquals(FIRST - TRIAL, least, this::seed);
    assertEquals(FIRST + TRIAL, most, this::seed);
    final int mean = sum / SEEDS;
    assertTrue(Math.abs(mean - FIRST) <= 2, () -> "mean=" + mean + " " + seed());
  }

  @Test
  void trialTakesItsCallsAndOneThatCountsForNothing() {
    callsUntilTurn(6_000, 7_000, 0);
    assertEquals(TRIAL + 1, callsUntilTurn(6_000, 7_000, 0));
  }

  @Test
  void hopelessTrialEndsAfterAQuarter() {
    callsUntilTurn(6_000, 90_000, 0);
    assertEquals(TRIAL / 4 + 1, callsUntilTurn(6_000, 90_000, 0));
  }

  @Test
  void twiceAsMuchIsNotHopeless() {
    callsUntilTurn(6_000, 12_000, 0);
    assertEquals(TRIAL + 1, callsUntilTurn(6_000, 12_000, 0));
  }

  /** Exactly as much as it may be worse: it fetches on. */
  @Test
  void whatIsNotBetterIsNotKept() {
    trial(6_000, 6_180, 0);
    assertTrue(choice.fetches());
    trial(6_000, 6_179, 0);
    assertFalse(choice.fetches());
  }

  @Test
  void nextTrialBeginsAfterTwiceAsManyCalls() {
    for (int i = 0; i < SEEDS; i++) {
      create(i);
      trial(6_000, 9_000, 0);
      final int calls = callsUntilTurn(6_000, 9_000, 0);
      assertTrue(calls >= FIRST && calls <= 3 * FIRST, () -> "calls=" + calls + " " + seed());
    }
  }

  @Test
  void trialsDoNotBecomeSeldomerForEver() {
    calls(MANY, 6_000, 9_000, 0);
    int trials = 0;
    for (int calls = 0; calls < MANY / 10; ) {
      calls += callsUntilTurn(6_000, 9_000, 0);
      trials++;
    }
    final int turns = trials;
    assertTrue(turns > 10, () -> "turns=" + turns + " " + seed());
  }

  /** A pause of a process, or of a handler, before a trial or in the midst of it. */
  @Test
  void onePauseDoesNotDecideATrial() {
    for (int i = 0; i < SEEDS; i++) {
      create(i);
      calls(FIRST - TRIAL - 1, 6_000, 10_000, 0);
      call(PAUSE_NS, 0);
      trial(6_000, 10_000, 0);
      assertTrue(choice.fetches(), this::seed);

      create(i);
      calls(FIRST - TRIAL - 1, 6_000, 10_000, 0);
      call(6_000, PAUSE_NS);
      trial(6_000, 10_000, 0);
      assertTrue(choice.fetches(), this::seed);

      create(i);
      calls(FIRST - TRIAL - 1, 16_000, 6_000, 0);
      call(16_000, PAUSE_NS);
      trial(16_000, 6_000, 0);
      assertFalse(choice.fetches(), this::seed);

      create(i);
      callsUntilTurn(16_000, 6_000, 0);
      calls(3, 16_000, 6_000, 0);
      call(PAUSE_NS, 0);
      calls(TRIAL, 16_000, 6_000, 0);
      assertFalse(choice.fetches(), this::seed);
    }
  }

  /** The first call is one of several. */
  @Test
  void slowFirstCallDoesNotDecideATrial() {
    for (int i = 0; i < SEEDS; i++) {
      create(i);
      call(9_500, 0);
      trial(6_000, 8_000, 0);
      assertTrue(choice.fetches(), this::seed);
    }
  }

  /** What is slower by less than what counts as a change. */
  @Test
  void whatWasLongAgoDoesNotDecideATrial() {
    calls(5_000, 6_000, 7_500, 0);
    trial(6_000, 7_500, 0);
    assertTrue(choice.fetches(), this::seed);
    calls(200, 8_500, 8_500, 0);
    trial(8_500, 7_500, 0);
    assertFalse(choice.fetches(), this::seed);
  }

  @Test
  void handlersThatBeginToTakeTimeAreNoticed() {
    calls(100, 4_000, 6_000, 0);
    calls(5_000, 4_000, 6_000, 100_000);
    int fetched = 0;
    for (int i = 0; i < 5_000; i++) {
      fetched += choice.fetches() ? 1 : 0;
      calls(1, 4_000, 6_000, 100_000);
    }
    final int all = fetched;
    assertTrue(all < 2_000, () -> "fetched=" + all + " " + seed());
  }

  @Test
  void callsThatBecomeFasterHaveItTrySoon() {
    for (int i = 0; i < SEEDS / 10; i++) {
      create(i);
      calls(20_000, 60_000, 90_000, 0);
      if (!choice.fetches()) {
        callsUntilTurn(60_000, 90_000, 0); // a trial
      }
      final int calls = callsUntilTurn(20_000, 90_000, 0);
      assertTrue(calls < 100, () -> "calls=" + calls + " " + seed());
    }
  }

  /** Though calls take as long as before. */
  @Test
  void anotherShareOfTheHandlersHasItTrySoon() {
    for (int i = 0; i < SEEDS / 10; i++) {
      create(i);
      calls(20_000, 20_000, 40_000, 1_000);
      if (!choice.fetches()) {
        callsUntilTurn(20_000, 40_000, 1_000); // a trial
      }
      final int calls = callsUntilTurn(11_000, 30_000, 10_000);
      assertTrue(calls < 100, () -> "calls=" + calls + " " + seed());
    }
  }

  /** Each change would put it off. */
  @Test
  void whatChangesAllTheTimeDoesNotKeepItFromTrying() {
    for (int i = 0; i < SEEDS / 10; i++) {
      create(i);
      int calls = 0;
      while (choice.fetches()) {
        call(calls / TRIAL % 2 == 0 ? 6_000 : 60_000, 0);
        calls++;
      }
      final int all = calls;
      assertTrue(all <= FIRST + TRIAL, () -> "calls=" + all + " " + seed());
    }
  }

  /** It would be a gain that is larger than all that there is. */
  @Test
  void serverThatClaimsTooMuchOnceDoesNotDecide() {
    calls(FIRST - TRIAL - 1, 90_000, 60_000, 5_000);
    choice.onSent(ID);
    nowNs += 95_000;
    choice.onAnswered(ID, 0xFF00);
    trial(90_000, 60_000, 5_000);
    assertFalse(choice.fetches(), this::seed);
  }

  /** A measurement reads the clock. */
  @Test
  void callThatIsMeasuredIsFollowedByAnother() {
    choice.onSent(ID);
    choice.onSent(OTHER);
    assertEquals(1, looks);
    choice.onClosed(ID);
    choice.onSent(OTHER);
    assertEquals(2, looks, "what was measured has ended");
    for (int i = 0; i < MAX_PASSED; i++) {
      choice.onClosed(ID);
    }
    choice.onSent(ID);
    assertEquals(2, looks);
    choice.onClosed(ID);
    choice.onSent(ID);
    assertEquals(3, looks, "given up");
  }
}
