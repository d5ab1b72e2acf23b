package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.fabric.DirectRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Ties the layouts' constants to their diagrams and to the bytes that stand in memory. */
class LayoutTest {
  private static final Path SOURCES = Path.of("src/main/java/dev/ringfetch/memory");

  /**
   * The fields of a descriptor's diagrams with their offsets, each diagram's from 0. A row has 32
   * bits; one that ends with "..." has as many bytes as its text begins with.
   */
  private static Map<String, Integer> drawn(Class<?> descriptor) throws IOException {
    Map<String, Integer> offsets = new HashMap<>();
    int offset = 0;
    for (String line : Files.readAllLines(SOURCES.resolve(descriptor.getSimpleName() + ".java"))) {
      if (line.contains("<pre>")) {
        offset = 0;
      }
      Matcher row = Pattern.compile(" \\*  \\|(.*?)(\\||\\.\\.\\.)$").matcher(line);
      if (row.find()) {
        String name = row.group(1).strip();
        if (!name.isEmpty()) {
          offsets.put(name, offset);
        }
        Matcher bytes = Pattern.compile("^(\\d+) bytes").matcher(name);
        offset += bytes.find() ? Integer.parseInt(bytes.group(1)) : Integer.BYTES;
      }
    }
    return offsets;
  }

  @Test
  void valueIsAsDrawn() throws IOException {
    Map<String, Integer> drawn = drawn(ValueDescriptor.class);
    assertEquals(drawn.get("Version"), ValueDescriptor.VERSION_OFFSET);
    assertEquals(drawn.get("4 Slots"), ValueDescriptor.SLOTS_OFFSET);
    assertEquals(4, ValueDescriptor.SLOTS);
    assertEquals(drawn.get("Version of slot"), ValueDescriptor.SLOT_VERSION_OFFSET);
    assertEquals(drawn.get("Length"), ValueDescriptor.LENGTH_OFFSET);
    assertEquals(drawn.get("Crc32c"), ValueDescriptor.CRC_OFFSET);
    assertEquals(drawn.get("Value"), ValueDescriptor.VALUE_OFFSET);
    assertEquals(64, ValueDescriptor.slotLength(48));
    assertEquals(128, ValueDescriptor.slotLength(49));
    assertEquals(64 + 4 * 128, ValueDescriptor.memoryLength(49));
    assertEquals(64 + 3 * 128, ValueDescriptor.slotOffset(7, 49));
  }

  @Test
  void valueStandsInMemoryAsDrawn() {
    DirectRegion memory = new DirectRegion(ValueDescriptor.memoryLength(16));
    ValueWriter writer = new ValueWriter(memory, 16, 4);
    writer.buffer().putLong(0x1122334455667788L).put((byte) 9);
    writer.write();
    assertEquals(5, memory.getLong(ValueDescriptor.VERSION_OFFSET));
    int slot = ValueDescriptor.SLOTS_OFFSET + 64;
    assertEquals(5, memory.getLong(slot + ValueDescriptor.SLOT_VERSION_OFFSET));
    assertEquals(9, memory.getInt(slot + ValueDescriptor.LENGTH_OFFSET));
    CRC32C crc = new CRC32C();
    crc.update(new byte[] {5, 0, 0, 0, 0, 0, 0, 0});
    byte[] bytes = {(byte) 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 9};
    crc.update(bytes);
    assertEquals((int) crc.getValue(), memory.getInt(slot + ValueDescriptor.CRC_OFFSET));
    byte[] stored = new byte[9];
    memory.getBytes(slot + ValueDescriptor.VALUE_OFFSET, stored, 0, 9);
    assertEquals(ByteBuffer.wrap(bytes), ByteBuffer.wrap(stored));
    writer.close();
    assertEquals(ValueDescriptor.CLOSED, memory.getLong(ValueDescriptor.VERSION_OFFSET));
  }

  @Test
  void broadcastIsAsDrawn() throws IOException {
    Map<String, Integer> drawn = drawn(BroadcastDescriptor.class);
    assertEquals(drawn.get("Intent"), BroadcastDescriptor.INTENT_OFFSET);
    assertEquals(drawn.get("Tail"), BroadcastDescriptor.TAIL_OFFSET);
    assertEquals(drawn.get("Latest"), BroadcastDescriptor.LATEST_OFFSET);
    assertEquals(drawn.get("Ring"), BroadcastDescriptor.RING_OFFSET);
    assertEquals(drawn.get("Length"), BroadcastDescriptor.LENGTH_OFFSET);
    assertEquals(drawn.get("Sequence"), BroadcastDescriptor.SEQUENCE_OFFSET);
    assertEquals(drawn.get("Message"), BroadcastDescriptor.MESSAGE_OFFSET);
    assertEquals(24, BroadcastDescriptor.recordLength(1));
    assertEquals(16, BroadcastDescriptor.recordLength(0));
    assertEquals(1024 - 16, BroadcastDescriptor.maxMessageLength(4096));
  }

  @Test
  void recordsStandInMemoryAsDrawn() {
    int ring = BroadcastDescriptor.MIN_RING_LENGTH;
    DirectRegion memory = new DirectRegion(BroadcastDescriptor.memoryLength(ring));
    BroadcastWriter writer = new BroadcastWriter(memory, ring);
    for (int i = 0; i < 5; i++) { // 4 of 1000 bytes, and one that would wrap
      writer.buffer().putLong(i).position(984);
      writer.write();
    }
    int second = BroadcastDescriptor.RING_OFFSET + 1000;
    assertEquals(984, memory.getLong(second + BroadcastDescriptor.LENGTH_OFFSET));
    assertEquals(1, memory.getLong(second + BroadcastDescriptor.SEQUENCE_OFFSET));
    assertEquals(1, memory.getLong(second + BroadcastDescriptor.MESSAGE_OFFSET));
    assertEquals(
        BroadcastDescriptor.PADDING, memory.getInt(BroadcastDescriptor.RING_OFFSET + 4000));
    assertEquals(4, memory.getLong(BroadcastDescriptor.RING_OFFSET + 8));
    assertEquals(ring + 1000, memory.getLong(BroadcastDescriptor.INTENT_OFFSET));
    assertEquals(ring + 1000, memory.getLong(BroadcastDescriptor.TAIL_OFFSET));
    assertEquals(ring, memory.getLong(BroadcastDescriptor.LATEST_OFFSET));
    writer.close();
    assertEquals(BroadcastDescriptor.CLOSED, memory.getLong(BroadcastDescriptor.TAIL_OFFSET));
  }
}
