package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.unit.UnitBuffer;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RingPeerTest {
  /** The client's process checks each answer itself, and says so by failing. */
  @Test
  void callsAreAnsweredOneByOneAndManyAtOnce() throws IOException {
    try (PeerContender peer = Peer.ringfetch.start(Setup.bare, List.of())) {
      for (final Load load :
          Load.of(Mode.ring, List.of(32, 1024, 65536, 1048576), List.of(16, 64), true)) {
        final PeerRound round = PeerRound.measure(peer, load, 20);
        assertTrue(round.figures().calls() >= load.inFlight(), () -> load + ": " + round);
      }
    }
  }

  @Test
  void messagesSayWhichTheyAre() {
    final UnitBuffer request = new UnitBuffer();
    RingMessage.putRequest(request, 1024, -7);
    assertEquals(RingMessage.REQUEST_LENGTH, request.length());
    assertEquals(1024, RingMessage.lengthOf(request));
    assertEquals(-7, RingMessage.numberOf(request));
  }

  @Test
  void whatIsNoAnswerIsSeen() {
    final UnitBuffer answer = new UnitBuffer();
    final byte[] value = RingMessage.value(32);
    answer.addInt(5);
    answer.addBytes(value, Integer.BYTES, value.length - Integer.BYTES);
    assertTrue(RingMessage.isAnswer(answer, 32, 5));
    assertFalse(RingMessage.isAnswer(answer, 32, 6));
    assertFalse(RingMessage.isAnswer(answer, 31, 5));
    answer.array()[answer.offset() + 31]++;
    assertFalse(RingMessage.isAnswer(answer, 32, 5));
  }
}
