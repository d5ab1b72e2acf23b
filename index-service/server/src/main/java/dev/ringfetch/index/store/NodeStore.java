package dev.ringfetch.index.store;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.KeyOrder;
import dev.ringfetch.index.layout.NodeDescriptor;
import java.util.zip.CRC32C;

/**
 * The images of an ordered index's nodes in index memory, and the memory for them, which can be
 * reserved. The owner trusts only private copies of images, with the checksum that it has on its
 * heap. Used by the partition's owner alone.
 */
final class NodeStore {
  private final StoreMemory memory;
  private final long incarnation;
  private final CRC32C crc = new CRC32C();
  private final byte[] scratch = new byte[NodeDescriptor.COPY_LENGTH];
  private final NodeMemory nodeMemory;
  private long sequence;

  NodeStore(StoreMemory memory, long incarnation) {
    this.memory = memory;
    this.incarnation = incarnation;
    nodeMemory = new NodeMemory(memory, NodeDescriptor.LENGTH);
  }

  /** Sets the number of reserved nodes; false if there is not enough memory. */
  boolean reserve(int nodes) {
    return nodeMemory.reserve(nodes);
  }

  /** Frees the free nodes that are neither reserved nor spare. */
  void trim() {
    nodeMemory.trim();
  }

  /** Creates a node without an image; its memory must be reserved. */
  TreeNode create(int level) {
    return new TreeNode(nodeMemory.take(), level);
  }

  /** Frees the memory of a node that was removed from the tree. */
  void remove(TreeNode node) {
    NodeDescriptor.putHeader(scratch, NodeDescriptor.DEAD, 0);
    store(node, scratch);
    nodeMemory.keep(node.address);
  }

  /** Frees the memory of a node and of its descendants for good. */
  void close(TreeNode node) {
    for (int i = 0; i < node.childCount; i++) {
      close(node.children[i]);
    }
    nodeMemory.free(node.address);
  }

  /** Frees the memory of free nodes for good. */
  void close() {
    nodeMemory.close();
  }

  /**
   * Copies the image of a node.
   *
   * @throws StoreDamagedException if it is not what the owner stored
   */
  void load(TreeNode node, byte[] copy) {
    memory
        .region(node.address)
        .getBytes(
            memory.offset(node.address), copy, BlockDescriptor.COPY_OFFSET, NodeDescriptor.LENGTH);
    final int stored = BlockDescriptor.getCrc(copy);
    if (stored != node.crc
        || NodeDescriptor.word(copy, NodeDescriptor.SEQUENCE_OFFSET) != node.sequence
        || NodeDescriptor.crc(crc, copy, incarnation, node.address) != stored) {
      throw new StoreDamagedException("not as it was written: node=" + node.address);
    }
  }

  /** Whether a copy that was loaded or stored before is still the image of the same node. */
  boolean isCurrent(TreeNode node, byte[] copy) {
    return NodeDescriptor.word(copy, NodeDescriptor.SEQUENCE_OFFSET) == node.sequence;
  }

  /**
   * Compares the image of a node with what was stored.
   *
   * @throws StoreDamagedException if they differ
   */
  void check(TreeNode node) {
    load(node, scratch);
  }

  /** Stores the image of a leaf: entries from a copy, fences and link from the heap. */
  void storeLeaf(TreeNode leaf, byte[] copy, int count) {
    NodeDescriptor.putHeader(copy, 0, count);
    putNeighbours(leaf, copy);
    store(leaf, copy);
    leaf.entries = count;
  }

  /** Stores the image of an inner node. */
  void storeInner(TreeNode node) {
    NodeDescriptor.putHeader(scratch, node.level, node.childCount);
    putNeighbours(node, scratch);
    for (int i = 0; i < node.childCount; i++) {
      final int entry = NodeDescriptor.entry(node.level, i);
      putReference(scratch, entry, node.children[i].low);
      NodeDescriptor.putWord(
          scratch, entry + NodeDescriptor.REFERENCE_LENGTH, node.children[i].address);
    }
    store(node, scratch);
  }

  private static void putNeighbours(TreeNode node, byte[] copy) {
    final TreeNode right = node.right;
    NodeDescriptor.putWord(copy, NodeDescriptor.RIGHT_OFFSET, right == null ? 0 : right.address);
    putReference(copy, NodeDescriptor.LOW_OFFSET, node.low);
    if (right == null) {
      NodeDescriptor.putReference(
          copy,
          NodeDescriptor.HIGH_OFFSET,
          KeyOrder.END_HEAD,
          GroupDescriptor.slot(KeyOrder.END, 0, 0),
          0);
    } else {
      putReference(copy, NodeDescriptor.HIGH_OFFSET, right.low);
    }
  }

  private static void putReference(byte[] copy, int reference, Separator separator) {
    NodeDescriptor.putReference(copy, reference, separator.head, separator.slot, separator.version);
  }

  /**
   * Stores an image: first an odd sequence, then all other words, last an even sequence. So a
   * reader of live memory detects a mixture of two states; in a copy the checksum reveals it.
   */
  private void store(TreeNode node, byte[] copy) {
    sequence += 2;
    NodeDescriptor.putWord(copy, NodeDescriptor.SEQUENCE_OFFSET, sequence);
    final int sum = NodeDescriptor.crc(crc, copy, incarnation, node.address);
    final MemoryRegion region = memory.region(node.address);
    final int offset = memory.offset(node.address);
    region.putLong(offset + NodeDescriptor.SEQUENCE_OFFSET, sequence - 1);
    region.fullFence();
    region.putInt(offset + NodeDescriptor.CRC_OFFSET, sum);
    region.putInt(offset + NodeDescriptor.LEVEL_OFFSET, NodeDescriptor.header(copy));
    region.putBytes(
        offset + NodeDescriptor.RIGHT_OFFSET,
        copy,
        BlockDescriptor.COPY_OFFSET + NodeDescriptor.RIGHT_OFFSET,
        NodeDescriptor.LENGTH - NodeDescriptor.RIGHT_OFFSET);
    region.putLongRelease(offset + NodeDescriptor.SEQUENCE_OFFSET, sequence);
    node.sequence = sequence;
    node.crc = sum;
  }
}
