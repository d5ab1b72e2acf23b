package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.ReplyMode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The transport contract over rings between sides that have memory of their own, as over RDMA: the
 * client reads the answers.
 */
@Tag("slow")
final class RemoteFetchContractTest extends ChannelContract {
  private static SessionTotals before;

  @Override
  TransportHarness newHarness() {
    return new RemoteHarness(ReplyMode.FETCH);
  }

  @BeforeAll
  static void begin() {
    before = SessionTotals.now();
  }

  @AfterAll
  static void verify() {
    final SessionTotals totals = SessionTotals.now().since(before);
    System.out.println("FETCH: " + totals);
    assertTrue(totals.frames() > 0, "no frames");
    assertTrue(totals.fetches() > totals.misses(), "no answers fetched");
  }
}
