package dev.ringfetch.index.layout;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ties the layouts' constants to their diagrams and to the bytes that stand in memory. */
class LayoutTest {
  private static final Path SOURCES = Path.of("src/main/java/dev/ringfetch/index/layout");

  /**
   * The fields of a descriptor's diagram with their offsets. A row of the diagram has 32 bits, two
   * characters each; a row that ends with "..." has as many bytes as its text says.
   */
  private static Map<String, Integer> diagram(Class<?> descriptor, Map<String, Integer> lengths)
      throws Exception {
    final Map<String, Integer> offsets = new HashMap<>();
    int offset = 0;
    for (String line : Files.readAllLines(SOURCES.resolve(descriptor.getSimpleName() + ".java"))) {
      final Matcher row = Pattern.compile(" \\*  \\|(.*?)(\\||\\.\\.\\.)$").matcher(line);
      if (!row.find()) {
        continue;
      }
      int bits = 0;
      int rowLength = 4;
      for (String cell : row.group(1).split("\\|", -1)) {
        final String name = cell.strip();
        if (!name.isEmpty()) {
          offsets.put(name, offset + bits / 8);
        }
        if (row.group(2).equals("...") && lengths.containsKey(name)) {
          rowLength = lengths.get(name);
        }
        bits += (cell.length() + 1) / 2;
      }
      offset += rowLength;
    }
    offsets.put("end", offset);
    return offsets;
  }

  @Test
  void storeIsAsDrawn() throws Exception {
    final Map<String, Integer> drawn = diagram(StoreDescriptor.class, Map.of());
    assertEquals(drawn.get("Format"), StoreDescriptor.FORMAT_OFFSET);
    assertEquals(drawn.get("Incarnation"), StoreDescriptor.INCARNATION_OFFSET);
    assertEquals(drawn.get("Serving"), StoreDescriptor.SERVING_OFFSET);
  }

  @Test
  void rootIsAsDrawn() throws Exception {
    final Map<String, Integer> drawn =
        diagram(RootDescriptor.class, Map.of("40 bytes of padding", 40));
    assertEquals(drawn.get("Open"), RootDescriptor.OPEN_OFFSET);
    assertEquals(drawn.get("Seed"), RootDescriptor.SEED_OFFSET);
    assertEquals(drawn.get("Partitions"), RootDescriptor.PARTITIONS_OFFSET);
    assertEquals(
        drawn.get("Table heads, 2 of 256 bytes for each partition"), RootDescriptor.TABLES_OFFSET);
    assertEquals(64 + 5 * 256, RootDescriptor.table(0, 2, 1));
    assertEquals(64 + 8 * 256, RootDescriptor.clock(0, 4));
    assertEquals(64 + 8 * 256 + 3 * 64, RootDescriptor.clock(3, 4));
    assertEquals(64 + 8 * 256 + 4 * 64, RootDescriptor.length(4));
    assertEquals(0, RootDescriptor.clock(0, 4) % 64, "a line of its own");
  }

  @Test
  void clockIsAsDrawn() throws Exception {
    final Map<String, Integer> drawn = diagram(ClockDescriptor.class, Map.of());
    assertEquals(0, drawn.get("Tag"));
    assertEquals(ClockDescriptor.TAG_BITS / 8, drawn.get("Time, lower"));
    assertEquals(Long.BYTES, drawn.get("end"));
    final long word = ClockDescriptor.word(0x192_3456_789AL, 0xABCDE);
    assertEquals(0x1923456789AL << 20 | 0xABCDF, word);
    assertEquals(0x192_3456_789AL, ClockDescriptor.time(word, 0xABCDE));
    assertEquals(-1, ClockDescriptor.time(word, 0xABCDF));
    assertEquals(-1, ClockDescriptor.time(0, 0), "memory that is new");
    assertEquals(-1, ClockDescriptor.time(0, 0xFFFFF), "memory that is new");
    final long latest = ClockDescriptor.word(ClockDescriptor.MAX_TIME, 5);
    assertEquals(ClockDescriptor.MAX_TIME, ClockDescriptor.time(latest, 5));
    assertEquals(0, ClockDescriptor.time(ClockDescriptor.word(0, 7), 7));
  }

