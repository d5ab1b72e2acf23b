package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class CompilersTest {
  @Tag("slow")
  @Test
  void haveWorkWhereJvmsStartAndNoneWithoutAny() throws IOException {
    final Compilers compilers = new Compilers();
    try (PeerContender peer = Peer.ringfetch.start(Setup.bare, List.of())) {
      final Load load = Load.of(Mode.ring, List.of(32), List.of(16), true).get(0);
      final var unused = PeerRound.measure(peer, load, 200);
      assertTrue(compilers.share() > 0);
    }
    assertEquals(0, compilers.share());
  }
}
