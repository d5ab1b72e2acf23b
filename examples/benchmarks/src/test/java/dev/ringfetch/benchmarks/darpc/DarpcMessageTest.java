package dev.ringfetch.benchmarks.darpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

final class DarpcMessageTest {
  private static final int HEADER = 4;

  @Test
  void travelsBehindDarpcsHeader() {
    final DarpcMessage sent = new DarpcMessage();
    sent.fill(7);
    final ByteBuffer buffer = ByteBuffer.allocateDirect(HEADER + sent.size());
    buffer.position(HEADER);
    assertEquals(32, sent.write(buffer));
    assertEquals(buffer.capacity(), buffer.position());
    buffer.position(HEADER);
    final DarpcMessage received = new DarpcMessage();
    received.update(buffer);
    assertTrue(received.holds(7));
    assertFalse(received.holds(8));
    assertTrue(sent.size() + HEADER <= DarpcServerProcess.INLINE);
  }

  @Test
  void eachWordCounts() {
    final DarpcMessage message = new DarpcMessage();
    final ByteBuffer buffer = ByteBuffer.allocate(message.size());
    for (int i = 0; i < message.size(); i += Long.BYTES) {
      message.fill(7);
      message.write(buffer.clear());
      buffer.putLong(i, -1).clear();
      message.update(buffer);
      assertFalse(message.holds(7), "byte " + i);
    }
  }

  @Test
  void noCallIsTakenForTheEnd() {
    final DarpcMessage message = new DarpcMessage();
    message.fill(1);
    assertFalse(message.holds(DarpcMessage.END));
    message.fill(DarpcMessage.END);
    assertTrue(message.holds(DarpcMessage.END));
  }
}