  @Test
  void tableIsAsDrawn() throws Exception {
    final Map<String, Integer> drawn =
        diagram(TableDescriptor.class, Map.of("31 Page words", 31 * 8));
    assertEquals(drawn.get("Groups"), TableDescriptor.GROUPS_OFFSET);
    assertEquals(drawn.get("31 Page words"), TableDescriptor.PAGES_OFFSET);
    assertEquals(drawn.get("end"), TableDescriptor.HEAD_LENGTH);
  }

  @Test
  void groupIsAsDrawn() throws Exception {
    final Map<String, Integer> drawn =
        diagram(
            GroupDescriptor.class,
            Map.of("7 Slots of main 0", 56, "7 Slots of overflow", 56, "7 Slots of main 1", 56));
    assertEquals(drawn.get("Link 0"), GroupDescriptor.mainOffset(0));
    assertEquals(drawn.get("Link 1"), GroupDescriptor.mainOffset(1));
    assertEquals(drawn.get("Depth"), GroupDescriptor.HEADER_OFFSET);
    assertEquals(drawn.get("end"), GroupDescriptor.GROUP_LENGTH);
    final long header = GroupDescriptor.header(5, 21);
    final int depth = drawn.get("Depth");
    assertEquals(5, header & 0xFF);
    assertEquals(GroupDescriptor.LIVE, (header >>> (8 * (drawn.get("Flags") - depth))) & 0xFF);
    assertEquals(21, header >>> (8 * (drawn.get("Suffix") - depth)));
    for (int side = 0; side < 2; side++) {
      final int combined = GroupDescriptor.combinedOffset(side);
      assertEquals(GroupDescriptor.HEADER_OFFSET, combined + 8 * GroupDescriptor.headerWord(side));
      assertEquals(GroupDescriptor.mainOffset(side), combined + 8 * GroupDescriptor.linkWord(side));
    }
  }

  @Test
  void blockIsAsDrawn() throws Exception {
    final Map<String, Integer> drawn = diagram(BlockDescriptor.class, Map.of());
    assertEquals(drawn.get("Crc32c"), BlockDescriptor.CRC_OFFSET);
    assertEquals(drawn.get("Version"), BlockDescriptor.VERSION_OFFSET);
    assertEquals(drawn.get("Key Length (varint)"), BlockDescriptor.LENGTHS_OFFSET);
  }

  /** A deadline stands in front of the key, and takes a second byte of a short key's length. */
  @ParameterizedTest
  @ValueSource(ints = {1, 127, 128, 1024})
  void blockMayHaveADeadline(int keyLength) {
    final byte[] copy = new byte[2048];
    final long deadline = 0x192_3456_789AL;
    final int without = BlockDescriptor.putHeader(copy, 5, keyLength, 9);
    assertEquals(0, BlockDescriptor.deadline(copy, BlockDescriptor.lengths(copy, 2000)));
    final int key = BlockDescriptor.putHeader(copy, 5, keyLength, 9, deadline);
    assertEquals(without + (keyLength < 128 ? 9 : 8), key);
    final int length = (int) BlockDescriptor.length(keyLength, 9, true);
    final long lengths = BlockDescriptor.lengths(copy, length);
    assertEquals(key, BlockDescriptor.keyOffset(lengths));
    assertEquals(keyLength, BlockDescriptor.keyLength(lengths));
    assertEquals(9, BlockDescriptor.valueLength(lengths));
    assertEquals(length, BlockDescriptor.usedLength(lengths));
    assertEquals(deadline, BlockDescriptor.deadline(copy, lengths));
    assertEquals(5, BlockDescriptor.version(copy));
    assertEquals(-1, BlockDescriptor.lengths(copy, length - 1));
    assertEquals(0x92, copy[key - 8 + 4] & 0xFF, "little-endian");
  }

