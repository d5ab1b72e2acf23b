package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pauses between attempts: which refusals hold, and until when. */
final class ReconnectPolicyTest {
  private final ReconnectPolicy policy = new ReconnectPolicy(true);

  @Test
  void aRefusalForGoodHoldsUntilThereIsAnotherConnection() {
    policy.refused("the server has no Ringfetch", ReconnectPolicy.UNTIL_CONNECTED_NS);
    assertEquals(Backoff.MAX_NS, policy.pauseNs());
    policy.skip();
    assertEquals(Backoff.MAX_NS, policy.pauseNs(), "the pause alone has ended");
    policy.connected();
    assertTrue(policy.pauseNs() <= 0);
  }

  @Test
  void equalRefusalsHoldAfterAWhile() {
    for (int i = 0; i < 8; i++) {
      policy.refused("another host", Backoff.MAX_NS);
      policy.skip();
      assertTrue(policy.pauseNs() <= 0, "refusal " + i);
    }
    policy.refused("another reason", Backoff.MAX_NS);
    policy.skip();
    assertTrue(policy.pauseNs() <= 0, "the reason has changed");
    for (int i = 0; i < 8; i++) {
      policy.refused("another reason", Backoff.MAX_NS);
    }
    policy.skip();
    assertEquals(Backoff.MAX_NS, policy.pauseNs());
    policy.reset();
    assertTrue(policy.pauseNs() <= 0);
  }

  @Test
  void whereConnectionsAreUnknownNothingHoldsForGood() {
    final ReconnectPolicy single = new ReconnectPolicy(false);
    single.refused("the server has no Ringfetch", ReconnectPolicy.UNTIL_CONNECTED_NS);
    single.skip();
    assertTrue(single.pauseNs() <= 0);
  }

  @Test
  void flushesBecomeRareAndDoNotEnd() {
    final List<Integer> flushes = new ArrayList<>();
    for (int look = 1; look <= 200; look++) {
      if (policy.mayFlush()) {
        flushes.add(look);
      }
    }
    assertEquals(List.of(1, 2, 4, 8, 16, 32, 64, 128, 192), flushes);
    policy.onStreamEnded();
    assertTrue(policy.mayFlush(), "another stream has ended");
  }
}
