package dev.ringfetch.session.poller;

import static dev.ringfetch.session.poller.SpinPace.LEAST_NS;
import static dev.ringfetch.session.poller.SpinPace.MAX_BALANCE;
import static dev.ringfetch.session.poller.SpinPace.TRY_GAIN;
import static dev.ringfetch.session.poller.SpinPace.TRY_INTERVAL;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** How long a thread polls before it sleeps, by what its waits came to. */
class SpinPaceTest {
  private static final long SPIN_NS = 50_000;

  private final SpinPace pace = new SpinPace(SPIN_NS);

  private void miss(int waits) {
    for (int i = 0; i < waits; i++) {
      pace.missed();
    }
  }

  /** As many as it takes. */
  private void missUntilShort() {
    for (int i = 0; pace.boundNs() != LEAST_NS; i++) {
      assertTrue(i < MAX_BALANCE);
      pace.missed();
    }
  }

  @Test
  void wholeSpinTimeIsPolledWhereWaitsEndWithinIt() {
    for (int i = 0; i < 1_000; i++) {
      assertEquals(SPIN_NS, pace.boundNs());
      pace.found();
    }
  }

  @Test
  void evenIfOneInTwoDoesNot() {
    for (int i = 0; i < 1_000; i++) {
      pace.missed();
      assertEquals(SPIN_NS, pace.boundNs());
      pace.found();
    }
  }

  @Test
  void thoseThatDoNotAreOverAtLast() {
    assertShortAfter(MAX_BALANCE);
  }

  /** However many have ended in time before. */
  @Test
  void goodTimesAreForgotten() {
    for (int i = 0; i < 1_000; i++) {
      pace.found();
    }
    assertShortAfter(MAX_BALANCE);
  }

  private void assertShortAfter(int waits) {
    for (int i = 1; i < waits; i++) {
      pace.missed();
      assertEquals(SPIN_NS, pace.boundNs());
    }
    pace.missed();
    assertEquals(LEAST_NS, pace.boundNs());
  }

  @Test
  void twoInThreeAreTooMany() {
    for (int i = 0; i < 2 * MAX_BALANCE; i++) {
      pace.missed();
      pace.missed();
      pace.found();
    }
    miss(2);
    assertEquals(LEAST_NS, pace.boundNs());
  }

  /** However many have been in vain before. */
  @Test
  void wholeSpinTimeIsTriedNowAndThen() {
    missUntilShort();
    for (int tries = 0; tries < 10; tries++) {
      int shortWaits = 0;
      while (pace.boundNs() == LEAST_NS) {
        pace.missed();
        shortWaits++;
      }
      assertTrue(shortWaits <= TRY_INTERVAL, "shortWaits=" + shortWaits);
      assertEquals(SPIN_NS, pace.boundNs());
      pace.missed();
      assertEquals(LEAST_NS, pace.boundNs(), "in vain");
    }
  }

  @Test
  void tryThatFindsSomethingIsWorthSomeMore() {
    missUntilShort();
    while (pace.boundNs() == LEAST_NS) {
      pace.missed();
    }
    pace.found();
    for (int i = 0; i < TRY_GAIN; i++) {
      assertEquals(SPIN_NS, pace.boundNs());
      pace.missed();
    }
    assertEquals(LEAST_NS, pace.boundNs());
  }

  @Test
  void whatComesWithinAShortWaitCountsAsOne() {
    missUntilShort();
    pace.found();
    assertEquals(SPIN_NS, pace.boundNs());
    pace.missed();
    assertEquals(LEAST_NS, pace.boundNs());
  }

  @Test
  void noTimeIsNoTime() {
    final SpinPace none = new SpinPace(0);
    for (int i = 0; i < 2 * MAX_BALANCE; i++) {
      assertEquals(0, none.boundNs());
      none.missed();
    }
    none.found();
    assertEquals(0, none.boundNs());
  }

  @Test
  void timeThatIsShorterThanTheLeastIsKept() {
    final SpinPace brief = new SpinPace(LEAST_NS - 1);
    for (int i = 0; i < 2 * MAX_BALANCE; i++) {
      assertEquals(LEAST_NS - 1, brief.boundNs());
      brief.missed();
    }
  }
}
