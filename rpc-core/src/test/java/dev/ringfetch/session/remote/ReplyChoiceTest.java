package dev.ringfetch.session.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.ring.ProcessTime;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.agrona.concurrent.NanoClock;
import org.junit.jupiter.api.Test;

final class ReplyChoiceTest {
  private static final int ID = 7;
  private static final int OTHER = 8;

  private final long seed = Long.getLong("ringfetch.seed", 1);
  private final SplittableRandom random = new SplittableRandom(seed);
  private long nowNs;
  private final ReplyChoice choice =
      new ReplyChoice((NanoClock) () -> nowNs, ReplyChoice.TRIAL_CALLS, seed);
  private int turns;
  private int fetched;
  private int calls;

  /** Calls that take so long in either mode, in nanoseconds, beside what the handler takes. */
  private void calls(int count, long fetchNs, long pushNs, long processNs) {
    fetched = 0;
    calls = count;
    for (int i = 0; i < count; i++) {
      final boolean fetches = choice.fetches();
      choice.onSent(ID);
      nowNs += (fetches ? fetchNs : pushNs) + processNs;
      choice.onAnswered(ID, ProcessTime.code(0, processNs));
      fetched += fetches ? 1 : 0;
      turns += fetches == choice.fetches() ? 0 : 1;
    }
  }

  private String figures() {
    return "seed=" + seed + " fetched=" + fetched + " of " + calls + " turns=" + turns;
  }

  @Test
  void beginsToFetch() {
    assertTrue(choice.fetches());
  }

  @Test
  void comesToBePushedToWhereThatIsFaster() {
    calls(100, 90_000, 60_000, 5_000);
    assertTrue(fetched < 100, this::figures);
    calls(5_000, 90_000, 60_000, 5_000);
    assertTrue(fetched < 400, this::figures);
  }

  @Test
  void staysWithFetchingWhereThatIsFaster() {
    calls(5_000, 6_000, 16_000, 0);
    assertTrue(fetched > 4_800, this::figures); // what is hopeless ends early
    calls(1_000, 6_000, 8_000, 0);
    assertTrue(fetched > 900, this::figures);
    turns = 0;
    calls(1_000, 6_000, 6_400, 0);
    assertTrue(fetched > 900, this::figures);
  }

  @Test
  void triesLessOftenTheOftenerThatWasInVain() {
    calls(1_000, 6_000, 7_000, 0);
    final int first = turns;
    assertTrue(first >= 4, this::figures);
    turns = 0;
    calls(1_000, 6_000, 7_000, 0);
    assertTrue(turns > 0 && turns < first, this::figures);
  }

  @Test
  void doesNotFetchForNextToNothingWhereHandlersTakeLong() {
    calls(10_000, 4_000, 6_000, 100_000); // two of a hundred
    assertFalse(choice.fetches() && fetched > 1_000, this::figures);
    assertTrue(fetched < 1_500, this::figures);
  }

  @Test
  void turnsSoonWhenSomethingChanges() {
    calls(20_000, 5_000, 16_000, 0);
    turns = 0;
    calls(400, 90_000, 30_000, 0);
    assertTrue(fetched < 300, this::figures);
    calls(20_000, 90_000, 30_000, 0);
    calls(400, 4_000, 12_000, 0);
    assertTrue(fetched > 100, this::figures);
  }

  @Test
  void turnsSoonWhenHandlersTakeAnotherTime() {
    calls(20_000, 6_000, 3_000, 30_000);
    calls(400, 6_000, 16_000, 0);
    assertTrue(fetched > 100, this::figures);
  }

  @Test
  void onePauseDoesNotDecide() {
    int wrong = 0;
    for (int i = 0; i < 100; i++) {
      calls(90 + random.nextInt(20), 6_000, 10_000, 0);
      choice.onSent(ID);
      nowNs += 50_000_000;
      choice.onAnswered(ID, 0);
      calls(1_000, 6_000, 10_000, 0);
      wrong += fetched < 700 ? 1 : 0;
    }
    assertEquals(0, wrong, "seed=" + seed);
  }

  @Test
  void measuresOneCallAtATime() {
    choice.onSent(ID);
    choice.onSent(OTHER); // is not measured
    nowNs += 1_000_000_000;
    choice.onAnswered(OTHER, 0);
    choice.onClosed(ID); // nor is one that is not answered
    calls(20_000, 6_000, 10_000, 0);
    assertTrue(fetched > 19_000, this::figures);
  }

  @Test
  void aCallThatWaitsForeverIsGivenUp() {
    choice.onSent(OTHER);
    calls(10_000, 90_000, 40_000, 0);
    assertTrue(fetched > 3_000 && fetched < 5_000, this::figures);
  }

  @Test
  void handlersOfWhichSomeTakeLongDoNotKeepItFromTrying() {
    int slow = 0;
    int all = 0;
    for (int i = 0; i < 500; i++) {
      calls(9, 90_000, 40_000, 5_000);
      all += fetched;
      calls(1, 90_000, 40_000, 500_000);
      slow += fetched;
    }
    assertTrue(all < 1_500, "seed=" + seed + " fetched=" + all + " and " + slow);
  }

  @Test
  void aServerThatClaimsMoreThanTheWholeTimeClaimsTheWholeTime() {
    for (int i = 0; i < 10_000; i++) {
      choice.onSent(ID);
      nowNs += choice.fetches() ? 6_000 : 9_000;
      choice.onAnswered(ID, 0xFF00);
    }
    calls(10_000, 6_000, 16_000, 0);
    assertTrue(fetched > 9_000, this::figures);
  }

  @Test
  void sessionsTryAtTimesOfTheirOwn() {
    final Set<Integer> first = new HashSet<>();
    for (int i = 0; i < 16; i++) {
      final ReplyChoice other = new ReplyChoice(() -> nowNs, ReplyChoice.TRIAL_CALLS, seed + i);
      int before = 0;
      while (other.fetches()) {
        other.onSent(ID);
        nowNs += 1_000;
        other.onAnswered(ID, 0);
        before++;
      }
      first.add(before);
    }
    assertTrue(first.size() > 4, "seed=" + seed + " " + first);
  }
}
