package dev.ringfetch.index.direct;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.ClockDescriptor;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.KeyOrder;
import dev.ringfetch.index.layout.NodeDescriptor;
import dev.ringfetch.index.layout.OrderedLocation;
import dev.ringfetch.index.layout.SizeClasses;
import dev.ringfetch.index.layout.StoreDescriptor;
import dev.ringfetch.index.layout.TreeDescriptor;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.IndexKind;
import java.util.function.IntToLongFunction;
import java.util.zip.CRC32C;

/** An ordered index of three leaves and an inner node, written into a segment by hand. */
final class HandmadeTree {
  static final int LEAVES = 3;
  static final int ENTRIES = 40; // of a leaf
  static final int KEYS = LEAVES * ENTRIES;

  private static final long EPOCH = 7;
  private static final long NUMBER = 11;
  private static final int ROOT = 4096;
  private static final int INNER = 8192;
  private static final int FIRST_LEAF = INNER + NodeDescriptor.LENGTH;
  private static final int FIRST_BLOCK = 32 << 10;

  private final MemoryRegion segment;
  private final boolean longKeys;
  private final IntToLongFunction deadlines;
  private final CRC32C crc = new CRC32C();
  private int nextBlock = FIRST_BLOCK;

  /**
   * Writes the tree.
   *
   * @param longKeys whether all keys of a leaf have the same head.
   */
  HandmadeTree(CardDomain domain, boolean longKeys) {
    this(domain, longKeys, number -> 0);
  }

  /** Same, with the deadlines of the entries; 0 for none. */
  HandmadeTree(CardDomain domain, boolean longKeys, IntToLongFunction deadlines) {
    this.deadlines = deadlines;
    this.segment = domain.segment;
    this.longKeys = longKeys;
    domain.gate.putLong(GateDescriptor.WORD_OFFSET, EPOCH);
    segment.putLong(StoreDescriptor.SERVING_OFFSET, EPOCH);
    segment.putLong(ROOT + TreeDescriptor.OPEN_OFFSET, NUMBER);
    segment.putLong(ROOT + TreeDescriptor.TREE_OFFSET, TreeDescriptor.tree(1, 1, INNER));
    final byte[] inner = new byte[NodeDescriptor.COPY_LENGTH];
    NodeDescriptor.putHeader(inner, 1, LEAVES);
    putFence(inner, NodeDescriptor.LOW_OFFSET, 0);
    putFence(inner, NodeDescriptor.HIGH_OFFSET, LEAVES);
    for (int i = 0; i < LEAVES; i++) {
      final int entry = NodeDescriptor.entry(1, i);
      putFence(inner, entry, i);
      NodeDescriptor.putWord(inner, entry + NodeDescriptor.REFERENCE_LENGTH, leaf(i));
      putLeaf(i);
    }
    store(inner, INNER, 2);
  }

  static OrderedLocation location() {
    return new OrderedLocation(EPOCH, ROOT, NUMBER);
  }

  /** The grant of the tree, which is in a card's domain. */
  static GrantResponse grant() {
    return GrantResponse.newBuilder()
        .setKind(IndexKind.ORDERED)
        .setPartitions(1)
        .setSegmentShift(16)
        .addSegments(ByteString.EMPTY)
        .setLayoutVersion(StoreDescriptor.LAYOUT_VERSION)
        .setEpoch(EPOCH)
        .setRoot(ROOT)
        .setNumber(NUMBER)
        .build();
  }

  /** Sets the clock. */
  void clock(long time) {
    segment.putLong(ROOT + TreeDescriptor.CLOCK_OFFSET, ClockDescriptor.word(time, NUMBER));
  }

  static int leaf(int number) {
    return FIRST_LEAF + number * NodeDescriptor.LENGTH;
  }

  ByteString key(int number) {
    final int leaf = number / ENTRIES;
    final String rest = String.format("%02d", number % ENTRIES);
    return ByteString.copyFromUtf8("leaf" + leaf + (longKeys ? "---" : "") + rest);
  }

  static ByteString value(int number) {
    return ByteString.copyFromUtf8("value " + number);
  }

