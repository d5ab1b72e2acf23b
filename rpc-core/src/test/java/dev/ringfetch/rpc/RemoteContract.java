package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** {@link ChannelContract} behind network cards: the answers come as the mode says. */
@TestInstance(Lifecycle.PER_CLASS) // which knows its mode after all of its tests
abstract class RemoteContract extends ChannelContract {
  private final String fabric;
  private final ReplyMode mode;
  private final Function<ReplyMode, TransportHarness> harnesses;
  private SessionTotals before;

  RemoteContract(String fabric, ReplyMode mode, Function<ReplyMode, TransportHarness> harnesses) {
    this.fabric = fabric;
    this.mode = mode;
    this.harnesses = harnesses;
  }

  @Override
  final TransportHarness newHarness() {
    return harnesses.apply(mode);
  }

  @BeforeAll
  void begin() {
    before = SessionTotals.now();
  }

  @AfterAll
  void verify() {
    final SessionTotals totals = SessionTotals.now().since(before);
    System.out.println(fabric + " " + mode + ": " + totals);
    assertTrue(totals.frames() > 0, "no frames");
    switch (mode) {
      case FETCH -> assertTrue(totals.fetches() > totals.misses(), "no answers fetched");
      case PUSH -> assertTrue(totals.fetches() < totals.frames() / 2, "answers were fetched");
      case DATAGRAM -> assertTrue(totals.hints() > 0, "no answers in datagrams");
      case ADAPTIVE -> assertTrue(totals.turns() > 0, "no client has tried another way");
    }
  }
}
