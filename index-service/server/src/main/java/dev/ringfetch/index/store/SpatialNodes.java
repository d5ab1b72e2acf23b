package dev.ringfetch.index.store;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.SpatialNodeDescriptor;
import java.util.zip.CRC32C;
import org.agrona.collections.LongArrayQueue;

/**
 * The images of a spatial index's nodes in index memory, and the memory for them, which can be
 * reserved. The owner trusts only private copies of images, with the checksum that it has on its
 * heap. Used by the partition's owner alone.
 */
final class SpatialNodes {
  /** Removed nodes whose images stay: late readers find that they have nothing. */
  static final int KEPT_DEAD = 64;

  private final StoreMemory memory;
  private final long incarnation;
  private final CRC32C crc = new CRC32C();
  private final byte[] scratch = new byte[SpatialNodeDescriptor.COPY_LENGTH];
  private final NodeMemory nodeMemory;
  private final LongArrayQueue dead = new LongArrayQueue(StoreMemory.NONE);

  /** Distance of sequences: those of two partitions differ, as one may get the other's memory. */
  private final int step;

  private long sequence;

  SpatialNodes(StoreMemory memory, long incarnation, int partition, int partitions) {
    this.memory = memory;
    this.incarnation = incarnation;
    nodeMemory = new NodeMemory(memory, SpatialNodeDescriptor.LENGTH);
    step = 2 * partitions;
    sequence = 2L * partition;
  }

  /** Sets the number of reserved nodes; false if there is not enough memory. */
  boolean reserve(int nodes) {
    return nodeMemory.reserve(nodes);
  }

  /** Creates the root, without an image; its memory must be reserved. */
  SpatialNode createRoot() {
    return new SpatialNode(nodeMemory.take(), SpatialNodeDescriptor.ROOT_BIRTH, 0);
  }

  /** Creates another node without an image; its memory must be reserved. */
  SpatialNode create(int level) {
    return new SpatialNode(nodeMemory.take(), nextSequence(), level);
  }

  /** Removes the memory of an empty node that the tree has no more. */
  void remove(SpatialNode node) {
    store(node, scratch, SpatialNodeDescriptor.DEAD, 0);
    dead.addLong(node.address);
    if (dead.size() > KEPT_DEAD) {
      nodeMemory.keep(dead.pollLong());
      nodeMemory.trim();
    }
  }

  /** Frees the memory of a node and of its descendants for good. */
  void close(SpatialNode node) {
    for (int i = 0; node.level > 0 && i < node.count; i++) {
      close(node.children[i]);
    }
    nodeMemory.free(node.address);
  }

  /** Frees the memory of free and removed nodes for good. */
  void close() {
    nodeMemory.close();
    while (!dead.isEmpty()) {
      nodeMemory.free(dead.pollLong());
    }
  }

  /** The sequence of the image that is stored next. */
  long nextSequence() {
    return sequence + step;
  }

  /**
   * Copies the image of a node.
   *
   * @throws StoreDamagedException if it is not what the owner stored
   */
  void load(SpatialNode node, byte[] copy) {
    memory
        .region(node.address)
        .getBytes(
            memory.offset(node.address),
            copy,
            BlockDescriptor.COPY_OFFSET,
            SpatialNodeDescriptor.LENGTH);
    final int stored = BlockDescriptor.getCrc(copy);
    if (stored != node.crc
        || SpatialNodeDescriptor.word(copy, SpatialNodeDescriptor.SEQUENCE_OFFSET) != node.sequence
        || SpatialNodeDescriptor.crc(crc, copy, incarnation, node.address) != stored) {
      throw new StoreDamagedException("not as it was written: node=" + node.address);
    }
  }

  /** Stores the image of a leaf with the entries of a copy. */
  void storeLeaf(SpatialNode leaf, byte[] copy, int count) {
    leaf.count = count;
    store(leaf, copy, 0, count);
  }

  /** Stores the image of an inner node. */
  void storeInner(SpatialNode node) {
    for (int i = 0; i < node.count; i++) {
      final SpatialNode child = node.children[i];
      SpatialNodeDescriptor.putEntry(scratch, i, child.box, child.address, (int) child.birth);
    }
    store(node, scratch, node.level, node.count);
  }

  /**
   * Stores an image: first an odd sequence, then all other words, last an even sequence. So a
   * reader of live memory detects a mixture of two states; in a copy the checksum reveals it.
   */
  private void store(SpatialNode node, byte[] copy, int level, int count) {
    sequence = nextSequence();
    SpatialNodeDescriptor.putHeader(copy, level, count);
    SpatialNodeDescriptor.putWord(copy, SpatialNodeDescriptor.SEQUENCE_OFFSET, sequence);
    SpatialNodeDescriptor.putWord(copy, SpatialNodeDescriptor.BIRTH_OFFSET, node.birth);
    SpatialNodeDescriptor.putWord(copy, SpatialNodeDescriptor.SPLIT_OFFSET, node.split);
    SpatialNodeDescriptor.putWord(copy, SpatialNodeDescriptor.RIGHT_OFFSET, node.right);
    SpatialNodeDescriptor.putWord(copy, SpatialNodeDescriptor.RIGHT_BIRTH_OFFSET, node.rightBirth);
    final int sum = SpatialNodeDescriptor.crc(crc, copy, incarnation, node.address);
    BlockDescriptor.putCrc(copy, sum);
    final MemoryRegion region = memory.region(node.address);
    final int offset = memory.offset(node.address);
    region.putLong(offset + SpatialNodeDescriptor.SEQUENCE_OFFSET, sequence - 1);
    region.fullFence();
    region.putBytes(
        offset, copy, BlockDescriptor.COPY_OFFSET, SpatialNodeDescriptor.SEQUENCE_OFFSET);
    region.putBytes(
        offset + SpatialNodeDescriptor.BIRTH_OFFSET,
        copy,
        BlockDescriptor.COPY_OFFSET + SpatialNodeDescriptor.BIRTH_OFFSET,
        SpatialNodeDescriptor.LENGTH - SpatialNodeDescriptor.BIRTH_OFFSET);
    region.putLongRelease(offset + SpatialNodeDescriptor.SEQUENCE_OFFSET, sequence);
    node.sequence = sequence;
    node.crc = sum;
  }
}
