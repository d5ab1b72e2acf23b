package dev.ringfetch.examples.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import java.util.Random;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;

/** The bytes of records: read as they were written, and refused where they are no record. */
final class PayloadTest {
  private static byte[] random(Random random, int most) {
    if (random.nextInt(4) == 0) {
      return null;
    }
    final byte[] bytes = new byte[random.nextInt(most)];
    random.nextBytes(bytes);
    return bytes;
  }

  private static Payload payload(Random random) {
    final RecordHeaders headers = new RecordHeaders();
    for (int i = random.nextInt(4); i > 0; i--) {
      headers.add("häder-" + random.nextInt(100), random(random, 20));
    }
    return new Payload(random(random, 50), random(random, 300), headers);
  }

  @Test
  void isReadAsItWasWritten() {
    final long seed = Long.getLong("ringfetch.seed", 1);
    final Random random = new Random(seed);
    for (int i = 0; i < 2_000; i++) {
      final Payload written = payload(random);
      final Payload read = Payload.decoded(written.encoded());
      final String text = "seed=" + seed + " payload=" + i;
      assertArrayEquals(written.key(), read.key(), text);
      assertArrayEquals(written.value(), read.value(), text);
      assertEquals(written.headers(), read.headers(), text);
    }
  }

  @Test
  void anyPartOfOneIsRefused() {
    final long seed = Long.getLong("ringfetch.seed", 1);
    final Random random = new Random(seed);
    for (int i = 0; i < 50; i++) {
      final ByteString whole = payload(random).encoded();
      for (int length = 0; length < whole.size(); length++) {
        final ByteString part = whole.substring(0, length);
        assertThrows(
            IllegalArgumentException.class,
            () -> Payload.decoded(part),
            () -> "seed=" + seed + " length=" + part.size());
      }
    }
  }

  @Test
  void aHeaderWithoutAKeyIsRefused() {
    final RecordHeaders headers = new RecordHeaders();
    headers.add("a", null);
    final byte[] bytes = new Payload(null, null, headers).encoded().toByteArray();
    final int length = Payload.length(null, null); // where the length of the header's key stands
    bytes[length] = -1;
    bytes[length + 1] = -1;
    assertThrows(IllegalArgumentException.class, () -> Payload.decoded(ByteString.copyFrom(bytes)));
  }

  @Test
  void changedBytesAreRefusedOrReadButTakeNoMoreThanThereIs() {
    final long seed = Long.getLong("ringfetch.seed", 1);
    final Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      final byte[] bytes = payload(random).encoded().toByteArray();
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      try {
        final Payload read = Payload.decoded(ByteString.copyFrom(bytes));
        final int taken = Payload.length(read.key(), read.value());
        assertEquals(true, taken <= bytes.length, "seed=" + seed + " payload=" + i);
      } catch (IllegalArgumentException e) {
        // It is refused.
      }
    }
  }
}