  @Test
  void treeIsAsDrawn() throws Exception {
    final Map<String, Integer> drawn =
        diagram(TreeDescriptor.class, Map.of("56 bytes of padding", 56));
    assertEquals(drawn.get("Open"), TreeDescriptor.OPEN_OFFSET);
    assertEquals(drawn.get("Tree"), TreeDescriptor.TREE_OFFSET);
    assertEquals(drawn.get("Clock"), TreeDescriptor.CLOCK_OFFSET);
    assertEquals(drawn.get("end"), TreeDescriptor.LENGTH);
    final long tree = TreeDescriptor.tree(0x1_FFFE, 7, 0xFE_DCBA_9876L * 1024);
    assertEquals(0xFFFE_07FE_DCBA_9876L, tree);
    assertEquals(7, TreeDescriptor.level(tree));
    assertEquals(0xFE_DCBA_9876L * 1024, TreeDescriptor.address(tree));
  }

  @Test
  void nodeIsAsDrawn() throws Exception {
    final Map<String, Integer> drawn =
        diagram(
            NodeDescriptor.class,
            Map.of(
                "Low: a reference to a key", 20, "High: a reference to a key", 20, "Entries", 960));
    assertEquals(drawn.get("Crc32c"), NodeDescriptor.CRC_OFFSET);
    assertEquals(drawn.get("Level"), NodeDescriptor.LEVEL_OFFSET);
    assertEquals(drawn.get("Count"), NodeDescriptor.COUNT_OFFSET);
    assertEquals(drawn.get("Sequence"), NodeDescriptor.SEQUENCE_OFFSET);
    assertEquals(drawn.get("Right"), NodeDescriptor.RIGHT_OFFSET);
    assertEquals(drawn.get("Low: a reference to a key"), NodeDescriptor.LOW_OFFSET);
    assertEquals(drawn.get("High: a reference to a key"), NodeDescriptor.HIGH_OFFSET);
    assertEquals(drawn.get("Entries"), NodeDescriptor.ENTRIES_OFFSET);
    assertEquals(drawn.get("end"), NodeDescriptor.LENGTH);
    assertEquals(20, NodeDescriptor.REFERENCE_LENGTH);
    assertEquals(48, NodeDescriptor.LEAF_ENTRIES);
    assertEquals(34, NodeDescriptor.INNER_ENTRIES);
    assertEquals(64 + 20, NodeDescriptor.entry(0, 1));
    assertEquals(64 + 28, NodeDescriptor.entry(1, 1));
  }

  @Test
  void spatialNodeIsAsDrawn() throws Exception {
    final Map<String, Integer> drawn = diagram(SpatialNodeDescriptor.class, Map.of("Entries", 976));
    assertEquals(drawn.get("Crc32c"), SpatialNodeDescriptor.CRC_OFFSET);
    assertEquals(drawn.get("Level"), SpatialNodeDescriptor.LEVEL_OFFSET);
    assertEquals(drawn.get("Count"), SpatialNodeDescriptor.COUNT_OFFSET);
    assertEquals(drawn.get("Sequence"), SpatialNodeDescriptor.SEQUENCE_OFFSET);
    assertEquals(drawn.get("Birth"), SpatialNodeDescriptor.BIRTH_OFFSET);
    assertEquals(drawn.get("Split"), SpatialNodeDescriptor.SPLIT_OFFSET);
    assertEquals(drawn.get("Right"), SpatialNodeDescriptor.RIGHT_OFFSET);
    assertEquals(drawn.get("Birth of Right"), SpatialNodeDescriptor.RIGHT_BIRTH_OFFSET);
    assertEquals(drawn.get("Entries"), SpatialNodeDescriptor.ENTRIES_OFFSET);
    assertEquals(drawn.get("end"), SpatialNodeDescriptor.LENGTH);
    assertEquals(28, SpatialNodeDescriptor.ENTRY_LENGTH);
    assertEquals(34, SpatialNodeDescriptor.CAPACITY);
  }

