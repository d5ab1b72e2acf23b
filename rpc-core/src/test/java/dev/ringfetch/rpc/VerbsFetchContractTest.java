package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.ReplyMode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The transport contract over RDMA: the client reads the answers. Both sides are in one process, as
 * the contract's tests look into the handlers; what they say goes through the device.
 */
@Tag("verbs")
final class VerbsFetchContractTest extends ChannelContract {
  private static SessionTotals before;

  @Override
  TransportHarness newHarness() {
    return new VerbsHarness(ReplyMode.FETCH);
  }

  @BeforeAll
  static void begin() {
    before = SessionTotals.now();
  }

  @AfterAll
  static void verify() {
    final SessionTotals totals = SessionTotals.now().since(before);
    System.out.println("verbs FETCH: " + totals);
    assertTrue(totals.frames() > 0, "no frames");
    assertTrue(totals.fetches() > totals.misses(), "no answers fetched");
  }
}
