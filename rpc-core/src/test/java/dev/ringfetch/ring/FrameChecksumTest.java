package dev.ringfetch.ring;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class FrameChecksumTest {
  private static final long EPOCH = 0x1234_5678_9ABC_DEF0L;
  private static final int HEAD_LENGTH = 36;

  /** CRC32C bit by bit, from its definition: reflected, polynomial 0x1EDC6F41. */
  private static int crc32c(byte[] bytes) {
    int crc = -1;
    for (byte b : bytes) {
      crc ^= b & 0xFF;
      for (int bit = 0; bit < Byte.SIZE; bit++) {
        crc = (crc >>> 1) ^ ((crc & 1) == 0 ? 0 : 0x82F63B78);
      }
    }
    return ~crc;
  }

  /** What the checksum covers, as docs/wire-format.md has it. */
  private static byte[] covered(
      long epoch, long position, long word0, long word1, int ack, byte[] payload) {
    return ByteBuffer.allocate(HEAD_LENGTH + payload.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(epoch)
        .putLong(position)
        .putLong(word0)
        .putLong(word1)
        .putInt(ack)
        .put(payload)
        .array();
  }

  @Test
  void checkValueOfTheAlgorithm() {
    assertEquals(0xE3069283, crc32c("123456789".getBytes(US_ASCII)));
  }

  @Test
  void goldenValues() {
    FrameChecksum checksum = new FrameChecksum(EPOCH);
    byte[] text = "  123456789 ".getBytes(US_ASCII);
    long word0 = FrameDescriptor.word0(FrameDescriptor.tag(EPOCH, 7), 9);
    long word1 = FrameDescriptor.word1(0x10007, FrameDescriptor.PREFIX, 0xABCD);
    assertEquals(0x0347CAB4, checksum.of(7, word0, word1, -2, text, 2, 9));
    assertEquals(0x5A3BEB2D, checksum.of(7, word0, word1, -2, null, 0, 9));
    assertEquals(0xFA2626D2, new FrameChecksum(0).of(0, 0, 0, 0, null, 0, 0));
  }

  @Test
  void isThatOfEpochPositionHeaderAndPayload() {
    long seed = Long.getLong("ringfetch.seed", 1);
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 2_000; i++) {
      long epoch = random.nextLong();
      FrameChecksum checksum = new FrameChecksum(epoch);
      for (int frame = 0; frame < 3; frame++) {
        byte[] payload = new byte[random.nextInt(100)];
        random.nextBytes(payload);
        int before = random.nextInt(10);
        byte[] array = new byte[before + payload.length + random.nextInt(10)];
        random.nextBytes(array);
        System.arraycopy(payload, 0, array, before, payload.length);
        long position = random.nextLong();
        long word0 = random.nextLong();
        long word1 = random.nextLong();
        int ack = random.nextInt();
        assertEquals(
            crc32c(covered(epoch, position, word0, word1, ack, payload)),
            checksum.of(position, word0, word1, ack, array, before, payload.length),
            () -> "seed=" + seed);
      }
    }
  }

  @Test
  void everyBitCounts() {
    byte[] payload = new byte[40];
    int whole = new FrameChecksum(EPOCH).of(1, 2, 3, 4, payload, 0, payload.length);
    FrameChecksum checksum = new FrameChecksum(EPOCH);
    for (int bit = 0; bit < Long.SIZE; bit++) {
      long flip = 1L << bit;
      assertNotEquals(whole, new FrameChecksum(EPOCH ^ flip).of(1, 2, 3, 4, payload, 0, 40));
      assertNotEquals(whole, checksum.of(1 ^ flip, 2, 3, 4, payload, 0, 40));
      assertNotEquals(whole, checksum.of(1, 2 ^ flip, 3, 4, payload, 0, 40));
      assertNotEquals(whole, checksum.of(1, 2, 3 ^ flip, 4, payload, 0, 40));
      if (bit < Integer.SIZE) {
        assertNotEquals(whole, checksum.of(1, 2, 3, 4 ^ (int) flip, payload, 0, 40));
      }
    }
    for (int bit = 0; bit < payload.length * Byte.SIZE; bit++) {
      payload[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      assertNotEquals(whole, checksum.of(1, 2, 3, 4, payload, 0, payload.length));
      payload[bit / Byte.SIZE] = 0;
    }
    assertEquals(whole, checksum.of(1, 2, 3, 4, payload, 0, payload.length));
  }
}