  /** The bytes of a spatial node, so that no change of them goes unnoticed. */
  @Test
  void goldenSpatialNode() {
    final byte[] copy = new byte[SpatialNodeDescriptor.COPY_LENGTH];
    SpatialNodeDescriptor.putHeader(copy, 2, 1);
    SpatialNodeDescriptor.putWord(copy, SpatialNodeDescriptor.SPLIT_OFFSET, 6);
    SpatialNodeDescriptor.putEntry(copy, 0, new float[] {1, -2, 3, 4}, 0xC00, 0x0D0C_0B0A);
    final StringBuilder bytes = new StringBuilder();
    for (int i = 4; i < 76; i++) {
      bytes.append(String.format("%02x", copy[BlockDescriptor.COPY_OFFSET + i]));
    }
    assertEquals(
        "02010000" // level, count
            + "0000000000000000" // sequence
            + "0000000000000000" // birth
            + "0600000000000000" // split
            + "0000000000000000"
            + "0000000000000000" // right and its birth
            + "0000803f000000c00000404000008040" // box
            + "000c000000000000" // child
            + "0a0b0c0d", // its half birth
        bytes.toString());
    assertEquals(-2, SpatialNodeDescriptor.bound(copy, 0, 1));
    assertEquals(0xC00, SpatialNodeDescriptor.target(copy, 0));
    assertEquals(0x0D0C_0B0A, SpatialNodeDescriptor.half(copy, 0));
  }

  @Test
  void headAndRecordOfASpatialIndexAreAsDrawn() throws Exception {
    final Map<String, Integer> drawn =
        diagram(
            SpatialDescriptor.class,
            Map.of(
                "40 bytes of padding",
                40,
                "8 bytes of padding",
                8,
                "Box: min x, min y, max x, max y (32-bit floats)",
                16));
    assertEquals(drawn.get("Moves"), SpatialDescriptor.MOVES_OFFSET);
    assertEquals(drawn.get("Address of the Root"), SpatialDescriptor.ROOT_OFFSET);
    assertEquals(drawn.get("Address of the Ring"), SpatialDescriptor.RING_OFFSET);
    final int record = SpatialDescriptor.HEAD_LENGTH;
    assertEquals(drawn.get("Crc32c"), record);
    assertEquals(drawn.get("Number"), record + SpatialDescriptor.NUMBER_OFFSET);
    assertEquals(drawn.get("Address of the Leaf"), record + SpatialDescriptor.LEAF_OFFSET);
    assertEquals(drawn.get("Birth of the Leaf"), record + SpatialDescriptor.BIRTH_OFFSET);
    assertEquals(drawn.get("Sequence of the Leaf"), record + SpatialDescriptor.SEQUENCE_OFFSET);
    assertEquals(
        drawn.get("Box: min x, min y, max x, max y (32-bit floats)"),
        record + SpatialDescriptor.BOX_OFFSET);
    assertEquals(drawn.get("end"), record + SpatialDescriptor.RECORD_LENGTH);
    assertEquals(1023 * 64, SpatialDescriptor.record(2047));
    assertEquals(RootDescriptor.length(4) + 64, SpatialDescriptor.head(1, 4));
    assertEquals(RootDescriptor.length(4) + 4 * 64, SpatialDescriptor.length(4));
  }

  @Test
  void boxIsAsDrawn() throws Exception {
    final Map<String, Integer> lengths =
        Map.of(
            "Min X (64-bit float)", 8,
            "Min Y (64-bit float)", 8,
            "Max X (64-bit float)", 8,
            "Max Y (64-bit float)", 8);
    final Map<String, Integer> drawn = diagram(BoxDescriptor.class, lengths);
    final byte[] box = BoxDescriptor.bytes(1, 2, 3, 4).toByteArray();
    assertEquals(drawn.get("end"), box.length);
    final List<String> names = lengths.keySet().stream().sorted().toList(); // max before min
    assertEquals(3, BoxDescriptor.bound(box, drawn.get(names.get(0)), 0));
    assertEquals(4, BoxDescriptor.bound(box, drawn.get(names.get(1)), 0));
    assertEquals(1, BoxDescriptor.bound(box, drawn.get(names.get(2)), 0));
    assertEquals(2, BoxDescriptor.bound(box, drawn.get(names.get(3)), 0));
    for (final double value : new double[] {0.1, -0.1, 1e30, -1e30, 16777217, 0, 1e-300}) {
      assertTrue(BoxDescriptor.down(value) <= value && value <= BoxDescriptor.up(value));
      assertTrue(BoxDescriptor.up(value) <= Math.nextUp(BoxDescriptor.down(value)));
    }
  }

