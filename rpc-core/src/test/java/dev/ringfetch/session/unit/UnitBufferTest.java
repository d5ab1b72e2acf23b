package dev.ringfetch.session.unit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class UnitBufferTest {
  private final UnitBuffer unit = new UnitBuffer();

  private byte[] bytes() {
    return Arrays.copyOfRange(unit.array(), unit.offset(), unit.offset() + unit.length());
  }

  @Test
  void numbersAreLittleEndian() {
    unit.addShort(0x0201);
    unit.addInt(0x06050403);
    unit.addLong(0x0E0D0C0B0A090807L);
    assertArrayEquals(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, bytes());
    assertEquals(0x0E0D0C0B0A090807L, unit.getLong(6));
    assertEquals(0x0201, unit.view().getShort());
    assertEquals(14, unit.view().remaining());
  }

  @Test
  void memoryIsKeptUpToALimit() {
    unit.extend(UnitBuffer.RETAINED_LENGTH - UnitBuffer.HEADROOM);
    byte[] kept = unit.array();
    assertEquals(UnitBuffer.RETAINED_LENGTH, kept.length);
    unit.clear();
    assertSame(kept, unit.array());
    unit.extend(UnitBuffer.RETAINED_LENGTH - UnitBuffer.HEADROOM + 1);
    unit.clear();
    assertTrue(unit.array().length < UnitBuffer.RETAINED_LENGTH);
  }

  @Test
  void memoryGrowsByDoublingUpToTheLongestArray() {
    byte[] first = unit.array();
    unit.extend(first.length - UnitBuffer.HEADROOM);
    assertSame(first, unit.array(), "it fits");
    int max = UnitBuffer.MAX_LENGTH;
    assertEquals(512, UnitBuffer.capacity(257, 256));
    assertEquals(513, UnitBuffer.capacity(513, 256));
    assertEquals(max, UnitBuffer.capacity(max, 256));
    assertEquals(max, UnitBuffer.capacity(max - 1L, max - 10));
    assertThrows(IllegalStateException.class, () -> UnitBuffer.capacity(max + 1L, 256));
    unit.extend(1);
    assertThrows(IllegalStateException.class, () -> unit.extend(Integer.MAX_VALUE));
  }

  @Test
  void lengthStandsInFrontOfTheUnit() {
    unit.addBytes(new byte[300], 0, 300);
    unit.storeLength();
    assertEquals(Integer.BYTES, unit.offset());
    assertEquals(300, ByteBuffer.wrap(unit.array()).order(ByteOrder.LITTLE_ENDIAN).getInt(0));
    assertEquals(300, unit.length());
  }

  @Test
  void whatIsAddedIsWhatIsThere() {
    long seed = Long.getLong("ringfetch.seed", 1);
    Random random = new Random(seed);
    DirectRegion region = new DirectRegion(4096);
    for (int round = 0; round < 200; round++) {
      ByteArrayOutputStream model = new ByteArrayOutputStream();
      unit.clear();
      for (int step = random.nextInt(60); step > 0; step--) {
        byte[] added = new byte[random.nextInt(random.nextInt(10) == 0 ? 4000 : 50)];
        random.nextBytes(added);
        model.write(added, 0, added.length);
        switch (random.nextInt(3)) {
          case 0 -> unit.addBytes(added, 0, added.length);
          case 1 -> {
            region.putBytes(96, added, 0, added.length);
            unit.addBytes(region, 96, added.length);
          }
          default -> {
            unit.reserve(added.length);
            byte[] array = unit.array();
            int index = unit.extend(added.length);
            assertSame(array, unit.array(), "reserved, so it does not grow");
            System.arraycopy(added, 0, array, index, added.length);
          }
        }
      }
      assertArrayEquals(model.toByteArray(), bytes(), () -> "seed=" + seed);
      int kept = random.nextInt(unit.length() + 1);
      unit.truncate(kept);
      assertArrayEquals(Arrays.copyOf(model.toByteArray(), kept), bytes(), () -> "seed=" + seed);
    }
  }

  @Test
  void truncateNeverGrows() {
    unit.addInt(1);
    assertThrows(IllegalArgumentException.class, () -> unit.truncate(5));
    assertThrows(IllegalArgumentException.class, () -> unit.truncate(-1));
    assertEquals(4, unit.length());
  }

  @Test
  void largeArrayIsGivenBackAndASmallOneKept() {
    unit.extend(UnitBuffer.RETAINED_LENGTH / 2);
    byte[] small = unit.array();
    unit.clear();
    assertSame(small, unit.array());
    unit.extend(UnitBuffer.RETAINED_LENGTH + 1);
    unit.clear();
    assertTrue(unit.array().length <= UnitBuffer.RETAINED_LENGTH);
    assertEquals(0, unit.length());
  }

  @Test
  void unitOfMoreThanAnArrayIsRefusedUnchanged() {
    unit.addInt(7);
    assertThrows(IllegalStateException.class, () -> unit.extend(Integer.MAX_VALUE));
    assertThrows(IllegalStateException.class, () -> unit.reserve(Integer.MAX_VALUE - 8));
    assertEquals(4, unit.length());
  }

  @Test
  void stateOfTheViewIsItsOwn() {
    unit.addInt(7);
    unit.view().getInt();
    assertEquals(4, unit.view().remaining());
    assertThrows(IndexOutOfBoundsException.class, () -> unit.getLong(0));
  }
}
