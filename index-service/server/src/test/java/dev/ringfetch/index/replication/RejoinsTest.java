package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.Node;
import org.junit.jupiter.api.Test;

/** The pauses before a leader tries again with a node. */
final class RejoinsTest {
  private static final Node NODE = Node.newBuilder().setId(3).setIncarnation(7).build();

  private final Rejoins rejoins = new Rejoins();
  private long nowNs = -5;

  /** The node joins, and is taken out after so long; returns how long it is left alone then. */
  private long stay(long ns) {
    rejoins.joined(NODE, nowNs);
    nowNs += ns;
    rejoins.left(Configurations.member(NODE), nowNs);
    final long beganNs = nowNs;
    while (rejoins.isLeftAlone(NODE, nowNs)) {
      nowNs += Rejoins.FIRST_NS / 2;
    }
    return nowNs - beganNs;
  }

  @Test
  void thePauseDoublesUpToALimitAndEndsWithAStay() {
    rejoins.left(Configurations.member(NODE), nowNs); // it was a member from the begin
    assertFalse(rejoins.isLeftAlone(NODE, nowNs));
    for (long pauseNs = Rejoins.FIRST_NS; pauseNs < Rejoins.LIMIT_NS; pauseNs *= 2) {
      assertEquals(pauseNs, stay(Rejoins.STAY_NS - 1));
    }
    assertEquals(Rejoins.LIMIT_NS, stay(0));
    assertEquals(Rejoins.LIMIT_NS, stay(0));
    assertEquals(0, stay(Rejoins.STAY_NS));
    assertEquals(Rejoins.FIRST_NS, stay(0));
  }

  @Test
  void aProcessThatStartsAnewIsNotLeftAlone() {
    stay(0);
    stay(0);
    rejoins.failed(NODE, nowNs);
    assertTrue(rejoins.isLeftAlone(NODE, nowNs + 4 * Rejoins.FIRST_NS - 1));
    assertFalse(rejoins.isLeftAlone(NODE.toBuilder().setIncarnation(8).build(), nowNs));
    rejoins.failed(NODE.toBuilder().setIncarnation(8).build(), nowNs);
    assertFalse(rejoins.isLeftAlone(NODE, nowNs));
  }

  @Test
  void aNodeThatCannotJoinIsTriedAgainAfterPausesThatGrow() {
    long pauseNs = Rejoins.FIRST_NS;
    for (int failures = 1; failures < 10; failures++) {
      assertEquals(failures, rejoins.failed(NODE, nowNs));
      assertTrue(rejoins.isLeftAlone(NODE, nowNs + pauseNs - 1));
      assertFalse(rejoins.isLeftAlone(NODE, nowNs + pauseNs));
      nowNs += pauseNs;
      pauseNs = Math.min(Rejoins.LIMIT_NS, 2 * pauseNs);
    }
    assertEquals(0, stay(Rejoins.STAY_NS));
    assertEquals(1, rejoins.failed(NODE, nowNs)); // it has been a member since
    assertFalse(rejoins.isLeftAlone(NODE, nowNs + Rejoins.FIRST_NS));
  }
}