  /** The bytes of a node, so that no change of them goes unnoticed. */
  @Test
  void goldenNode() {
    final byte[] copy = new byte[NodeDescriptor.COPY_LENGTH];
    NodeDescriptor.putHeader(copy, 1, 2);
    NodeDescriptor.putWord(copy, NodeDescriptor.SEQUENCE_OFFSET, 0x0807_0605_0403_0201L);
    NodeDescriptor.putWord(copy, NodeDescriptor.RIGHT_OFFSET, 0x400);
    NodeDescriptor.putReference(
        copy, NodeDescriptor.LOW_OFFSET, 0x61L << 56, GroupDescriptor.slot(1, 0, 0), 0);
    NodeDescriptor.putReference(
        copy, NodeDescriptor.HIGH_OFFSET, -1, GroupDescriptor.slot(9, 5, 0x30), 0x0D0C_0B0A);
    NodeDescriptor.putWord(copy, NodeDescriptor.entry(1, 0) + 20, 0xC00);
    final StringBuilder bytes = new StringBuilder();
    for (int i = 4; i < 64; i++) {
      bytes.append(String.format("%02x", copy[BlockDescriptor.COPY_OFFSET + i]));
    }
    assertEquals(
        "01020000" // level, count
            + "0102030405060708" // sequence
            + "0004000000000000" // right
            + "0000000000000061"
            + "0000000000000001"
            + "00000000" // low: "a"
            + "ffffffffffffffff"
            + "0c00000000000509"
            + "0a0b0c0d", // high
        bytes.toString());
    assertEquals(1, NodeDescriptor.level(copy));
    assertEquals(2, NodeDescriptor.count(copy));
    assertEquals(9, NodeDescriptor.code(copy, NodeDescriptor.HIGH_OFFSET));
    assertEquals(0x0D0C_0B0A, NodeDescriptor.version(copy, NodeDescriptor.HIGH_OFFSET));
    assertEquals(0xC00, NodeDescriptor.child(copy, NodeDescriptor.entry(1, 0)));
    final CRC32C expected = new CRC32C();
    expected.update(new byte[] {-2, -1, -1, -1, -1, -1, -1, -1, 0, 4, 0, 0, 0, 0, 0, 0});
    expected.update(copy, BlockDescriptor.COPY_OFFSET + 4, NodeDescriptor.LENGTH - 4);
    assertEquals(
        (int) expected.getValue(), NodeDescriptor.crc(new CRC32C(), copy.clone(), 1, 0x400));
  }

  /** Heads and codes order keys as their bytes do, or do not know. */
  @Test
  void headsKeepTheOrderOfKeys() {
    final Random random = new Random(1);
    int unknown = 0;
    for (int i = 0; i < 100_000; i++) {
      final byte[] a = shortAlphabet(random);
      final byte[] b = shortAlphabet(random);
      final long headOfA = KeyOrder.head(a, 0, a.length);
      final int order =
          KeyOrder.compare(
              headOfA,
              KeyOrder.code(a.length),
              KeyOrder.head(b, 0, b.length),
              KeyOrder.code(b.length));
      if (order == KeyOrder.UNKNOWN) {
        assertTrue(a.length > 8 && b.length > 8);
        assertTrue(Arrays.equals(a, 0, 8, b, 0, 8));
        unknown++;
      } else {
        assertEquals(Integer.signum(Arrays.compareUnsigned(a, b)), order);
      }
      assertEquals(
          -1, KeyOrder.compare(headOfA, KeyOrder.code(a.length), KeyOrder.END_HEAD, KeyOrder.END));
      if (a.length <= 8) {
        final byte[] key = new byte[a.length];
        KeyOrder.putKey(key, 0, headOfA, KeyOrder.code(a.length));
        assertArrayEquals(a, key);
      }
    }
    assertTrue(unknown > 100, "unknown=" + unknown);
  }