  private void putLeaf(int number) {
    final byte[] copy = new byte[NodeDescriptor.COPY_LENGTH];
    NodeDescriptor.putWord(
        copy, NodeDescriptor.RIGHT_OFFSET, number + 1 < LEAVES ? leaf(number + 1) : 0);
    putFence(copy, NodeDescriptor.LOW_OFFSET, number);
    putFence(copy, NodeDescriptor.HIGH_OFFSET, number + 1);
    putEntries(copy, number * ENTRIES, ENTRIES);
    store(copy, leaf(number), 4 + 2L * number);
  }

  private void putEntries(byte[] copy, int first, int count) {
    NodeDescriptor.putHeader(copy, 0, count);
    for (int i = 0; i < count; i++) {
      putEntry(copy, NodeDescriptor.entry(0, i), first + i);
    }
  }

  /** Splits a leaf of short keys, the last one not; the inner node does not know of it yet. */
  void split(int number) {
    final int kept = ENTRIES / 2;
    final byte[] left = new byte[NodeDescriptor.COPY_LENGTH];
    final byte[] right = new byte[NodeDescriptor.COPY_LENGTH];
    NodeDescriptor.putWord(right, NodeDescriptor.RIGHT_OFFSET, leaf(number + 1));
    NodeDescriptor.putWord(left, NodeDescriptor.RIGHT_OFFSET, leaf(LEAVES));
    putFence(left, NodeDescriptor.LOW_OFFSET, number);
    putFence(right, NodeDescriptor.HIGH_OFFSET, number + 1);
    final byte[] middle = key(number * ENTRIES + kept).toByteArray();
    final long head = KeyOrder.head(middle, 0, middle.length);
    final long slot = GroupDescriptor.slot(KeyOrder.code(middle.length), 0, 0);
    NodeDescriptor.putReference(left, NodeDescriptor.HIGH_OFFSET, head, slot, 0);
    NodeDescriptor.putReference(right, NodeDescriptor.LOW_OFFSET, head, slot, 0);
    putEntries(right, number * ENTRIES + kept, ENTRIES - kept);
    putEntries(left, number * ENTRIES, kept);
    store(right, leaf(LEAVES), 100);
    store(left, leaf(number), 102);
  }

  /** The low of a leaf: the shortest key behind those before it. */
  private static void putFence(byte[] copy, int reference, int leaf) {
    final byte[] bytes = ("leaf" + leaf).getBytes(US_ASCII);
    final boolean isEnd = leaf == LEAVES;
    final int length = leaf == 0 ? 0 : bytes.length;
    final long head = isEnd ? KeyOrder.END_HEAD : KeyOrder.head(bytes, 0, length);
    final int code = isEnd ? KeyOrder.END : KeyOrder.code(length);
    NodeDescriptor.putReference(copy, reference, head, GroupDescriptor.slot(code, 0, 0), 0);
  }

  private void putEntry(byte[] node, int reference, int number) {
    final byte[] key = key(number).toByteArray();
    final ByteString value = value(number);
    final long deadline = deadlines.applyAsLong(number);
    final int length = (int) BlockDescriptor.length(key.length, value.size(), deadline != 0);
    final int sizeClass = SizeClasses.of(length);
    final byte[] copy = new byte[BlockDescriptor.COPY_OFFSET + SizeClasses.length(sizeClass)];
    final int at = BlockDescriptor.putHeader(copy, number + 1, key.length, value.size(), deadline);
    System.arraycopy(key, 0, copy, at, key.length);
    value.copyTo(copy, at + key.length);
    final int sum = BlockDescriptor.crc(crc, copy, length, NUMBER, nextBlock);
    BlockDescriptor.putCrc(copy, sum);
    final int stored = SizeClasses.length(sizeClass);
    segment.putBytes(nextBlock, copy, BlockDescriptor.COPY_OFFSET, stored);
    NodeDescriptor.putReference(
        node,
        reference,
        KeyOrder.head(key, 0, key.length),
        GroupDescriptor.slot(KeyOrder.code(key.length), sizeClass, nextBlock),
        number + 1);
    nextBlock += stored;
  }

  private void store(byte[] copy, int address, long sequence) {
    NodeDescriptor.putWord(copy, NodeDescriptor.SEQUENCE_OFFSET, sequence);
    final int sum = NodeDescriptor.crc(crc, copy, NUMBER, address);
    BlockDescriptor.putCrc(copy, sum);
    segment.putBytes(address, copy, BlockDescriptor.COPY_OFFSET, NodeDescriptor.LENGTH);
  }
}
