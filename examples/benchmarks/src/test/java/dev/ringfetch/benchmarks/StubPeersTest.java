package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("slow")
final class StubPeersTest {
  /** The processes check answers themselves, and say so by failing. */
  @ParameterizedTest
  @EnumSource(names = {"inProcess", "unix", "ringfetch"})
  void callsAreAnsweredInEachModeWithEachExecutor(Peer peer) throws IOException {
    for (final Setup setup : List.of(Setup.direct, Setup.standard)) {
      try (PeerContender contender = peer.start(setup, List.of())) {
        assertEquals(peer.isOneProcess(), contender.isOneProcess());
        for (final Mode mode : Mode.values()) {
          if (peer.takes(mode) && mode.setup() == setup) {
            for (final Load load : Load.of(mode, List.of(32, 65536), List.of(16), false)) {
              final PeerRound round = PeerRound.measure(contender, load, 20);
              assertTrue(round.figures().calls() >= load.inFlight(), round::toString);
              assertEquals(peer.isOneProcess(), round.server().equals(PeerRound.Use.NONE));
            }
          }
        }
        if (setup == Setup.direct) {
          final long calls = contender.run(Load.atRate(1000), 20).calls();
          assertTrue(calls >= 1 && calls <= 20, () -> calls + " calls");
        }
      }
    }
  }
}
