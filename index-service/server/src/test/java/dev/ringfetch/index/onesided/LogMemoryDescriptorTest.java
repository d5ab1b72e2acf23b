package dev.ringfetch.index.onesided;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.journal.RecordDescriptor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The layout of log memory is that of its diagram. */
final class LogMemoryDescriptorTest {
  private static final int LINE = 64;

  @Test
  void wordsStandWhereTheDiagramSays() {
    assertEquals(0, LogMemoryDescriptor.MAGIC_OFFSET);
    assertEquals(8, LogMemoryDescriptor.EPOCH_OFFSET);
    assertEquals(64, LogMemoryDescriptor.BEGIN_OFFSET);
    assertEquals(72, LogMemoryDescriptor.COMMIT_OFFSET);
    assertEquals(80, LogMemoryDescriptor.END_OFFSET);
    assertEquals(128, LogMemoryDescriptor.CONSUMED_OFFSET);
    assertEquals(192, LogMemoryDescriptor.RING_OFFSET);
  }

  @Test
  void leaderAndMemberWriteToLinesOfTheirOwn() {
    assertEquals(LogMemoryDescriptor.BEGIN_OFFSET / LINE, LogMemoryDescriptor.END_OFFSET / LINE);
    assertTrue(LogMemoryDescriptor.END_OFFSET / LINE < LogMemoryDescriptor.CONSUMED_OFFSET / LINE);
    assertTrue(LogMemoryDescriptor.CONSUMED_OFFSET / LINE < LogMemoryDescriptor.RING_OFFSET / LINE);
    assertEquals(0, LogMemoryDescriptor.RING_OFFSET % RecordDescriptor.ALIGNMENT);
  }

  @Test
  void magicIsItsName() {
    final ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(0, LogMemoryDescriptor.MAGIC);
    assertEquals("rflogm1\0", new String(bytes.array(), StandardCharsets.US_ASCII));
  }
}
