package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.ReplyMode;
import org.junit.jupiter.api.BeforeAll;

/** {@link ChannelContract} behind network cards: the answers come as the mode says. */
abstract class RemoteContract extends ChannelContract {
  private static SessionTotals before;

  @BeforeAll
  static void begin() {
    before = SessionTotals.now();
  }

  /** After all tests of a class. */
  static void verify(String fabric, ReplyMode mode) {
    final SessionTotals totals = SessionTotals.now().since(before);
    System.out.println(fabric + " " + mode + ": " + totals);
    assertTrue(totals.frames() > 0, "no frames");
    if (mode == ReplyMode.FETCH) {
      assertTrue(totals.fetches() > totals.misses(), "no answers fetched");
    } else if (mode == ReplyMode.ADAPTIVE) {
      assertTrue(totals.turns() > 0, "no client has tried another way");
    } else if (mode == ReplyMode.DATAGRAM) {
      assertTrue(totals.hints() > 0, "no answers in datagrams");
    }
  }
}
