package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.KeyHash;
import dev.ringfetch.index.layout.SizeClasses;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * The blocks of a partition as its owner writes and reads them. The owner trusts what it reads.
 * Used by the partition's owner alone.
 */
final class BlockStore {
  /** Bytes of a block's header at most. */
  private static final int MAX_HEADER_LENGTH = BlockDescriptor.LENGTHS_OFFSET + 6;

  private final StoreMemory memory;
  private final long incarnation;
  private final long seed;
  private final CRC32C crc = new CRC32C();

  /** A copy of a block, see {@link BlockDescriptor}. */
  private byte[] copy = new byte[256];

  private int pendingCrc;

  BlockStore(StoreMemory memory, long incarnation, long seed) {
    this.memory = memory;
    this.incarnation = incarnation;
    this.seed = seed;
  }

  /**
   * Writes an entry into a block, of which readers see nothing yet: its checksum is wrong until
   * {@link #publish}. Before the first byte of a block that was in use changes, no slot leads to it
   * any more; a reader that still comes finds its checksum wrong.
   */
  void write(long address, byte[] key, int keyLength, ByteString value, long version) {
    final int length = (int) BlockDescriptor.length(keyLength, value.size());
    ensure(length);
    final int keyOffset = BlockDescriptor.putHeader(copy, version, keyLength, value.size());
    System.arraycopy(key, 0, copy, keyOffset, keyLength);
    value.copyTo(copy, keyOffset + keyLength);
    pendingCrc = BlockDescriptor.crc(crc, copy, length, incarnation, address);
    BlockDescriptor.putCrc(copy, ~pendingCrc);
    memory
        .region(address)
        .putBytes(memory.offset(address), copy, BlockDescriptor.COPY_OFFSET, length);
  }

  /** Makes the block that was written last valid, after its slot was stored. */
  void publish(long address) {
    memory
        .region(address)
        .putIntRelease(memory.offset(address) + BlockDescriptor.CRC_OFFSET, pendingCrc);
  }

  /** Whether the block of a slot has this key. */
  boolean hasKey(long slot, byte[] key, int keyLength) {
    final long lengths = load(slot, MAX_HEADER_LENGTH + keyLength);
    final int offset = BlockDescriptor.keyOffset(lengths);
    return BlockDescriptor.keyLength(lengths) == keyLength
        && Arrays.equals(copy, offset, offset + keyLength, key, 0, keyLength);
  }

  /** Version of the block of a slot. */
  long version(long slot) {
    load(slot, MAX_HEADER_LENGTH);
    return BlockDescriptor.version(copy);
  }

  /** Value of the block of a slot. */
  ByteString value(long slot) {
    final long lengths = load(slot, SizeClasses.MAX_LENGTH);
    return ByteString.copyFrom(
        copy,
        BlockDescriptor.keyOffset(lengths) + BlockDescriptor.keyLength(lengths),
        BlockDescriptor.valueLength(lengths));
  }

  /** Hash of the key of the block of a slot. */
  long hash(long slot) {
    long lengths = load(slot, 2 * MAX_HEADER_LENGTH);
    final int keyLength = BlockDescriptor.keyLength(lengths);
    if (keyLength > MAX_HEADER_LENGTH) {
      lengths = load(slot, MAX_HEADER_LENGTH + keyLength);
    }
    return KeyHash.of(copy, BlockDescriptor.keyOffset(lengths), keyLength, seed);
  }

  /** Copies the first bytes of a block, at least its header; returns its lengths. */
  private long load(long slot, int bytes) {
    final long address = GroupDescriptor.address(slot);
    final int blockLength = SizeClasses.length(GroupDescriptor.sizeClass(slot));
    final int length = Math.min(bytes, blockLength);
    ensure(length);
    final MemoryRegion region = memory.region(address);
    region.getBytes(memory.offset(address), copy, BlockDescriptor.COPY_OFFSET, length);
    return BlockDescriptor.lengths(copy, blockLength);
  }

  private void ensure(int blockLength) {
    final int length = BlockDescriptor.COPY_OFFSET + Math.max(blockLength, MAX_HEADER_LENGTH);
    if (copy.length < length) {
      copy = new byte[Math.max(length, 2 * copy.length)];
    }
  }
}
