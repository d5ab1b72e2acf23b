package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FrameDescriptorTest {
  private static final List<Integer> FLAGS =
      List.of(
          FrameDescriptor.PREFIX,
          FrameDescriptor.MESSAGE,
          FrameDescriptor.SUFFIX,
          FrameDescriptor.CLOSE,
          FrameDescriptor.DEADLINE,
          FrameDescriptor.DESCRIPTION,
          FrameDescriptor.METADATA,
          FrameDescriptor.PARTIAL,
          FrameDescriptor.WINDOW_UPDATE,
          FrameDescriptor.TRAILERS,
          FrameDescriptor.NAMED,
          FrameDescriptor.CONTINUATION,
          FrameDescriptor.PAD,
          FrameDescriptor.DRAIN,
          FrameDescriptor.COMPRESSED);

  /** A payload that ends within an old commit word replaces its low bytes by any others. */
  @Test
  void noPartOfACommitWordIsThatOfANeighbour() {
    long epoch = 0x5EED_0000_0000_5EEDL;
    for (long position = -300; position < 300; position++) {
      for (long later = position + 1; later < position + 1000; later++) {
        long differing =
            FrameDescriptor.commitWord(epoch, position) ^ FrameDescriptor.commitWord(epoch, later);
        assertNotEquals(0, differing >>> 32, "position=" + position + " later=" + later);
      }
    }
  }

  @Test
  void smallFrameIsOneLine() {
    assertEquals(64, FrameDescriptor.SLOT_LENGTH);
    assertEquals(1, FrameDescriptor.slots(0));
    assertEquals(1, FrameDescriptor.slots(32));
    assertEquals(2, FrameDescriptor.slots(33));
    assertEquals(32, FrameDescriptor.maxPayload(1));
  }

  @Test
  void slotsAndMaxPayloadAreInverse() {
    for (int slots = 1; slots <= 5000; slots++) {
      int longest = FrameDescriptor.maxPayload(slots);
      assertEquals(slots, FrameDescriptor.slots(longest));
      assertEquals(slots + 1, FrameDescriptor.slots(longest + 1));
    }
    for (int length = 0; length <= 5000; length++) {
      int slots = FrameDescriptor.slots(length);
      assertTrue(FrameDescriptor.maxPayload(slots) >= length);
      assertTrue(slots == 1 || FrameDescriptor.maxPayload(slots - 1) < length);
    }
  }

  @Test
  void neighboursAndLapsHaveTagsOfTheirOwn() {
    Random random = new Random(1);
    for (int round = 0; round < 100; round++) {
      long epoch = random.nextLong();
      long position = random.nextLong();
      Set<Integer> tags = new HashSet<>();
      Set<Long> commits = new HashSet<>();
      for (int i = 0; i < 1000; i++) {
        tags.add(FrameDescriptor.tag(epoch, position + i));
        commits.add(FrameDescriptor.commitWord(epoch, position + i));
      }
      assertTrue(tags.size() > 998, () -> "epoch=" + epoch + " position=" + position);
      assertEquals(1000, commits.size());
      for (int lap = 2; lap <= 1 << 20; lap *= 2) {
        assertNotEquals(
            FrameDescriptor.commitWord(epoch, position),
            FrameDescriptor.commitWord(epoch, position + lap));
      }
      assertNotEquals(
          FrameDescriptor.commitWord(epoch, position),
          FrameDescriptor.commitWord(epoch + 1, position));
    }
  }

  @Test
  void wordsAreTheFieldsOfTheLayout() {
    DirectRegion region = new DirectRegion(64);
    region.putLong(0, FrameDescriptor.word0(0xF1F2F3F4, 0x01020304));
    region.putLong(
        FrameDescriptor.STREAM_ID_OFFSET, FrameDescriptor.word1(0xE1E2E3E4, 0x9192, 0xFFFE));
    assertEquals(0x01020304, region.getInt(FrameDescriptor.LENGTH_OFFSET));
    assertEquals(0xF1F2F3F4, region.getInt(FrameDescriptor.TAG_OFFSET));
    assertEquals(0xE1E2E3E4, region.getInt(FrameDescriptor.STREAM_ID_OFFSET));
    assertEquals(0x9192, shortAt(region, FrameDescriptor.FLAGS_OFFSET));
    assertEquals(0xFFFE, shortAt(region, FrameDescriptor.CODE_OFFSET));
  }

  @Test
  void flagsAreOneBitEach() {
    int all = 0;
    for (int flag : FLAGS) {
      assertEquals(1, Integer.bitCount(flag));
      assertEquals(0, all & flag);
      all |= flag;
    }
    assertEquals(0, all & ~0xFFFF);
  }

  @ParameterizedTest
  @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 1, 64, 127, 129, 192, (1 << 29) + 1, 1 << 30})
  void ringLengthIsCheckedByName(int length) {
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> ArenaDescriptor.checkRingLength("ringLength", length));
    assertTrue(refused.getMessage().contains("ringLength=" + length));
  }

  @ParameterizedTest
  @ValueSource(ints = {128, 256, 1 << 20, 1 << 29})
  void powersOfTwoAreRings(int length) {
    ArenaDescriptor.checkRingLength("ringLength", length);
  }

  private static int shortAt(DirectRegion region, int offset) {
    byte[] bytes = new byte[2];
    region.getBytes(offset, bytes, 0, 2);
    return (bytes[0] & 0xFF) | ((bytes[1] & 0xFF) << 8);
  }
}
