package dev.ringfetch.examples.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.rdma.natives.ConnectionManager;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

final class BareGreetingTest {
  @Test
  void comesBackAsItWas() {
    final ByteBuffer buffer = ByteBuffer.allocate(2 * BareGreeting.LENGTH);
    for (final BareMode mode : BareMode.values()) {
      final BareGreeting greeting = new BareGreeting(mode, 0x7FFF_0123_4567_89A8L, -2, 0xABCDEF);
      greeting.encode(buffer, 8);
      assertEquals(greeting, BareGreeting.decode(buffer, 8));
    }
  }

  @Test
  void fitsIntoThePrivateData() {
    assertTrue(BareGreeting.LENGTH <= ConnectionManager.CONNECT_DATA);
    assertTrue(BareGreeting.LENGTH <= ConnectionManager.ACCEPT_DATA);
  }

  @Test
  void unknownModeIsRefused() {
    final ByteBuffer zeros = ByteBuffer.allocate(BareGreeting.LENGTH);
    assertThrows(IllegalArgumentException.class, () -> BareGreeting.decode(zeros, 0));
  }
}