  private static byte[] shortAlphabet(Random random) {
    final byte[] key = new byte[random.nextInt(12)];
    final byte[] alphabet = {0, 1, (byte) 0xFF};
    final int variable = random.nextInt(key.length + 1);
    for (int i = variable; i < key.length; i++) {
      key[i] = alphabet[random.nextInt(3)];
    }
    return key;
  }

  @Test
  void slotsAndHeadersKeepTheirFields() {
    final Random random = new Random(1);
    for (int i = 0; i < 10_000; i++) {
      final int fingerprint = random.nextInt(256);
      final int sizeClass = 1 + random.nextInt(SizeClasses.COUNT);
      final long address = (random.nextLong() >>> 14) & ~3L;
      final long slot = GroupDescriptor.slot(fingerprint, sizeClass, address);
      assertEquals(fingerprint, GroupDescriptor.fingerprint(slot));
      assertEquals(sizeClass, GroupDescriptor.sizeClass(slot));
      assertEquals(address, GroupDescriptor.address(slot));
      final int group = random.nextInt(1 << 30);
      final int depth = random.nextInt(31);
      final long header = GroupDescriptor.header(depth, group);
      assertTrue(GroupDescriptor.isLive(header, group));
      assertTrue(!GroupDescriptor.isLive(header, group + 1));
      assertEquals(depth, GroupDescriptor.depth(header));
    }
    assertTrue(!GroupDescriptor.isLive(0, 0));
  }

  @Test
  void blocksKeepTheirFields() {
    final byte[] array = new byte[BlockDescriptor.COPY_OFFSET + SizeClasses.MAX_LENGTH];
    for (int keyLength : new int[] {0, 1, 127, 128, 1024}) {
      for (int valueLength : new int[] {0, 127, 128, 16_383, 16_384, 1 << 20}) {
        final long version = 0xFEDC_BA98_7654L;
        final int length = (int) BlockDescriptor.length(keyLength, valueLength);
        final int keyOffset = BlockDescriptor.putHeader(array, version, keyLength, valueLength);
        assertEquals(version, BlockDescriptor.version(array));
        final long lengths = BlockDescriptor.lengths(array, length);
        assertEquals(keyOffset, BlockDescriptor.keyOffset(lengths));
        assertEquals(keyLength, BlockDescriptor.keyLength(lengths));
        assertEquals(valueLength, BlockDescriptor.valueLength(lengths));
        assertEquals(length, BlockDescriptor.usedLength(lengths));
        assertEquals(-1, BlockDescriptor.lengths(array, length - 1));
      }
    }
    assertEquals(60, BlockDescriptor.length(16, 32));
    assertEquals(BlockDescriptor.SHORT_HEADER_LENGTH, BlockDescriptor.length(0, 0));
  }

  /** The bytes of a block, so that no change of them goes unnoticed. */
  @Test
  void goldenBlock() {
    final byte[] array = new byte[64];
    final int keyOffset = BlockDescriptor.putHeader(array, 0x0605_0403_0201L, 3, 5);
    System.arraycopy("keyvalue".getBytes(StandardCharsets.US_ASCII), 0, array, keyOffset, 8);
    final int crc = BlockDescriptor.crc(new CRC32C(), array, 20, 1, 2);
    BlockDescriptor.putCrc(array, crc);
    final List<String> bytes = new ArrayList<>();
    for (int i = 4; i < 20; i++) {
      bytes.add(String.format("%02x", array[BlockDescriptor.COPY_OFFSET + i]));
    }
    assertEquals("01 02 03 04 05 06 03 05 6b 65 79 76 61 6c 75 65", String.join(" ", bytes));
    final CRC32C expected = new CRC32C();
    expected.update(new byte[] {1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0});
    expected.update(array, BlockDescriptor.COPY_OFFSET + 4, 16);
    assertEquals((int) expected.getValue(), crc);
  }

