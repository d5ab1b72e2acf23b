package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** How long a node may say nothing, as a replica judges it. */
class SilenceTest {
  private static final long MS = 1_000_000;
  private static final long TIMEOUT_NS = 500 * MS;

  private final Silence silence = new Silence(TIMEOUT_NS, 0);
  private long nowNs;

  /** Messages come at this distance for a while. */
  private void hear(long gapNs, long durationNs) {
    for (final long endNs = nowNs + durationNs; nowNs < endNs; ) {
      nowNs += gapNs;
      assertFalse(silence.isOver(nowNs), "ms=" + nowNs / MS);
      silence.heard(nowNs);
    }
  }

  @Test
  void aNodeIsDeadAfterTheTimeout() {
    hear(50 * MS, 1_000 * MS);
    assertFalse(silence.isOver(nowNs + TIMEOUT_NS));
    assertTrue(silence.isOver(nowNs + TIMEOUT_NS + 1));
  }

  @Test
  void theLimitFollowsTheLongestGapOfTheLastSeconds() {
    hear(300 * MS, 600 * MS);
    hear(50 * MS, 1_000 * MS);
    assertEquals(4 * 300 * MS, silence.limitNs());
    hear(50 * MS, 2 * Silence.WINDOW_NS);
    assertEquals(TIMEOUT_NS, silence.limitNs());
  }

  @Test
  void anOldGapIsForgottenAlsoIfNothingCameSince() {
    hear(300 * MS, 300 * MS);
    silence.restart(nowNs + 10 * Silence.WINDOW_NS);
    silence.heard(nowNs + 10 * Silence.WINDOW_NS);
    assertEquals(TIMEOUT_NS, silence.limitNs());
  }

  @Test
  void anIntervalIsNoGap() {
    silence.interval(200 * MS);
    hear(200 * MS, 2_000 * MS);
    assertEquals(TIMEOUT_NS, silence.limitNs());
    hear(400 * MS, 400 * MS);
    assertEquals(4 * 250 * MS, silence.limitNs());
    silence.interval(1_500 * MS); // of a node with a longer timeout
    assertEquals(2 * 1_500 * MS, silence.limitNs());
  }

  @Test
  void aTimeInWhichAnotherSilenceSpokeIsNoGap() {
    hear(50 * MS, 100 * MS);
    nowNs += 60_000 * MS;
    silence.resume(nowNs - 200 * MS);
    assertFalse(silence.isOver(nowNs));
    silence.heard(nowNs + 300 * MS);
    assertEquals(TIMEOUT_NS, silence.limitNs());
    silence.resume(nowNs);
    assertEquals(300 * MS, nowNs + 600 * MS - silence.heardNs(), "it was heard later");
  }

  @Test
  void theLimitHasALimit() {
    hear(400 * MS, 400 * MS);
    hear(1_500 * MS, 1_500 * MS);
    assertEquals(8 * TIMEOUT_NS, silence.limitNs());
    assertTrue(silence.isOver(nowNs + 8 * TIMEOUT_NS + 1));
  }

  @Test
  void aPauseOfTheReplicaIsNoSilenceButAGap() {
    hear(50 * MS, 100 * MS);
    nowNs += 700 * MS;
    silence.excuse(nowNs, 650 * MS);
    assertFalse(silence.isOver(nowNs));
    assertEquals(50 * MS, silence.sinceNs(nowNs));
    assertEquals(4 * 650 * MS, silence.limitNs());
  }

  @Test
  void anotherNodeIsWaitedForFromNowOn() {
    nowNs = 10 * TIMEOUT_NS;
    silence.restart(nowNs);
    assertFalse(silence.isOver(nowNs + TIMEOUT_NS));
    assertEquals(TIMEOUT_NS, silence.limitNs());
  }
}