  @Test
  void sizeClassesAreTight() {
    int longest = 0;
    for (int c = 1; c <= SizeClasses.COUNT; c++) {
      final int length = SizeClasses.length(c);
      assertTrue(length > longest && length % 4 == 0, "length=" + length);
      assertEquals(c, SizeClasses.of(length));
      assertEquals(c, SizeClasses.of(longest + 1));
      assertTrue(length <= 256 || length - longest <= longest / 8 + 1, "length=" + length);
      longest = length;
    }
    assertEquals(SizeClasses.MAX_LENGTH, longest);
    assertTrue(BlockDescriptor.length(1 << 10, 1 << 20) <= longest);
    assertEquals(0, SizeClasses.length(0));
    assertEquals(0, SizeClasses.length(SizeClasses.COUNT + 1));
  }

  /** Groups lie one behind the other in extents that lie one behind the other in pages. */
  @ParameterizedTest
  @ValueSource(ints = {16, 20, 26, 30})
  void everyGroupHasAPlace(int segmentShift) {
    final int doublings = TableDescriptor.doublings(segmentShift);
    int page = 0;
    int extent = 0;
    int offset = 0;
    for (int group = 0; group < 600_000; group++) {
      assertEquals(page, TableDescriptor.page(group, doublings), "group=" + group);
      assertEquals(extent, TableDescriptor.extent(group, page, doublings), "group=" + group);
      assertEquals(offset, TableDescriptor.offset(group, page, doublings), "group=" + group);
      offset += GroupDescriptor.GROUP_LENGTH;
      if (offset == TableDescriptor.extentLength(page, doublings)) {
        offset = 0;
        if (++extent == TableDescriptor.PAGE_EXTENTS) {
          extent = 0;
          page++;
        }
      }
    }
    assertTrue(TableDescriptor.extentLength(page, doublings) <= 1 << segmentShift);
  }

  /** Test vectors of the xxHash project and of its ports. */
  @Test
  void hashIsXxh64() {
    assertEquals(0xEF46DB3751D8E999L, hash("", 0));
    assertEquals(0xD24EC4F1A98C6E5BL, hash("a", 0));
    assertEquals(0x44BC2CF5AD770999L, hash("abc", 0));
    assertEquals(0xB559B98D844E0635L, hash("xxhash", 20141025));
    assertEquals(
        0x02A2E85470D6FD96L,
        hash("Call me Ishmael. Some years ago--never mind how long precisely-", 0));
  }

  private static long hash(String text, long seed) {
    final byte[] bytes = ("??" + text).getBytes(StandardCharsets.US_ASCII);
    return KeyHash.of(bytes, 2, bytes.length - 2, seed);
  }

  @Test
  void theTagOfAKeyGivesItsPartition() {
    final int tagged = partition("user18");
    assertEquals(tagged, partition("{user18}"));
    assertEquals(tagged, partition("{user18}.orders"));
    assertEquals(tagged, partition("{user18}}"));
    assertNotEquals(tagged, partition("user18}"));
    assertEquals(partition("{user18"), ofWholeKey("{user18"), "no end");
    assertEquals(partition("{}user18"), ofWholeKey("{}user18"), "empty");
    assertEquals(partition("a{user18}"), ofWholeKey("a{user18}"), "not at the begin");
    assertEquals(partition(""), ofWholeKey(""));
    assertEquals(partition("{"), ofWholeKey("{"));
  }

  private static int partition(String text) {
    final byte[] key = ("??" + text + "}?").getBytes(StandardCharsets.US_ASCII);
    final int length = text.length();
    return KeyHash.partition(key, 2, length, KeyHash.of(key, 2, length, 5), 5, 256);
  }

  private static int ofWholeKey(String text) {
    return (int) (hash(text, 5) >>> 56);
  }

  /** A key's group is the old one or its partner whenever a table grows by one. */
  @Test
  void groupsSplitInTwo() {
    final Random random = new Random(1);
    for (int i = 0; i < 10_000; i++) {
      final int half = random.nextInt();
      int group = 0;
      for (int groups = 1; groups < 200; groups++) {
        final int next = KeyHash.group(half, groups);
        final int power = Integer.highestOneBit((groups - 1) | 1);
        assertTrue(
            next == group || (next == groups - 1 && group == next - power),
            "groups=" + groups + " group=" + group + " next=" + next);
        group = next;
      }
    }
  }
}
